"""Looks regularly whether Redis and the disk are as they must be; the scheduler pauses while they are not."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from feedcrawl.extensions.base import Periodic, to_its_end
from feedcrawl.store.disk.files import DiskUnavailable, sweep

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

LOOK_SEC = 15.0
TROUBLED_SEC = 2.0
"""Time between two looks, and while something is wrong."""
TICK_SEC = 0.5


class Watch(Periodic):
    """The looks are a thread's work: a server or a disk that hangs must not hold up the event loop."""

    first_sec = TICK_SEC

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._looked_at = time.monotonic() - LOOK_SEC + TROUBLED_SEC
        self._looking = False

    def spider_opened(self, spider: Spider) -> None:
        """Removes what a kill left half written, and begins."""
        try:
            sweep(self._wired.config.data_dir, self._wired.now().timestamp())
        except DiskUnavailable as error:
            logger.warning("not_swept", extra={"reason": error.code, "detail": error.detail})
        super().spider_opened(spider)

    async def spider_closed(self) -> None:
        """A last look, so that a short run has had one."""
        looking = self._looking
        await super().spider_closed()
        if not looking and self._wired.readiness.trouble is None:
            await asyncio.to_thread(self._wired.readiness.look)

    async def step(self) -> float:
        """A look, if it is time for one: sooner while something is wrong."""
        wait = LOOK_SEC if self._wired.readiness.trouble is None else TROUBLED_SEC
        if time.monotonic() - self._looked_at >= wait:
            self._looking = True
            await to_its_end(self._wired.readiness.look)
            self._looking = False
            self._looked_at = time.monotonic()
        return TICK_SEC
