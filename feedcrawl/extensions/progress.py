"""Progress of a crawl: on a terminal a live line and a closing table, elsewhere one closing log event."""

from __future__ import annotations

import io
import logging
import sys
from typing import TYPE_CHECKING, Self, TypedDict

from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text
from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from feedcrawl import wiring
from feedcrawl.domain.cadence.reasons import duration
from feedcrawl.extensions.logs import is_for_people, level_of
from feedcrawl.outgoing.reactor import running_reactor
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
    """Reads the numbers from the crawler's stats, and the waiting articles from the frontier."""

    def __init__(self, crawler: Crawler, console: Console, *, live: bool, summed_up: bool) -> None:
        """`live`: a line of progress; `summed_up`: the table at the end, also without the line."""
        self._crawler = crawler
        self._console = console
        self._summed_up = summed_up or live
        self._said_goodbye = False
        self._live: Live | None = None
        if live:
            self._live = Live(
                console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
            )

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """The line is live if standard error is a terminal and receives the log in the format for people."""
        settings = crawler.settings
        shown = settings.getbool("LOG_ENABLED") and is_for_people(settings)
        logged = level_of(settings) in ("DEBUG", "INFO")
        console = Console(stderr=True, highlight=False)
        progress = cls(crawler, console, live=shown and sys.stderr.isatty(), summed_up=shown and not logged)
        crawler.signals.connect(progress.spider_opened, signals.spider_opened)
        crawler.signals.connect(progress.spider_closed, signals.spider_closed)
        crawler.signals.connect(progress.engine_started, signals.engine_started)
        return progress

    def spider_opened(self) -> None:
        """Starts the live line."""
        if self._live is not None:
            self._live.start()
            sys.stderr = _Above(self._console, sys.stderr)
            self._loop = create_looping_call(self._refresh)
            self._loop.start(REFRESH_SEC)

    def engine_started(self) -> None:
        """A reactor that is stopped while requests are open (a second Ctrl-C) leaves the terminal as it was."""
        running_reactor().addSystemEventTrigger("during", "shutdown", self.spider_closed, "stopped at once")

    def spider_closed(self, reason: str) -> None:
        """Ends the live line and prints the table, once; logs the event where the log is the record."""
        if self._said_goodbye:
            return
        self._said_goodbye = True
        counts = summary(self._crawler.stats.get_stats())
        if self._live is not None:
            self._loop.stop()
            sys.stderr = getattr(sys.stderr, "rich_proxied_file", sys.stderr)
            self._live.stop()
        if self._summed_up:
            self._console.print(table(counts, reason))
        else:
            logger.info("crawl_finished", extra={"reason": reason, **counts})

    def _refresh(self) -> None:
        assert self._live is not None
        shown = Text(line(summary(self._crawler.stats.get_stats()), self._waiting()), no_wrap=True, overflow="ellipsis")
        self._live.update(shown, refresh=True)

    def _waiting(self) -> int | None:
        """The number of articles that no worker holds; None if the store is unavailable."""
        try:
            return wiring.of(self._crawler).frontier.counts().get("pending:article", 0)
        except StoreUnavailable:
            return None


class _Above(io.TextIOBase):
    """Standard error while the line is live: text appears above the line and is not wrapped to the terminal's
    width, so that a URL can be copied. rich finds the real stream in `rich_proxied_file`.
    """

    def __init__(self, console: Console, stream: TextIO) -> None:
        self._console = console
        self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        """Prints the text above the live line."""
        if text.rstrip("\n"):
            self._console.print(Text.from_ansi(text.rstrip("\n")), soft_wrap=True)
        return len(text)

    def flush(self) -> None:
        """Flushes the real stream."""
        self.rich_proxied_file.flush()

    def fileno(self) -> int:
        """The descriptor of the real stream."""
        return self.rich_proxied_file.fileno()

    def isatty(self) -> bool:
        """Always True: the live line is only started on a terminal."""
        return True


class Summary(TypedDict):
    """Numbers of a crawl, in the order of the closing table."""

    polls: int
    polls_by_result: dict[str, int]
    entries_new: int
    entries_changed: int
    articles_stored: int
    articles_merged: int
    articles_failed: int
    failures: dict[str, int]
    articles_skipped: int
    waiting_for_robots: int
    requests: int
    bytes: int
    elapsed_sec: float


def summary(stats: Mapping[str, float]) -> Summary:
    """Numbers of a crawl so far: polls by result, entries, articles, failures by code, requests and bytes."""

    def below(prefix: str) -> dict[str, int]:
        found = {name.removeprefix(prefix): int(count) for name, count in stats.items() if name.startswith(prefix)}
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
        "articles_skipped": count("feedcrawl/articles/skipped"),
        "waiting_for_robots": count("feedcrawl/robots/waiting"),
        "requests": count("downloader/request_count"),
        "bytes": count("downloader/response_bytes"),
        "elapsed_sec": round(float(stats.get("elapsed_time_seconds", 0)), 1),
    }


def line(counts: Summary, waiting: int | None) -> str:
    """The live line."""
    parts = (
        f"{counts['polls']} polls",
        f"{counts['entries_new']} entries",
        f"{counts['articles_stored']} articles",
        f"{counts['articles_failed']} failed",
        f"{'?' if waiting is None else waiting} waiting",
    )
    return " · ".join(parts)


def table(counts: Summary, reason: str) -> Table:
    """The closing table."""
    shown = Table(box=box.SIMPLE, show_header=False, title=f"crawl {reason}", title_justify="left")
    for name, count in counts.items():
        if isinstance(count, dict):
            for detail, number in count.items():
                shown.add_row(f"  {detail}", str(number))
        elif name == "elapsed_sec":
            shown.add_row("elapsed", duration(counts["elapsed_sec"]))
        else:
            shown.add_row(name.replace("_", " "), str(count))
    return shown
