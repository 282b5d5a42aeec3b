"""Keeps on the disk what is subscribed, for a server that loses its data (`scrapy restore`)."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from feedcrawl.extensions.base import Periodic
from feedcrawl.store.disk.files import DiskUnavailable
from feedcrawl.store.redis.errors import ServerRefused, StoreUnavailable

if TYPE_CHECKING:
    from scrapy import Spider

logger = logging.getLogger(__name__)

FIRST_SEC = 5.0
AGAIN_SEC = 30.0
"""Until the first look, and until the next where it could not be taken."""


class Snapshot(Periodic):
    """In spiders that take polls: soon after the start, then at intervals, and at the end. A thread does the work."""

    first_sec = FIRST_SEC

    def serves(self, spider: Spider) -> bool:
        """True for spiders that take polls."""
        return "poll" in getattr(spider, "lanes", ())

    async def spider_closed(self) -> None:
        """The last one, if it takes no time."""
        await super().spider_closed()
        if self._running is not None:
            await self._take(at_end=True)

    async def step(self) -> float:
        """Takes one if it is due."""
        return await self._take()

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
