"""Saves the subscriptions to disk, from which `scrapy restore` fills a server that has lost its data."""

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
"""Time before the first check, and before the next check after a failure."""


class Snapshot(Periodic):
    """Saves in spiders that take polls: soon after the start, at intervals, and at the end; in a thread."""

    first_sec = FIRST_SEC

    def serves(self, spider: Spider) -> bool:
        """True for spiders that take polls."""
        return "poll" in getattr(spider, "lanes", ())

    async def spider_closed(self) -> None:
        """Saves a last snapshot, if that is cheap."""
        await super().spider_closed()
        if self._running is not None:
            await self._take(at_end=True)

    async def step(self) -> float:
        """Saves a snapshot if one is due."""
        return await self._take()

    async def _take(self, *, at_end: bool = False) -> float:
        """Saves a snapshot if one is due, or at the end if it is cheap; returns the seconds until the next check."""
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
