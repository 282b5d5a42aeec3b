"""Pages of the frontier: its statistics, its tasks, and the state of a host."""

from __future__ import annotations

import math
from typing import Annotated, Final, Literal, get_args

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from feedcrawl.api.access import Reader
from feedcrawl.api.dependencies import Wired
from feedcrawl.api.pages import templates
from feedcrawl.api.pages.route import HEAVY_PAGE, PageRoute, Text, context
from feedcrawl.domain.frontier import scopes
from feedcrawl.domain.frontier.selection import TaskFilter
from feedcrawl.domain.frontier.statistics import WHY
from feedcrawl.domain.frontier.tasks import Kind, Origin
from feedcrawl.services.frontier import listing
from feedcrawl.services.operations import overview

router = APIRouter(include_in_schema=False, route_class=PageRoute)

HERE: Final = "/dashboard/frontier"


@router.get(HERE, dependencies=HEAVY_PAGE)
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
    return templates.render("frontier.html", context(request, wired.now(), caller, HERE) | values)


@router.get(f"{HERE}/urls", dependencies=HEAVY_PAGE)
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
        "later": f"{HERE}/urls{templates.query(**filters, cursor=after)}" if after else "",
    }
    return templates.render("urls.html", context(request, wired.now(), caller, HERE) | values)


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
    return templates.render("host.html", context(request, wired.now(), caller, HERE) | values)
