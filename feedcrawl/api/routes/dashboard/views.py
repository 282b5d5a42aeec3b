"""The dashboard: pages for people, rendered on the server. They show the data of the commands and the JSON
routes.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Final, Literal, get_args

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import RedirectResponse, Response

from feedcrawl.api import charts
from feedcrawl.api.access import Caller, needs
from feedcrawl.api.dependencies import Wired
from feedcrawl.api.limits.places import HEAVY
from feedcrawl.api.pages import templates
from feedcrawl.api.pages.route import Form, PageRoute, context
from feedcrawl.api.paging import Cursor, cursor_of, place_of
from feedcrawl.domain.articles.query import Wanted
from feedcrawl.domain.cadence.reasons import winner
from feedcrawl.domain.cadence.values import DAY_SEC
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.frontier import dead_letters as letters
from feedcrawl.domain.frontier.figures import WHY, Lateness
from feedcrawl.domain.frontier.tasks import Kind
from feedcrawl.domain.operations.tallies import GOOD_POLLS, PART_SEC, SPANS, Bar, errors
from feedcrawl.domain.sanitize import clean_html
from feedcrawl.services.frontier import listing
from feedcrawl.services.operations import overview
from feedcrawl.services.subscriptions import finding, registering

router = APIRouter(include_in_schema=False, route_class=PageRoute)

HEAVY_PAGE: Final = [Depends(needs("read")), HEAVY]
Reader = Annotated[Caller, Depends(needs("read"))]
Writer = Annotated[Caller, Depends(needs("write"))]
Page = Annotated[int, Query(ge=1, le=10_000)]
Text = Annotated[str, Query(max_length=500)]
FeedId = Annotated[str, Path(max_length=64)]
Uid = Annotated[str, Path(pattern="^[0-9a-f]{16}$")]

CONTENT_POLICY: Final = (
    f"default-src 'none'; style-src {templates.STYLE_SOURCE}; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'; sandbox"
)
TICKS: Final = 5
LEAST_BARS: Final = 20
"""Slots of a feed's chart; fewer polls are drawn at its right end."""
DURATIONS: Final = (
    60,
    120,
    600,
    1200,
    3600,
    2 * 3600,
    6 * 3600,
    12 * 3600,
    86_400,
    2 * 86_400,
    7 * 86_400,
    14 * 86_400,
)
"""Possible ends of an axis of durations: each is a round duration, and so is its half."""
INTERVALS: Final = (10.0, 60.0, 300.0, 1800.0, 3 * 3600.0, 86_400.0, 7 * 86_400.0, 30 * 86_400.0)
"""Marks of the axis of intervals."""


@router.get("/", dependencies=HEAVY_PAGE)
def show_overview(request: Request, caller: Reader, wired: Wired, span: str = "24h") -> Response:
    """Statistics of the fleet: results of polls, new entries, and failures."""
    span = span if span in SPANS else "24h"
    seen = wired.dashboard.overview(span)
    wired.readiness.look()
    wired.readiness.same_server()
    pairs = [(each.per_day, each.interval_sec) for each in seen.paced]
    tasks = seen.figures.by("status")
    late = seen.figures.lateness
    values = {
        "seen": seen,
        "span": span,
        "spans": SPANS,
        "bar_sec": SPANS[span].bar_sec,
        "polls": charts.stack([_outcomes(bar) for bar in seen.bars]),
        "late": charts.stack([[bar.mean_late_sec or 0.0] for bar in seen.bars]),
        "entries": charts.stack([[bar.counts["new"]] for bar in seen.bars]),
        "ticks": _ticks(seen.bars, span),
        "cloud": charts.cloud(pairs, INTERVALS),
        "bands": charts.bands(pairs),
        "sample": overview.SAMPLE,
        "errors": errors(seen.whole)[: overview.TOP],
        "parts_since": seen.bars[0].at // PART_SEC * PART_SEC,
        "pending": tasks.get("pending", 0),
        "open": len(seen.circuits),
        "taken": late["poll"] if "poll" in late else Lateness(),
        "trouble": wired.readiness.trouble,
    }
    return templates.render("overview.html", context(request, wired.now(), caller, "/") | values)


def _outcomes(bar: Bar) -> list[float]:
    return [*(bar.counts[f"poll:{result}"] for result in GOOD_POLLS), bar.failed]


def _ticks(bars: Any, span: str) -> list[str]:
    """Times under a chart, from its first bar to its last."""
    form = "%d %b" if span == "7d" else "%H:%M"
    chosen = [bars[round(step * (len(bars) - 1) / (TICKS - 1))].at for step in range(TICKS)]
    moments = [templates.when(float(at)) for at in chosen]
    return [at.strftime(form) for at in moments if at is not None]


