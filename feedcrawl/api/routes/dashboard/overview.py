"""The dashboard's first page: charts and statistics of the fleet; and the style sheet and the icon of all pages."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from feedcrawl.api import charts
from feedcrawl.api.access import Reader
from feedcrawl.api.dependencies import Wired
from feedcrawl.api.pages import templates
from feedcrawl.api.pages.route import HEAVY_PAGE, PageRoute, context
from feedcrawl.domain.cadence.reasons import duration
from feedcrawl.domain.frontier.statistics import Lateness
from feedcrawl.domain.operations.counters import GOOD_POLLS, PART_SEC, SPANS, errors
from feedcrawl.services.operations import overview

if TYPE_CHECKING:
    from collections.abc import Sequence

    from feedcrawl.domain.operations.counters import Bar

router = APIRouter(include_in_schema=False, route_class=PageRoute)

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


@router.get("/dashboard/style.css")
def style(_version: Annotated[str, Query(alias="v")] = "") -> Response:
    """The style sheet of all pages; its address changes with its content."""
    return Response(templates.STYLE, media_type="text/css", headers=templates.STATIC_HEADERS)


@router.get("/dashboard/icon.svg")
def icon() -> Response:
    """The icon of the program."""
    return Response(templates.ICON, media_type="image/svg+xml", headers=templates.STATIC_HEADERS)
