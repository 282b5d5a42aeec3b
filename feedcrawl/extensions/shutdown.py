"""Ends what the process holds, in order: children, then files, then the server; and bounds the drain after a signal."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call
from twisted.internet import tcp

from feedcrawl import wiring
from feedcrawl.domain.frontier.outcome import judge
from feedcrawl.telemetry.names import UNRETURNED

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import AsyncioLoopingCall
    from twisted.internet.task import LoopingCall


logger = logging.getLogger(__name__)

LOOK_SEC = 0.25
"""Scrapy tells nobody that it has begun to stop, so that has to be looked for."""
UNWIND_SEC = 10.0
"""How long after the cut what still runs (a parser, a pipeline) may take before the process ends without it."""


class Shutdown:
    """When the engine has stopped, all of the wiring ends.

    A drain after SIGTERM has its time. For its last 10 s (a third of a short one) the connections are cut and their
    tasks go back without an attempt; what has not ended 10 s after that, or at a second signal, is left, and all
    leases go back. So a drain of 30 s or more is not exceeded.
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
        """Begins to look for the end."""
        _reactor().addSystemEventTrigger("during", "shutdown", self._leave)
        self._watch.start(LOOK_SEC, now=False)

    async def engine_stopped(self) -> None:
        """The children first, for their answers need the store; the server last."""
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
        drain_sec = self._wired.config.drain_sec
        if now - self._stopping_since < drain_sec - min(UNWIND_SEC, drain_sec / 3):
            return
        if self._cut_at is None:
            self._cut_at = now
            logger.warning("drain_cut", extra={"requests": len(self._crawler.engine.downloader.active)})
        self._cut()  # at each look, since Twisted asks once more where a connection that was used before is lost
        if now - self._cut_at > UNWIND_SEC:
            _reactor().stop()

    def _cut(self) -> None:
        """Ends all downloads; each request says why before it fails, so that nothing is counted against anyone."""
        for request in self._crawler.engine.downloader.active:
            if lease := request.meta.get("lease"):
                request.meta["outcome"] = judge("shutdown", task_kind=lease.task.kind)
        reactor = _reactor()
        for end in {*reactor.getReaders(), *reactor.getWriters()}:
            if isinstance(end, tcp.Client):
                _abort(end)

    def _leave(self) -> None:
        """The reactor stops though the engine has not: what is held goes back, and nothing is waited for."""
        if self._ended:
            return
        self._ended = True
        returned = self._wired.leases.give_all_back("shutdown")
        if self._wired.leases.abandoned:
            self._crawler.stats.set_value(UNRETURNED, self._wired.leases.abandoned)
        logger.warning("drain_left", extra={"leases": returned})
        self._wired.close()


def _abort(client: tcp.Client) -> None:
    if client.connected:
        client.abortConnection()  # type: ignore[no-untyped-call]
    else:
        client.stopConnecting()  # type: ignore[no-untyped-call]


def _reactor() -> Any:
    from twisted.internet import reactor  # noqa: PLC0415 - importing it installs one

    return reactor
