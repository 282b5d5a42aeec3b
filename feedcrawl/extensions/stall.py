"""Ends a worker whose event loop stands still: it answers no signal, and its leases have long gone to others."""

from __future__ import annotations

import faulthandler
import sys
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call

from feedcrawl import wiring

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

TICK_SEC = 1.0


class Stall:
    """Has the process end with status 1, and print where its threads are, once the event loop stood still too long.

    A thread of C waits for that: a regular expression or a codec that does not end holds the interpreter's lock, and
    neither a thread nor a signal handler of Python would run. The tasks in hand then count a death of their worker,
    which gives up the one that is to blame. A process that is stopped (SIGSTOP) for so long ends as well.
    """

    def __init__(self, limit_sec: float) -> None:
        self._limit_sec = limit_sec
        self._ticks = create_looping_call(self._arm)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Reads FEEDCRAWL_STALL_SEC; 0 turns it off."""
        limit_sec = wiring.of(crawler).config.stall_sec
        if not limit_sec:
            raise NotConfigured("FEEDCRAWL_STALL_SEC is 0")
        extension = cls(limit_sec)
        crawler.signals.connect(extension.engine_started, signals.engine_started)
        crawler.signals.connect(extension.engine_stopped, signals.engine_stopped)
        return extension

    def engine_started(self) -> None:
        """Begins to count."""
        self._ticks.start(min(TICK_SEC, self._limit_sec / 4))

    def engine_stopped(self) -> None:
        """What closes the process may take its time."""
        if self._ticks.running:
            self._ticks.stop()
        faulthandler.cancel_dump_traceback_later()

    def _arm(self) -> None:
        faulthandler.dump_traceback_later(self._limit_sec, exit=True, file=sys.__stderr__ or 2)
