"""Keeps on the disk what is subscribed, for a server that loses its data (`scrapy restore`)."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Self

from scrapy import signals

from feedcrawl import wiring
from feedcrawl.store.disk.files import DiskUnavailable
from feedcrawl.store.redis.errors import ServerRefused, StoreUnavailable

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

    from feedcrawl.wiring import Wiring

logger = logging.getLogger(__name__)

FIRST_SEC = 5.0
AGAIN_SEC = 30.0
"""Until the first look, and until the next where it could not be taken."""


class Snapshot:
    """In spiders that take polls: soon after the start, then at intervals, and at the end. A thread does the work."""

    def __init__(self, crawler: Crawler, wired: Wiring) -> None:
        self._wired = wired
        self._running: asyncio.Future[None] | None = None
        crawler.signals.connect(self.spider_opened, signals.spider_opened)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Shares the crawler's stores."""
        return cls(crawler, wiring.of(crawler))

    def spider_opened(self, spider: Spider) -> None:
        """Begins."""
        if "poll" in getattr(spider, "lanes", ()):
            self._running = asyncio.ensure_future(self._run())

    async def spider_closed(self) -> None:
        """The last one, if something is to be said that takes no time."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])
            await self._take(at_end=True)

    async def _run(self) -> None:
        await asyncio.sleep(FIRST_SEC)
        while True:
            await asyncio.sleep(await self._take())

    async def _take(self, *, at_end: bool = False) -> float:
        """Takes one if it is due, or at the end if it is cheap; seconds until the next."""
        wired = self._wired
        if wired.readiness.trouble is not None:
            return AGAIN_SEC
        try:
            wait = await asyncio.to_thread(wired.snapshots.due_in, wired.now().timestamp())
            if wait <= 0 or (at_end and await asyncio.to_thread(wired.snapshots.is_cheap)):
                await asyncio.to_thread(wired.snapshots.save)
        except (StoreUnavailable, DiskUnavailable, ServerRefused) as error:
            wired.readiness.note(error)
            logger.warning("snapshot_not_taken", extra={"reason": error.code, "detail": error.detail})
            return AGAIN_SEC
        return max(wait, 1.0)
