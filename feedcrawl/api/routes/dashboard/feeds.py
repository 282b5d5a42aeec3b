"""Pages of the subscribed feeds: their list, each feed, and the forms that change them."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import RedirectResponse, Response

from feedcrawl.api import charts
from feedcrawl.api.access import Caller, Reader, needs
from feedcrawl.api.dependencies import Wired
from feedcrawl.api.limits.places import HEAVY
from feedcrawl.api.pages import templates
from feedcrawl.api.pages.route import HEAVY_PAGE, Form, PageRoute, Text, Upload, confirm, context
from feedcrawl.api.routes.machine.opml import Imported, take_list
from feedcrawl.domain.cadence.reasons import duration, proposals
from feedcrawl.domain.cadence.values import DAY_SEC
from feedcrawl.domain.errors import InvalidUrl, Refusal
from feedcrawl.domain.frontier.tasks import MAX_CATEGORY
from feedcrawl.domain.subscriptions.listed import categories_of, overrides_from
from feedcrawl.domain.subscriptions.records import DEFAULT_PRIORITY, Feed, Overrides
from feedcrawl.domain.subscriptions.sorting import COLUMNS, Column
from feedcrawl.domain.subscriptions.specs import SubscriptionSpec
from feedcrawl.services.operations import overview
from feedcrawl.services.sites import searching
from feedcrawl.services.subscriptions import finding, lineage, registering

router = APIRouter(include_in_schema=False, route_class=PageRoute)

HERE: Final = "/dashboard/feeds"
WRITES: Final = [Depends(needs("write"))]
Page = Annotated[int, Query(ge=1, le=10_000)]
FeedId = Annotated[str, Path(max_length=64)]
Done = Literal["refetch", "subscribed", "known", "changed", "undone", ""]
MESSAGES: Final[dict[str, str]] = {
    "refetch": "The feed is due now: the next free worker polls it.",
    "subscribed": "Subscribed. The next free worker polls the feed, or the best feed of a page.",
    "known": "This feed is subscribed already, under this or another spelling of its URL.",
    "undone": "The entries are separated. The feed is due now, and the next poll brings them as new.",
    "changed": "Saved. The feed is due now, so that the settings apply at once.",
}
LABELS: Final[dict[str, str]] = {
    "priority": "Priority, 1 (last) to 10 (first)",
    "min_interval_sec": "Shortest interval in seconds",
    "max_interval_sec": "Longest interval in seconds",
    "initial_interval_sec": "First interval in seconds",
    "fixed_interval_sec": "Fixed interval in seconds, in place of the cadence",
    "backfill": "Read the archives of the feed, once",
    "push_only": "Poll at the longest interval only: a hub delivers",
    "no_discovery": "Never search for the feed at another address",
}
"""Settings of a feed in words; a setting that is missing here has its name as label."""
LEAST_BARS: Final = 20
"""Slots of a feed's chart; fewer polls are drawn at its right end."""
DURATIONS: Final = (60, 120, 600, 1200, 3600, 7200, 21_600, 43_200, 86_400, 172_800, 604_800, 1_209_600)
"""Possible ends of an axis of durations: each is a round duration, and so is its half."""
LIST_FORMS: Final = {"opml": "OPML", "text": "Text, one URL per line", "csv": "CSV", "json": "JSON"}


@router.get(HERE, dependencies=HEAVY_PAGE)
def show_feeds(
    request: Request,
    caller: Reader,
    wired: Wired,
    *,
    q: Text = "",
    category: Annotated[str, Query(max_length=MAX_CATEGORY)] = "",
    page: Page = 1,
    failing: bool = False,
    sort: Column = "feed",
    down: bool = False,
) -> Response:
    """The feeds whose URL, title or category contains a text, those of a category, or the failing feeds."""
    conditions = overview.FeedQuery(q.strip(), category.strip(), failing=failing, sort=sort, down=down)
    found = wired.dashboard.feeds(conditions, page=page)
    same = {"q": q, "category": category, "failing": int(failing), "sort": sort if sort != "feed" else ""}
    same["down"] = int(down)
    more = page * overview.FEEDS_A_PAGE < found.meant
    is_whole_list = page == 1 and not (q or category or failing)
    sources = wired.current_sources().values() if is_whole_list else ()
    values = {
        "without_feeds": searching.without_feeds(sources, wired.site_searches),
        "found": found,
        "q": q,
        "category": category,
        "failing": failing,
        "sort": sort,
        "down": down,
        "columns": [(name, title, f"{HERE}{_sorted(same, name, conditions)}") for name, title in COLUMNS.items()],
        "looked_at": overview.MAX_FEEDS_READ,
        "sorted_at_most": overview.SORTED_AT_MOST,
        "earlier": f"{HERE}{templates.query(**same, page=page - 1)}" if page > 1 else "",
        "later": f"{HERE}{templates.query(**same, page=page + 1)}" if more else "",
    }
    return templates.render("feeds.html", context(request, wired.now(), caller, HERE) | values)