@router.get("/dashboard/feeds", dependencies=HEAVY_PAGE)
def show_feeds(
    request: Request, caller: Reader, wired: Wired, *, q: Text = "", page: Page = 1, failing: bool = False
) -> Response:
    """The feeds whose URL, title or category contains a text, or the failing feeds."""
    found = wired.dashboard.feeds(q.strip(), failing=failing, page=page)
    more = page * overview.FEEDS_A_PAGE < found.meant
    same = {"q": q, "failing": int(failing)}
    values = {
        "found": found,
        "q": q,
        "failing": failing,
        "looked_at": overview.LOOKED_AT,
        "earlier": f"/dashboard/feeds{templates.query(**same, page=page - 1)}" if page > 1 else "",
        "later": f"/dashboard/feeds{templates.query(**same, page=page + 1)}" if more else "",
    }
    return templates.render("feeds.html", context(request, wired.now(), caller, "/dashboard/feeds") | values)


@router.get("/dashboard/feeds/{feed_id}")
def show_feed(request: Request, caller: Reader, wired: Wired, feed_id: FeedId, done: str = "") -> Response:
    """A feed: its next poll with the reason, its journal, its entries and articles."""
    seen = wired.dashboard.feed_page(feed_id)
    polls = seen.feed.polls
    values = _intervals(seen) | {
        "seen": seen,
        "errors": polls.cadence_state.errors,
        "won": winner(polls.reason or "", polls.candidates),
        "done": "It is due now: the next worker that is free polls it." if done == "refetch" else "",
    }
    return templates.render("feed.html", context(request, wired.now(), caller, "/dashboard/feeds") | values)


def _intervals(seen: overview.FeedPage) -> dict[str, Any]:
    """The chart of the interval that each poll chose, oldest first, against the mean gap between entries."""
    lines = [line for line in reversed(seen.journal) if line.get("interval_after_sec")]
    bars = [[line["interval_after_sec"]] for line in lines]
    chart = charts.stack([[]] * (LEAST_BARS - len(bars)) + bars, DURATIONS)
    gap = DAY_SEC / seen.per_day if seen.per_day else None
    at = charts.HEIGHT * (1 - gap / chart.top) if gap and gap <= chart.top else None
    first = templates.when(lines[0]["at"]) if len(lines) >= LEAST_BARS else None
    return {
        "intervals": chart,
        "gap": gap,
        "gap_at": None if at is None else round(at, 1),
        "oldest": first.strftime("%d %b %H:%M") if first else "",
    }


@router.post("/dashboard/feeds/{feed_id}/refetch")
def refetch(caller: Writer, wired: Wired, feed_id: FeedId) -> Response:  # noqa: ARG001 - must be one who may
    """Makes a feed due at once."""
    feed = finding.find(wired.registry, feed_id)
    if feed is None:
        raise Refusal("feed_unknown", "there is no feed with this id: it may have been unsubscribed")
    registering.poll_now(wired.frontier, [feed])
    return RedirectResponse(f"/dashboard/feeds/{templates.segment(feed.id)}?done=refetch", 303)


@router.get("/dashboard/articles", dependencies=HEAVY_PAGE)
def show_articles(
    request: Request, caller: Reader, wired: Wired, *, host: Text = "", category: Text = "", cursor: Cursor = None
) -> Response:
    """Stored articles, the most recently fetched first."""
    host, category = host.strip(), category.strip()
    wanted = Wanted(host=host or None, category=category or None)
    found = wired.catalogue.page(wanted, wired.now(), before=place_of(cursor))
    later = templates.query(host=host, category=category, cursor=cursor_of(found.next)) if found.next else ""
    values = {"found": found, "host": host, "category": category, "later": later and f"/dashboard/articles{later}"}
    return templates.render("articles.html", context(request, wired.now(), caller, "/dashboard/articles") | values)


@router.get("/dashboard/articles/{uid}")
def show_article(request: Request, caller: Reader, wired: Wired, uid: Uid) -> Response:
    """An article: its text, its sanitised HTML in a frame, its origin, and its versions."""
    found = wired.catalogue.get(uid)
    if found.article is None:
        return RedirectResponse(f"/dashboard/articles/{found.winner}", 303)
    article = dict.fromkeys(("final_url", "published", "language", "site_name", "title", "feed_id")) | found.article
    feed = wired.registry.load([article["feed_id"]]).get(article["feed_id"]) if article["feed_id"] else None
    task = wired.frontier.find(uid)
    values = {
        "article": article,
        "feed": feed,
        "history": task[1] if task else None,
        "versions": wired.dashboard.versions(uid),
    }
    return templates.render("article.html", context(request, wired.now(), caller, "/dashboard/articles") | values)


@router.get("/dashboard/articles/{uid}/content")
def show_content(caller: Reader, wired: Wired, uid: Uid) -> Response:  # noqa: ARG001 - must be one who may
    """An article's HTML alone, for a frame without scripts and requests: pictures are left out."""
    article = wired.catalogue.get(uid).article or {}
    html = clean_html(article.get("content_html") or "", base_url=article.get("canonical_url") or "")
    answer = templates.render(
        "content.html",
        {
            "html": templates.without_pictures(html),
            "title": article.get("title") or "Article",
            "language": article.get("language") or "",
        },
    )
    answer.headers["Content-Security-Policy"] = CONTENT_POLICY
    return answer


