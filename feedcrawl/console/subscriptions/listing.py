"""Tables of feeds and sitemaps: which rows, in which order, with which columns."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from scrapy.exceptions import UsageError

from feedcrawl.console.output import terminal_width
from feedcrawl.console.tables import write_table
from feedcrawl.domain.cadence.reasons import duration
from feedcrawl.domain.subscriptions.sorting import COLUMNS, SHOWN, ordered

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable

    from feedcrawl.domain.subscriptions.records import Feed
    from feedcrawl.domain.subscriptions.sitemap_records import SitemapPublicRecord
    from feedcrawl.domain.subscriptions.sorting import Column

_WIDE: Final = 110
"""Columns of a terminal from which on the URL has a column of its own."""
_CUT: Final = ("title", "url", "category", "sitemap", "categories")
"""Columns whose cells are cut in their middle where a terminal is narrow."""
_SITEMAP_COLUMNS: Final = ("sitemap", "kind", "source", "categories", "urls", "last result", "next poll", "errors")


def chosen(feeds: Iterable[Feed], opts: Namespace) -> list[Feed]:
    """The feeds that the options ask for, in their order. UsageError for a column that does not exist."""
    return ordered((feed for feed in feeds if _is_meant(feed, opts)), _column(opts.sort), down=opts.reverse)


def _column(name: str) -> Column:
    for column in COLUMNS:
        if column == name:
            return column
    raise UsageError(f"--sort is one of {', '.join(COLUMNS)}, not {name!r}", print_help=False)


def _is_meant(feed: Feed, opts: Namespace) -> bool:
    of_category = opts.category is None or opts.category in feed.subscription.categories
    return of_category and (not opts.failing or feed.polls.cadence_state.errors > 0)


def write_feeds(feeds: Iterable[Feed], columns: str | None) -> None:
    """Writes a table of feeds with the given columns, else with those for which a terminal has room."""
    names = _columns(columns)
    rows = [[cells[name] for name in names] for cells in map(_cells, feeds)]
    write_table(names, rows, cut=[name for name in names if name in _CUT])


def _columns(given: str | None) -> list[str]:
    if given is None:
        width = terminal_width(sys.stdout)
        if width is None:
            return ["title", "url", "category", "result", "next", "errors"]
        return ["title", *(["url"] if width >= _WIDE else []), "category", "result", "next"]
    names = [name.strip() for name in given.split(",")]
    for name in names:
        if name not in SHOWN:
            raise UsageError(f"--columns are of {', '.join(SHOWN)}, not {name!r}", print_help=False)
    return names


def _cells(feed: Feed) -> dict[str, object]:
    own, polls = feed.subscription, feed.polls
    return {
        "title": own.title or polls.title or own.url,
        "url": own.url,
        "category": ", ".join(own.categories),
        "result": "paused" if own.paused else polls.last_result or "never polled",
        "fetched": _minute(polls.last_fetch_at),
        "next": "" if own.paused else _minute(polls.next_at) or "now",
        "interval": polls.interval_sec and duration(round(polls.interval_sec)),
        "errors": polls.cadence_state.errors or "",
        "id": own.id,
    }


def write_sitemaps(sitemaps: Iterable[SitemapPublicRecord]) -> None:
    """Writes a table of sitemaps."""
    is_piped = terminal_width(sys.stdout) is None
    names = [name for name in _SITEMAP_COLUMNS if is_piped or name not in ("source", "errors")]
    rows = [[cells[name] for name in names] for cells in map(_sitemap_cells, sitemaps)]
    write_table(names, rows, cut=[name for name in names if name in _CUT])


def _sitemap_cells(sitemap: SitemapPublicRecord) -> dict[str, object]:
    schedule, stats = sitemap["schedule"], sitemap["stats"]
    return {
        "sitemap": sitemap["url"],
        "kind": sitemap["kind"] or "",
        "source": sitemap["source"],
        "categories": ", ".join(sitemap["categories"]),
        "urls": stats["last_item_count"] or "",
        "last result": stats["last_result"] or "never polled",
        "next poll": _minute(schedule["next_at"]) or "now",
        "errors": stats["consecutive_failures"] or "",
    }


def _minute(moment: str | None) -> str:
    return moment[:16].replace("T", " ") + "Z" if moment else ""
