"""Ends a worker whose event loop is stalled: such a worker handles no signal, and its leases have expired."""

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
    """Ends the process with status 1, after printing the stack of each thread, when the event loop has stalled too
    long.

    The timer runs in a C thread (faulthandler): an endless regular expression or codec holds the interpreter's lock, so
    that no Python thread and no signal handler can run. The tasks that the worker held then count a death of their
    worker, and the task at fault is given up. A process stopped (SIGSTOP) for that long ends too.
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
        """Starts the timer."""
        self._ticks.start(min(TICK_SEC, self._limit_sec / 4))

    def engine_stopped(self) -> None:
        """Stops the timer: closing the process is not limited."""
        if self._ticks.running:
            self._ticks.stop()
        faulthandler.cancel_dump_traceback_later()

    def _arm(self) -> None:
        faulthandler.dump_traceback_later(self._limit_sec, exit=True, file=sys.__stderr__ or 2)
