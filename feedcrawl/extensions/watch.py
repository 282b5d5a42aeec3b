"""Looks regularly whether Redis and the disk are as they must be; the scheduler pauses while they are not."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from feedcrawl import wiring
from feedcrawl.store.disk.files import DiskUnavailable, sweep

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from feedcrawl.wiring import Wiring

logger = logging.getLogger(__name__)

LOOK_SEC = 15.0
TROUBLED_SEC = 2.0
"""Time between two looks, and while something is wrong."""
TICK_SEC = 0.5


class Watch:
    """The looks are a thread's work: a server or a disk that hangs must not hold up the event loop."""

    def __init__(self, crawler: Crawler, wired: Wiring) -> None:
        self._wired = wired
        self._looked_at = time.monotonic() - LOOK_SEC + TROUBLED_SEC
        self._looking: asyncio.Future[None] | None = None
        self._loop = create_looping_call(self._tick)
        crawler.signals.connect(self.spider_opened, signals.spider_opened)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Shares the crawler's stores."""
        return cls(crawler, wiring.of(crawler))

    def spider_opened(self) -> None:
        """Removes what a kill left half written, and begins."""
        try:
            sweep(self._wired.config.data_dir, time.time())
        except DiskUnavailable as error:
            logger.warning("not_swept", extra={"reason": error.code, "detail": error.detail})
        self._loop.start(TICK_SEC, now=False)

    async def spider_closed(self) -> None:
        """A last look, so that a short run has had one."""
        self._loop.stop()
        if self._looking is not None:
            await self._looking
        elif self._wired.readiness.trouble is None:
            await asyncio.to_thread(self._wired.readiness.look)

    def _tick(self) -> None:
        wait = LOOK_SEC if self._wired.readiness.trouble is None else TROUBLED_SEC
        if (self._looking is None or self._looking.done()) and time.monotonic() - self._looked_at >= wait:
            self._looking = asyncio.ensure_future(self._look())

    async def _look(self) -> None:
        await asyncio.to_thread(self._wired.readiness.look)
        self._looked_at = time.monotonic()