def _sorted(same: dict[str, object], name: str, conditions: overview.FeedQuery) -> str:
    """The query that sorts by a column; downwards if the list is sorted by this column upwards."""
    down = int(name == conditions.sort and not conditions.down)
    return templates.query(**same | {"sort": name, "down": down})


@router.get(f"{HERE}/new", dependencies=WRITES)
@router.get(f"{HERE}/lists", dependencies=WRITES)
def show_new(request: Request, caller: Reader, wired: Wired) -> Response:
    """The forms that subscribe: to one feed, or to those of a list; and the lists to download."""
    return _new_page(request, caller, wired)


def _new_page(request: Request, caller: Caller, wired: Wired, **values: object) -> Response:
    shown = {"url": "", "categories": "", "refused": (), "error": "", "result": "", "forms": LIST_FORMS} | values
    status = 422 if shown["error"] else 200
    return templates.render("subscribe.html", context(request, wired.now(), caller, HERE) | shown, status)


@router.post(HERE, dependencies=WRITES)
def subscribe(request: Request, caller: Reader, wired: Wired, form: Form) -> Response:
    """Subscribes to a feed, or to the feed of a page; shows the form again if the URL is refused."""
    url, categories = form.get("url", "").strip(), form.get("categories", "")
    if not url:
        return _new_page(request, caller, wired, error="give the URL of a feed, or of a page that offers feeds")
    try:
        wired.imports.check_room()
        spec = SubscriptionSpec(
            url, categories_of(categories.splitlines()), request_id=request.state.request_id, named=True
        )
        spec = registering.checked(wired.gate, registering.with_login(spec))
        feed_id, is_new = registering.subscribe(wired.registry, wired.frontier, spec, wired.now())
    except (InvalidUrl, Refusal) as error:
        return _new_page(request, caller, wired, url=url, categories=categories, error=error.detail)
    return RedirectResponse(f"{HERE}/{templates.segment(feed_id)}?done={'subscribed' if is_new else 'known'}", 303)


@router.post(f"{HERE}/lists", dependencies=[*WRITES, HEAVY])
async def subscribe_to_list(request: Request, caller: Reader, wired: Wired, upload: Upload) -> Response:
    """Subscribes to the feeds of a list that is uploaded or pasted, and shows the refused feeds."""
    categories = categories_of(upload.fields.get("categories", "").splitlines())
    try:
        came = await take_list(request, wired, caller, upload.body, categories)
    except Refusal as error:
        return _new_page(request, caller, wired, error=error.detail)
    return _new_page(request, caller, wired, result=_in_words(came), refused=came.refused)


def _in_words(came: Imported) -> str:
    """The result of a list in a sentence."""
    beyond = f" {came.left_out} more than FEEDCRAWL_MAX_FEEDS_PER_LIST allows are left out." if came.left_out else ""
    if came.job is not None:
        return f"{came.listed} feeds are being subscribed; GET /opml/imports/{came.job.id} has the progress.{beyond}"
    refused = f", {len(came.refused)} refused" if came.refused else ""
    return f"{len(came.ids)} of {came.listed} feeds are subscribed{refused}.{beyond}"


@router.get(f"{HERE}/{{feed_id}}", dependencies=[HEAVY])
def show_feed(request: Request, caller: Reader, wired: Wired, feed_id: FeedId, done: Done = "") -> Response:
    """A feed: its next poll with the reason, its journal, its entries and articles."""
    seen = wired.dashboard.feed_page(feed_id)
    polls = seen.feed.polls
    values = _intervals(seen) | {
        "seen": seen,
        "errors": polls.cadence_state.errors,
        "candidates": proposals(polls.reason, polls.candidates),
        "overrides": _overrides(seen.feed),
        "offered": _offered(seen),
        "done": MESSAGES.get(done, ""),
    }
    return templates.render("feed.html", context(request, wired.now(), caller, HERE) | values)


def _offered(seen: overview.FeedPage) -> list[str]:
    """The other feeds of the page that was subscribed."""
    found = next((line["offered"] for line in seen.journal if "offered" in line), [])
    return [url for url in found if url != seen.feed.subscription.url]


def _intervals(seen: overview.FeedPage) -> dict[str, object]:
    """The chart of the interval that each poll chose, oldest first, against the mean gap between entries."""
    lines = [line for line in reversed(seen.journal) if line.get("interval_after_sec")]
    bars: list[list[float]] = [[line["interval_after_sec"]] for line in lines]
    spare = max(0, LEAST_BARS - len(bars))
    missing: list[list[float]] = [[]] * spare
    chart = charts.stack(missing + bars, DURATIONS)
    gap = DAY_SEC / seen.per_day if seen.per_day else None
    at = charts.HEIGHT * (1 - gap / chart.top) if gap and gap <= chart.top else None
    first = templates.when(lines[0]["at"]) if len(lines) >= LEAST_BARS else None
    words = [f"{line['at'][:16].replace('T', ' ')}: {duration(line['interval_after_sec'])}" for line in lines]
    return {
        "intervals": chart,
        "interval_words": [""] * spare + words,
        "gap": gap,
        "gap_at": None if at is None else round(at, 1),
        "oldest": first.strftime("%d %b %H:%M") if first else "",
    }