@router.get("/dashboard/frontier", dependencies=HEAVY_PAGE)
def show_frontier(request: Request, caller: Reader, wired: Wired) -> Response:
    """The queued tasks by kind and host, their lateness, and the open circuits."""
    figures = wired.frontier.figures()
    circuits = wired.frontier.circuits(50)
    queue = wired.dashboard.queued()
    by_kind: dict[str, dict[str, int]] = {}
    for name, number in figures.by("status", "kind").items():
        status, kind = name.split(":")
        by_kind.setdefault(kind, {"pending": 0, "fetched": 0, "dead": 0})[status] = number
    values = {
        "figures": figures,
        "pending": figures.by("status").get("pending", 0),
        "kinds": sorted(by_kind.items()),
        "busiest": listing.busiest(wired.frontier, 20, parts=overview.HOST_PARTS),
        "circuits": circuits,
        "queue": queue,
        "infinite": math.inf,
    }
    return templates.render("frontier.html", context(request, wired.now(), caller, "/dashboard/frontier") | values)


@router.get("/dashboard/frontier/urls", dependencies=HEAVY_PAGE)
def show_urls(
    request: Request,
    caller: Reader,
    wired: Wired,
    *,
    text: Text = "",
    host: Text = "",
    kind: Annotated[Literal[Kind, ""], Query()] = "",
    status: Annotated[Literal["pending", "fetching", "fetched", "dead", ""], Query()] = "",
    cursor: Annotated[int, Query(ge=0)] = 0,
) -> Response:
    """Tasks that match the conditions, from a part of the frontier at a time."""
    said = {"text": text.strip(), "host": host.strip().lower(), "kind": kind, "status": status}
    wanted = listing.Wanted(**{name: value or None for name, value in said.items()})
    after, found = listing.urls(
        wired.frontier, wanted, cursor=cursor, limit=50, parts=overview.PARTS, part=overview.TASKS_A_PART
    )
    values = {
        "found": found,
        "said": said,
        "kinds": get_args(Kind),
        "later": f"/dashboard/frontier/urls{templates.query(**said, cursor=after)}" if after else "",
    }
    return templates.render("urls.html", context(request, wired.now(), caller, "/dashboard/frontier") | values)


@router.get("/dashboard/hosts/{name}")
def show_host(
    request: Request, caller: Reader, wired: Wired, name: Annotated[str, Path(min_length=1, max_length=253)]
) -> Response:
    """A host's pace and circuit, those of its domain, and the reason why it waits."""
    host = wired.frontier.host(name.lower())
    values = {"host": host, "why": f"{WHY[host.waits_for][:1].upper()}{WHY[host.waits_for][1:]}."}
    return templates.render("host.html", context(request, wired.now(), caller, "/dashboard/frontier") | values)


@router.get("/dashboard/dlq", dependencies=HEAVY_PAGE)
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
    said = {"reason": reason.strip(), "host": host.strip().lower()}
    found = wired.dashboard.letters(_meant(said), before)
    values = {
        "found": found,
        "said": said,
        "count": found.count,
        "later": f"/dashboard/dlq{templates.query(**said, before=found.before)}" if found.before else "",
        "done": _done(done, number, refused),
    }
    return templates.render("dlq.html", context(request, wired.now(), caller, "/dashboard/dlq") | values)


@router.post("/dashboard/dlq", dependencies=HEAVY_PAGE)
def act_on_dead_letters(caller: Writer, wired: Wired, form: Form) -> Response:  # noqa: ARG001 - must be one who may
    """Replays or drops one dead letter, or all of a reason or host; a request without any condition is refused."""
    wanted = _meant(form)
    if wanted == letters.Wanted():
        raise Refusal("nothing_named", "name a letter, a reason or a host: not all letters are meant at once")
    refused = 0
    if form.get("action") == "replay":
        replayed = wired.dead_letter_service.replay(wanted)
        number, refused = replayed.replayed, replayed.refused
    elif form.get("action") == "drop":
        number = wired.dead_letter_service.drop(wanted)
    else:
        raise Refusal("unknown_action", "action is replay or drop")
    same = {name: form.get(name, "") for name in ("reason", "host")}
    query = templates.query(**same, done=form["action"], number=number, refused=refused or "")
    return RedirectResponse(f"/dashboard/dlq{query}", 303)


def _meant(said: dict[str, str]) -> letters.Wanted:
    names = frozenset({said["name"]} if said.get("name") else ())
    return letters.Wanted(reason=said.get("reason") or None, host=said.get("host") or None, names=names)


def _done(what: str, number: int, refused: int) -> str:
    if not what:
        return ""
    kept = f"; {refused} cannot be tried again and stay" if refused else ""
    return f"{number} {'tried again' if what == 'replay' else 'dropped'}{kept}."


@router.get("/dashboard/style.css")
def style(_version: Annotated[str, Query(alias="v")] = "") -> Response:
    """The style sheet of all pages; its address changes with its content."""
    return Response(templates.STYLE, media_type="text/css", headers=templates.STATIC_HEADERS)


@router.get("/dashboard/icon.svg")
def icon() -> Response:
    """The icon of the program."""
    return Response(templates.ICON, media_type="image/svg+xml", headers=templates.STATIC_HEADERS)
