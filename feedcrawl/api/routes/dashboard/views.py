"""The dashboard: pages for people, rendered on the server. They show the data of the commands and the JSON
routes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final, Literal, get_args

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import RedirectResponse, Response

from feedcrawl.api import charts
from feedcrawl.api.access import Caller, needs
from feedcrawl.api.dependencies import Wired
from feedcrawl.api.limits.places import HEAVY
from feedcrawl.api.pages import templates
from feedcrawl.api.pages.route import PageRoute, context
from feedcrawl.api.paging import Cursor, cursor_of, place_of
from feedcrawl.domain.articles.fields import ArticleFields
from feedcrawl.domain.articles.query import ArticleFilter
from feedcrawl.domain.cadence.reasons import duration
from feedcrawl.domain.frontier import scopes
from feedcrawl.domain.frontier.selection import TaskFilter
from feedcrawl.domain.frontier.statistics import WHY, Lateness
from feedcrawl.domain.frontier.tasks import Kind, Origin
from feedcrawl.domain.operations.counters import GOOD_POLLS, PART_SEC, SPANS, Bar, errors
from feedcrawl.domain.sanitize import clean_html
from feedcrawl.domain.search.documents import Filters
from feedcrawl.services.articles.catalogue import SightedArticle
from feedcrawl.services.frontier import listing
from feedcrawl.services.operations import overview

if TYPE_CHECKING:
    from collections.abc import Sequence

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
INTERVALS: Final = (10.0, 60.0, 300.0, 1800.0, 3 * 3600.0, 86_400.0, 7 * 86_400.0, 30 * 86_400.0)
"""Marks of the axis of intervals."""


@router.get("/", dependencies=HEAVY_PAGE)
def show_overview(request: Request, caller: Reader, wired: Wired, span: str = "24h") -> Response:
    """Statistics of the fleet: results of polls, new entries, and failures."""
    span = span if span in SPANS else "24h"
    seen = wired.dashboard.overview(span)
    wired.readiness.check()
    wired.readiness.same_server()
    pairs = [(each.per_day, each.interval_sec) for each in seen.paced]
    late = seen.statistics.lateness
    shown = charts.with_data(seen.bars, [bar.polls + bar.counts["new"] for bar in seen.bars])
    values = {
        "seen": seen,
        "span": span,
        "spans": SPANS,
        "bar_sec": SPANS[span].bar_sec,
        "polls": charts.stack([_outcomes(bar) for bar in shown]),
        "late": charts.stack([[bar.mean_late_sec or 0.0] for bar in shown]),
        "entries": charts.stack([[bar.counts["new"]] for bar in shown]),
        "words": _bars_in_words(shown),
        "ticks": _ticks(shown),
        "cloud": charts.cloud(pairs, INTERVALS),
        "bands": charts.bands(pairs),
        "sample": overview.SAMPLE,
        "errors": errors(seen.whole)[: overview.TOP],
        "parts_since": seen.bars[0].at // PART_SEC * PART_SEC,
        "open": len(seen.circuits),
        "taken": late["poll"] if "poll" in late else Lateness(),
        "trouble": wired.readiness.trouble,
    }
    return templates.render("overview.html", context(request, wired.now(), caller, "/") | values)


def _outcomes(bar: Bar) -> list[float]:
    return [*(bar.counts[f"poll:{result}"] for result in GOOD_POLLS), bar.failed]


def _bars_in_words(bars: Sequence[Bar]) -> dict[str, list[str]]:
    """The values of each bar, which a pointer over the bar shows."""
    starts = [f"{datetime.fromtimestamp(bar.at, UTC):%d %b %H:%M}" for bar in bars]
    late = [duration(bar.mean_late_sec or 0.0) for bar in bars]
    return {
        "polls": [f"{at}: {bar.polls} polls, {bar.failed} failed" for at, bar in zip(starts, bars, strict=True)],
        "late": [f"{at}: {mean} late on average" for at, mean in zip(starts, late, strict=True)],
        "entries": [f"{at}: {bar.counts['new']} new entries" for at, bar in zip(starts, bars, strict=True)],
    }


def _ticks(bars: Sequence[Bar]) -> list[str]:
    """Times under a chart, from its first bar to its last; with the date where the date changes."""
    chosen = [bars[round(step * (len(bars) - 1) / (TICKS - 1))].at for step in range(TICKS)]
    moments = [datetime.fromtimestamp(at, UTC) for at in chosen]
    before = [None, *moments]
    return [
        f"{at:%H:%M}" if last is not None and last.date() == at.date() else f"{at:%d %b %H:%M}"
        for last, at in zip(before, moments, strict=False)
    ]


@router.get("/dashboard/articles", dependencies=HEAVY_PAGE)
def show_articles(
    request: Request,
    caller: Reader,
    wired: Wired,
    *,
    q: Text = "",
    host: Text = "",
    category: Text = "",
    cursor: Cursor = None,
) -> Response:
    """Stored articles, the most recently fetched first, or the best matches of a search."""
    filters = {"q": q.strip(), "host": host.strip(), "category": category.strip()}
    place, named = place_of(cursor), {name: value or None for name, value in filters.items()}
    if filters["q"]:
        of_search = Filters(host=named["host"], category=named["category"])
        matches = wired.search.find(filters["q"], of_search, limit=50, offset=int(place[0]) if place else 0)
        after = None if matches.next is None else (float(matches.next), "q")
        stored = wired.articles.stored([hit.document["uid"] for hit in matches.hits])
        values: dict[str, object] = {"hits": matches.hits, "stored": stored}
    else:
        found = wired.catalogue.page(
            ArticleFilter(host=named["host"], category=named["category"]), wired.now(), before=place
        )
        after, values = found.next, {"found": found}
    later = f"/dashboard/articles{templates.query(**filters, cursor=cursor_of(after))}" if after else ""
    page = context(request, wired.now(), caller, "/dashboard/articles")
    return templates.render("articles.html", page | filters | values | {"later": later})


@router.get("/dashboard/articles/{uid}")
def show_article(request: Request, caller: Reader, wired: Wired, uid: Uid) -> Response:
    """An article: its text, its sanitised HTML in a frame, its origin, and its versions."""
    found = wired.catalogue.get(uid)
    if found.article is None:
        return RedirectResponse(f"/dashboard/articles/{found.merged_into}", 303)
    absent: ArticleFields = {
        "final_url": None,
        "published": None,
        "language": None,
        "site_name": None,
        "title": None,
        "feed_id": None,
    }
    article: SightedArticle = {**absent, **found.article}
    feed_id = article["feed_id"]
    feed = wired.registry.load([feed_id]).get(feed_id) if feed_id else None
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
    article = wired.catalogue.get(uid).article or ArticleFields()
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
    statistics = wired.frontier.statistics()
    circuits = wired.frontier.circuits(50)
    queue = wired.dashboard.queued()
    by_kind: dict[str, dict[str, int]] = {}
    for name, number in statistics.by("status", "kind").items():
        status, kind = name.split(":")
        by_kind.setdefault(kind, {"pending": 0, "fetched": 0, "dead": 0})[status] = number
    values = {
        "statistics": statistics,
        "waiting": statistics.waiting,
        "pending": statistics.by("status").get("pending", 0),
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
    status: Annotated[Literal["pending", "fetching", "fetched", "dead", "quarantined", ""], Query()] = "",
    origin: Annotated[Literal[Origin, ""], Query()] = "",
    source: Text = "",
    error: Text = "",
    cursor: Annotated[int, Query(ge=0)] = 0,
) -> Response:
    """Tasks that match the conditions, from a part of the frontier at a time."""
    filters = {
        "text": text.strip(),
        "host": host.strip().lower(),
        "kind": kind,
        "status": status,
        "origin": origin,
        "source": source.strip(),
        "error": error.strip(),
    }
    conditions = TaskFilter(
        text=filters["text"] or None,
        host=filters["host"] or None,
        kind=kind or None,
        status=status or None,
        origin=origin or None,
        source=filters["source"] or None,
        error=filters["error"] or None,
    )
    stores = wired.frontier, wired.articles
    after, found = listing.urls(
        *stores, conditions, cursor=cursor, limit=50, parts=overview.PARTS, part=overview.TASKS_A_PART
    )
    values = {
        "found": listing.task_records(*stores, found),
        "filters": filters,
        "kinds": get_args(Kind),
        "origins": get_args(Origin),
        "later": f"/dashboard/frontier/urls{templates.query(**filters, cursor=after)}" if after else "",
    }
    return templates.render("urls.html", context(request, wired.now(), caller, "/dashboard/frontier") | values)


@router.get("/dashboard/hosts/{name}")
def show_host(
    request: Request, caller: Reader, wired: Wired, name: Annotated[str, Path(min_length=1, max_length=253)]
) -> Response:
    """A host's pace and circuit, those of its wider scopes, its failing robots.txt, and the reason why it waits."""
    host = wired.frontier.host(name.lower())
    config = wired.config
    robots = listing.robots_waits(
        wired.hosts, host.name, grace_sec=config.robots_grace_sec, on_error=config.robots_on_error
    )
    paced = [("host", host), *((scopes.OF_NAME[kind].words, scope) for kind, scope in host.scopes.items())]
    why = WHY[host.waits_for]
    values = {"host": host, "paced": paced, "robots": robots, "why": f"{why[:1].upper()}{why[1:]}."}
    return templates.render("host.html", context(request, wired.now(), caller, "/dashboard/frontier") | values)


@router.get("/dashboard/style.css")
def style(_version: Annotated[str, Query(alias="v")] = "") -> Response:
    """The style sheet of all pages; its address changes with its content."""
    return Response(templates.STYLE, media_type="text/css", headers=templates.STATIC_HEADERS)


@router.get("/dashboard/icon.svg")
def icon() -> Response:
    """The icon of the program."""
    return Response(templates.ICON, media_type="image/svg+xml", headers=templates.STATIC_HEADERS)
