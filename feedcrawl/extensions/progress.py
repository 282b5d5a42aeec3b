"""How far a crawl is: a live line and a closing table on a terminal, one closing log event anywhere else."""

from __future__ import annotations

import io
import logging
import sys
from typing import TYPE_CHECKING, Any, Self

from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text
from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from feedcrawl import wiring
from feedcrawl.domain.cadence.reasons import duration
from feedcrawl.store.redis.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

REFRESH_SEC = 0.5
_FAILURES = "feedcrawl/articles/failed/"
_POLLS = "feedcrawl/polls/"


class Progress:
    """Reads the numbers from the crawler's stats, and what waits from the frontier."""

    def __init__(self, crawler: Crawler, console: Console, *, live: bool) -> None:
        self._crawler = crawler
        self._console = console
        self._live: Live | None = None
        if live:
            self._live = Live(
                console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
            )

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Live where standard error is a terminal, and log lines go there for people."""
        settings = crawler.settings
        quiet = settings.get("FEEDCRAWL_LOG_FORMAT") == "json" or settings.get("LOG_FILE")
        live = sys.stderr.isatty() and settings.getbool("LOG_ENABLED") and not quiet
        progress = cls(crawler, Console(stderr=True, highlight=False), live=live)
        crawler.signals.connect(progress.spider_opened, signals.spider_opened)
        crawler.signals.connect(progress.spider_closed, signals.spider_closed)
        return progress

    def spider_opened(self) -> None:
        """Starts the line."""
        if self._live is not None:
            self._live.start()
            sys.stderr = _Above(self._console, sys.stderr)
            self._loop = create_looping_call(self._refresh)
            self._loop.start(REFRESH_SEC)

    def spider_closed(self, reason: str) -> None:
        """Ends the line; the table or the event takes its place."""
        counts = summary(self._crawler.stats.get_stats())
        if self._live is None:
            logger.info("crawl_finished", extra={"reason": reason, **counts})
            return
        self._loop.stop()
        sys.stderr = getattr(sys.stderr, "rich_proxied_file", sys.stderr)
        self._live.stop()
        self._console.print(table(counts, reason))

    def _refresh(self) -> None:
        assert self._live is not None
        self._live.update(Text(line(summary(self._crawler.stats.get_stats()), self._waiting())), refresh=True)

    def _waiting(self) -> int | None:
        """Articles that no worker has; None while the store does not tell."""
        try:
            return wiring.of(self._crawler).frontier.counts().get("pending:article", 0)
        except StoreUnavailable:
            return None


class _Above(io.TextIOBase):
    """Standard error while the line is live: what is written appears above it, never cut into the terminal's width, so
    that a URL can be copied. `rich_proxied_file` is where rich finds the real one.
    """

    def __init__(self, console: Console, stream: TextIO) -> None:
        self._console = console
        self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        """Prints whole lines."""
        if text.rstrip("\n"):
            self._console.print(Text.from_ansi(text.rstrip("\n")), soft_wrap=True)
        return len(text)

    def flush(self) -> None:
        """Passed on."""
        self.rich_proxied_file.flush()

    def fileno(self) -> int:
        """The real one's."""
        return self.rich_proxied_file.fileno()

    def isatty(self) -> bool:
        """It is one, or there would be no line."""
        return True


def summary(stats: Mapping[str, Any]) -> dict[str, Any]:
    """What a crawl came to so far: polls by result, entries, articles, failures by code, what was asked and read."""

    def below(prefix: str) -> dict[str, int]:
        found = {name.removeprefix(prefix): count for name, count in stats.items() if name.startswith(prefix)}
        return {name: count for name, count in sorted(found.items()) if "/" not in name}

    def count(name: str) -> int:
        return int(stats.get(name, 0))

    polls = below(_POLLS)
    return {
        "polls": sum(polls.values()),
        "polls_by_result": polls,
        "entries_new": count("feedcrawl/entries/new"),
        "entries_changed": count("feedcrawl/entries/changed"),
        "articles_stored": count("feedcrawl/articles/stored"),
        "articles_merged": count("feedcrawl/articles/merged"),
        "articles_failed": count("feedcrawl/articles/failed"),
        "failures": below(_FAILURES),
        "requests": count("downloader/request_count"),
        "bytes": count("downloader/response_bytes"),
        "elapsed_sec": round(float(stats.get("elapsed_time_seconds", 0)), 1),
    }


def line(counts: Mapping[str, Any], waiting: int | None) -> str:
    """The live line."""
    failures = ", ".join(f"{name} {count}" for name, count in counts["failures"].items())
    parts = (
        f"{counts['polls']} feeds polled",
        f"{counts['entries_new']} new entries",
        f"{counts['articles_stored']} articles stored",
        f"{counts['articles_failed']} failed" + (f" ({failures})" if failures else ""),
        f"{'?' if waiting is None else waiting} waiting",
    )
    return " · ".join(parts)


def table(counts: Mapping[str, Any], reason: str) -> Table:
    """The closing table."""
    shown = Table(box=box.SIMPLE, show_header=False, title=f"crawl {reason}", title_justify="left")
    for name, count in counts.items():
        if isinstance(count, dict):
            for detail, number in count.items():
                shown.add_row(f"  {detail}", str(number))
        elif name == "elapsed_sec":
            shown.add_row("elapsed", duration(count))
        else:
            shown.add_row(name.replace("_", " "), str(count))
    return shown
