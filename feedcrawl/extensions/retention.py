"""Removes what is too old while a crawl runs: once a day and data directory, in a thread."""

from __future__ import annotations

import asyncio
import logging
import threading
from dataclasses import asdict
from typing import TYPE_CHECKING, Self

from scrapy import signals

from feedcrawl import wiring
from feedcrawl.services.archive import retention
from feedcrawl.store.disk.files import DiskUnavailable

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

    from feedcrawl.wiring import Wiring

logger = logging.getLogger(__name__)

LOOK_SEC = 3600.0


class Retention:
    """At the start, then each hour: whoever comes first on a day does it. Ends with the spider, wherever it is."""

    def __init__(self, crawler: Crawler, wired: Wiring) -> None:
        self._wired = wired
        self._stop = threading.Event()
        self._running: asyncio.Future[None] | None = None
        crawler.signals.connect(self.spider_opened, signals.spider_opened)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Shares the crawler's settings."""
        return cls(crawler, wiring.of(crawler))

    def spider_opened(self, spider: Spider) -> None:  # noqa: ARG002 - the signal's argument
        """Begins."""
        self._running = asyncio.ensure_future(self._run())

    async def spider_closed(self) -> None:
        """Waits for the file in hand."""
        self._stop.set()
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])

    async def _run(self) -> None:
        while True:
            pass_ = asyncio.ensure_future(asyncio.to_thread(self._pass))
            try:
                await asyncio.shield(pass_)
            except asyncio.CancelledError:
                await pass_
                raise
            await asyncio.sleep(LOOK_SEC)

    def _pass(self) -> None:
        wired = self._wired
        try:
            removed = retention.apply(wired.config, wired.now().date(), self._stop.is_set)
        except DiskUnavailable as error:
            logger.warning("retention_failed", extra={"reason": error.code, "path": str(error.path)})
            return
        if removed is not None:
            logger.info("retention", extra=asdict(removed))
