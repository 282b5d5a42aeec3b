"""Pages of dead letters: their list, each of them, and the forms that replay or drop them."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import RedirectResponse, Response

from feedcrawl.api.access import Reader, needs
from feedcrawl.api.dependencies import Wired
from feedcrawl.api.limits.places import HEAVY
from feedcrawl.api.pages import templates
from feedcrawl.api.pages.route import HEAVY_PAGE, Form, PageRoute, Text, context
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.frontier import dead_letters as letters
from feedcrawl.domain.urls import MAX_URL_LENGTH

router = APIRouter(include_in_schema=False, route_class=PageRoute)

HERE: Final = "/dashboard/dlq"
WRITES: Final = [Depends(needs("write")), HEAVY]
Name = Annotated[str, Query(max_length=MAX_URL_LENGTH)]


@router.get(HERE, dependencies=HEAVY_PAGE)
def show_dead_letters(
    request: Request,
    caller: Reader,
    wired: Wired,
    *,
    reason: Text = "",
    host: Text = "",
    before: Annotated[int | None, Query(ge=0)] = None,
    done: Literal["replay", "drop", ""] = "",
    number: Annotated[int, Query(ge=0)] = 0,
    refused: Annotated[int, Query(ge=0)] = 0,
) -> Response:
    """The dead letters that match the conditions, newest first."""
    filters = {"reason": reason.strip(), "host": host.strip().lower()}
    found = wired.dashboard.dead_letter_page(_conditions(filters), before)
    values = {
        "found": found,
        "filters": filters,
        "count": found.count,
        "later": f"{HERE}{templates.query(**filters, before=found.before)}" if found.before else "",
        "done": _done(done, number, refused),
    }
    return templates.render("dlq.html", context(request, wired.now(), caller, HERE) | values)


@router.post(HERE, dependencies=WRITES)
def act_on_dead_letters(wired: Wired, form: Form) -> Response:
    """Replays or drops one dead letter, or all of a reason or host; a request without any condition is refused."""
    conditions = _conditions(form)
    if conditions == letters.DeadLetterFilter():
        raise Refusal("nothing_named", "name a dead letter, a reason or a host: not all dead letters are meant at once")
    refused = 0
    if form.get("action") == "replay":
        replayed = wired.dead_letter_service.replay(conditions)
        number, refused = replayed.replayed, replayed.refused
    elif form.get("action") == "drop":
        number = wired.dead_letter_service.drop(conditions)
    else:
        raise Refusal("unknown_action", "action is replay or drop")
    same = {name: form.get(name, "") for name in ("reason", "host")}
    query = templates.query(**same, done=form["action"], number=number, refused=refused or "")
    return RedirectResponse(f"{HERE}{query}", 303)


@router.get(f"{HERE}/letter", dependencies=HEAVY_PAGE)
def show_dead_letter(request: Request, caller: Reader, wired: Wired, name: Name) -> Response:
    """A dead letter: the URL, the reason, and the data of its task."""
    found = wired.dashboard.dead_letter_page(_conditions({"name": name})).dead_letters
    if not found:
        raise Refusal("letter_unknown", "no dead letter has this name: it may have been replayed or dropped")
    record = {key: value for key, value in found[0].fields.items() if key not in ("url", "reason", "at")}
    values = {"dead_letter": found[0], "record": record}
    return templates.render("dead_letter.html", context(request, wired.now(), caller, HERE) | values)


@router.get(f"{HERE}/drop", dependencies=WRITES)
def ask_to_drop(
    request: Request, caller: Reader, wired: Wired, *, name: Name = "", reason: Text = "", host: Text = ""
) -> Response:
    """Asks whether dead letters are to be dropped."""
    given = {"name": name, "reason": reason, "host": host}
    if not any(given.values()):
        raise Refusal("nothing_named", "name a dead letter, a reason or a host: not all dead letters are meant at once")
    subject = name or " of ".join(filter(None, (reason, host)))
    values = {
        "question": "Drop this dead letter?" if name else "Drop all dead letters of this selection?",
        "subject": subject,
        "consequence": "The URL is not tried again, and the data of its task is deleted. This cannot be undone.",
        "action": HERE,
        "button": "Drop",
        "back": f"{HERE}/letter{templates.query(name=name)}"
        if name
        else f"{HERE}{templates.query(reason=reason, host=host)}",
        "given": {**given, "action": "drop"},
    }
    return templates.render("confirm.html", context(request, wired.now(), caller, HERE) | values)


def _conditions(filters: dict[str, str]) -> letters.DeadLetterFilter:
    names = frozenset({filters["name"]} if filters.get("name") else ())
    return letters.DeadLetterFilter(reason=filters.get("reason") or None, host=filters.get("host") or None, names=names)


def _done(what: str, number: int, refused: int) -> str:
    if not what:
        return ""
    kept = f"; {refused} cannot be tried again and stay" if refused else ""
    return f"{number} {'tried again' if what == 'replay' else 'dropped'}{kept}."
