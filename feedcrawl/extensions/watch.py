"""Checks Redis and the disk regularly; the scheduler pauses while one of them is in trouble."""

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
"""Time between two checks: normally, and while there is trouble."""
TICK_SEC = 0.5


class Watch(Periodic):
    """Checks in a thread: a server or a disk that hangs must not block the event loop."""

    first_sec = TICK_SEC

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._looked_at = time.monotonic() - LOOK_SEC + TROUBLED_SEC
        self._looking = False

    def spider_opened(self, spider: Spider) -> None:
        """Removes half-written files that a kill left, and starts the checks."""
        try:
            sweep(self._wired.config.data_dir, self._wired.now().timestamp())
        except DiskUnavailable as error:
            logger.warning("not_swept", extra={"reason": error.code, "detail": error.detail})
        super().spider_opened(spider)

    async def spider_closed(self) -> None:
        """Checks once more, so that a short run has had a check."""
        looking = self._looking
        await super().spider_closed()
        if not looking and self._wired.readiness.trouble is None:
            await asyncio.to_thread(self._wired.readiness.check)

    async def step(self) -> float:
        """Runs the check if one is due; checks are more frequent during trouble."""
        wait = LOOK_SEC if self._wired.readiness.trouble is None else TROUBLED_SEC
        if time.monotonic() - self._looked_at >= wait:
            self._looking = True
            await to_its_end(self._wired.readiness.check)
            self._looking = False
            self._looked_at = time.monotonic()
        return TICK_SEC
