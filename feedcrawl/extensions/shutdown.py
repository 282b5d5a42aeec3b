"""Closes the process's resources in order: child processes, files, server; limits the drain after a signal."""

from __future__ import annotations

import logging
import sys
import time
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call
from twisted.internet import tcp

from feedcrawl import wiring
from feedcrawl.domain.frontier.outcome import judge
from feedcrawl.extensions.logs import is_for_people
from feedcrawl.outgoing.reactor import running_reactor
from feedcrawl.telemetry.names import UNRETURNED

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import AsyncioLoopingCall
    from twisted.internet.task import LoopingCall


logger = logging.getLogger(__name__)

LOOK_SEC = 0.25
"""Time between two checks whether Scrapy is stopping: there is no signal for that."""
UNWIND_SEC = 10.0
"""Time after the cut that running work (a parser, a pipeline) has before the process ends without it."""


class Shutdown:
    """Closes the wiring when the engine has stopped.

    The drain after SIGTERM is limited. In its last 10 s (the last third of a drain shorter than 30 s) connections are
    cut, and their tasks are given back without an attempt. 10 s after the cut, or at a second signal, the process
    leaves running work unfinished and gives back all leases. So a drain of 30 s or more is not exceeded.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._wired = wiring.of(crawler)
        self._watch: AsyncioLoopingCall | LoopingCall = create_looping_call(self._look)
        self._stopping_since: float | None = None
        self._cut_at: float | None = None
        self._ended = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Reads FEEDCRAWL_DRAIN_SEC."""
        extension = cls(crawler)
        crawler.signals.connect(extension.engine_started, signals.engine_started)
        crawler.signals.connect(extension.engine_stopped, signals.engine_stopped)
        return extension

    def engine_started(self) -> None:
        """Starts the checks whether the engine is stopping."""
        running_reactor().addSystemEventTrigger("during", "shutdown", self._leave)
        self._watch.start(LOOK_SEC, now=False)

    async def engine_stopped(self) -> None:
        """Closes the child processes first, because their results need the store; the server last."""
        self._ended = True
        if self._watch.running:
            self._watch.stop()
        if "parsers" in self._wired.__dict__:
            await self._wired.parsers.close(drain_sec=1.0)
        self._wired.close()

    def _look(self) -> None:
        if self._crawler.engine.running:
            return
        now = time.monotonic()
        if self._stopping_since is None:
            self._stopping_since = now
            open_requests = len(self._crawler.engine.downloader.active)
            if open_requests and is_for_people(self._crawler.settings):
                requests = "request" if open_requests == 1 else "requests"
                sys.stderr.write(f"finishing {open_requests} {requests}; press Ctrl-C again to stop now\n")
        drain_sec = self._wired.config.drain_sec
        if now - self._stopping_since < drain_sec - min(UNWIND_SEC, drain_sec / 3):
            return
        if self._cut_at is None:
            self._cut_at = now
            logger.warning("drain_cut", extra={"requests": len(self._crawler.engine.downloader.active)})
        self._cut()  # at each check, since Twisted sends a request again if a reused connection is lost
        if now - self._cut_at > UNWIND_SEC:
            running_reactor().stop()

    def _cut(self) -> None:
        """Ends all downloads; first sets each request's outcome to `shutdown`, so that no host is blamed."""
        for request in self._crawler.engine.downloader.active:
            if lease := request.meta.get("lease"):
                request.meta["outcome"] = judge("shutdown", task_kind=lease.task.kind)
        running = running_reactor()
        for end in {*running.getReaders(), *running.getWriters()}:
            if isinstance(end, tcp.Client):
                _abort(end)

    def _leave(self) -> None:
        """Gives back all leases at once, when the reactor stops before the engine has."""
        if self._ended:
            return
        self._ended = True
        returned = self._wired.leases.give_all_back("shutdown")
        if self._wired.leases.unreturned:
            self._crawler.stats.set_value(UNRETURNED, self._wired.leases.unreturned)
        if returned or self._wired.leases.unreturned:
            logger.warning("drain_left", extra={"leases": returned})
        self._wired.close()


def _abort(client: tcp.Client) -> None:
    if client.connected:
        client.abortConnection()  # type: ignore[no-untyped-call]
    else:
        client.stopConnecting()  # type: ignore[no-untyped-call]
