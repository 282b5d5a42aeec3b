"""Removes files that are too old while a crawl runs: once a day for each data directory, in a thread."""

from __future__ import annotations

import logging
import threading
from dataclasses import asdict
from typing import TYPE_CHECKING

from feedcrawl.extensions.base import Periodic, to_its_end
from feedcrawl.services.archive import retention
from feedcrawl.store.disk.files import DiskUnavailable

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

LOOK_SEC = 3600.0


class Retention(Periodic):
    """Tries at the start and each hour; a day's first worker does the work. A pass stops with the spider."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._stop = threading.Event()

    async def spider_closed(self) -> None:
        """Stops the pass after the file that is being removed, and waits for that."""
        self._stop.set()
        await super().spider_closed()

    async def step(self) -> float:
        """Runs a pass, if none ran today."""
        await to_its_end(self._pass)
        return LOOK_SEC

    def _pass(self) -> None:
        wired = self._wired
        try:
            removed = retention.apply(wired.config, wired.now().date(), self._stop.is_set)
        except DiskUnavailable as error:
            logger.warning("retention_failed", extra={"reason": error.code, "path": str(error.path)})
            return
        if removed is not None:
            logger.info("retention", extra=asdict(removed))