def _overrides(feed: Feed) -> list[tuple[str, str, object, bool]]:
    """The settings of a feed that an operator may change: name, label, value, and whether it is a switch."""
    return [
        (each.name, _label(each.name), getattr(feed.subscription, each.name), isinstance(each.default, bool))
        for each in fields(Overrides)
    ]


def _label(name: str) -> str:
    words = name.replace("_sec", " in seconds").replace("_", " ")
    return LABELS.get(name, words[:1].upper() + words[1:])


@router.get(f"{HERE}/{{feed_id}}/edit", dependencies=WRITES)
def show_edit(request: Request, caller: Reader, wired: Wired, feed_id: FeedId) -> Response:
    """The form that changes a feed."""
    return _edit_page(request, caller, wired, _found(wired, feed_id))


def _edit_page(request: Request, caller: Caller, wired: Wired, feed: Feed, error: str = "") -> Response:
    values = {"feed": feed, "overrides": _overrides(feed), "error": error}
    return templates.render(
        "edit.html", context(request, wired.now(), caller, HERE) | values, status=422 if error else 200
    )


@router.post(f"{HERE}/{{feed_id}}/edit", dependencies=WRITES)
def edit(request: Request, caller: Reader, wired: Wired, feed_id: FeedId, form: Form) -> Response:
    """Changes title, categories and settings of a feed, and makes it due at once."""
    feed = _found(wired, feed_id)
    switches = {each.name for each in fields(Overrides) if isinstance(each.default, bool)}
    values = {each.name: form.get(each.name, "").strip() for each in fields(Overrides)}
    pairs = [f"{name}={('1' if value else '0') if name in switches else value}" for name, value in values.items()]
    try:
        changed = overrides_from(pairs) | {
            "title": form.get("title", "").strip()[:1000] or None,
            "categories": categories_of(form.get("categories", "").splitlines()),
        }
    except Refusal as error:
        return _edit_page(request, caller, wired, feed, error.detail)
    changed["priority"] = changed["priority"] or DEFAULT_PRIORITY
    registering.change(wired.registry, wired.frontier, feed, changed)
    return RedirectResponse(f"{HERE}/{templates.segment(feed.id)}?done=changed", 303)


@router.post(f"{HERE}/{{feed_id}}/refetch", dependencies=WRITES)
def refetch(wired: Wired, feed_id: FeedId) -> Response:
    """Makes a feed due at once."""
    feed = _found(wired, feed_id)
    registering.refetch(wired.frontier, feed)
    return RedirectResponse(f"{HERE}/{templates.segment(feed.id)}?done=refetch", 303)


@router.get(f"{HERE}/{{feed_id}}/undo-migration", dependencies=WRITES)
def ask_to_undo_migration(request: Request, caller: Reader, wired: Wired, feed_id: FeedId) -> Response:
    """Asks whether the last migration of a feed is to be undone."""
    return _confirm(
        request,
        caller,
        wired,
        feed_id,
        verb="undo-migration",
        question="Undo the migration of this feed?",
        consequence=(
            "The entries that were found again under new ids and links come as new at the next poll, and their pages "
            "are fetched. No later migration of this feed is believed."
        ),
        button="Undo the migration",
    )


@router.post(f"{HERE}/{{feed_id}}/undo-migration", dependencies=WRITES)
def undo_migration(wired: Wired, feed_id: FeedId) -> Response:
    """Separates the entries of a migration from their new names."""
    feed = _found(wired, feed_id)
    lineage.undo_migration(wired.registry, wired.entries, wired.frontier, feed, wired.now())
    return RedirectResponse(f"{HERE}/{templates.segment(feed.id)}?done=undone", 303)


@router.get(f"{HERE}/{{feed_id}}/unsubscribe", dependencies=WRITES)
def ask_to_unsubscribe(request: Request, caller: Reader, wired: Wired, feed_id: FeedId) -> Response:
    """Asks whether a feed is to be unsubscribed."""
    return _confirm(
        request,
        caller,
        wired,
        feed_id,
        verb="unsubscribe",
        question="Unsubscribe from this feed?",
        consequence="It is polled no more. Its entries and articles stay.",
        button="Unsubscribe",
    )


@router.post(f"{HERE}/{{feed_id}}/unsubscribe", dependencies=WRITES)
def unsubscribe(wired: Wired, feed_id: FeedId) -> Response:
    """Stops polling a feed; its entries and articles stay."""
    registering.unsubscribe(wired.registry, wired.frontier, _found(wired, feed_id).id)
    return RedirectResponse(HERE, 303)


def _confirm(request: Request, caller: Caller, wired: Wired, feed_id: str, **words: str) -> Response:
    feed = _found(wired, feed_id)
    name = feed.subscription.title or feed.polls.title or feed.subscription.url
    back = f"{HERE}/{templates.segment(feed.id)}"
    return confirm(request, wired.now(), caller, HERE, back=back, subject=name, **words)


def _found(wired: Wired, feed_id: str) -> Feed:
    feed = finding.find(wired.registry, feed_id)
    if feed is None:
        raise Refusal("feed_unknown", "there is no feed with this id: it may have been unsubscribed")
    return feed
