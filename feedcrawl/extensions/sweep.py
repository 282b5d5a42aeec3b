"""Looks each minute that every feed has its future: one worker of the fleet at a time, a little at a time."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import DontCloseSpider

from feedcrawl import wiring
from feedcrawl.services.operations.sweeper import PAGE
from feedcrawl.services.subscriptions import catch_up
from feedcrawl.store.redis.errors import StoreUnavailable

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

    from feedcrawl.wiring import Wiring

logger = logging.getLogger(__name__)

EVERY_SEC = 60.0
PAGE_SEC = 0.05
"""Time between two pages: 5 000 feeds a second, of which the server works 4 % of the time."""
CONFIRM_SEC = 1.0
CHEAP = 10_000
"""Feeds that a run with an end looks at; it may not wait longer than two seconds for that."""


class Sweep:
    """Runs in workers that stay, and once at the start of others."""

    def __init__(self, crawler: Crawler, wired: Wiring) -> None:
        assert crawler.stats is not None
        self._stats = crawler.stats
        worker = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._wired = wired
        self._sweeper = wired.sweeper(worker)
        self._running: asyncio.Future[None] | None = None
        self._once = True

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Listens for the spider's beginning and end."""
        extension = cls(crawler, wiring.of(crawler))
        crawler.signals.connect(extension.spider_opened, signals.spider_opened)
        crawler.signals.connect(extension.spider_idle, signals.spider_idle)
        crawler.signals.connect(extension.spider_closed, signals.spider_closed)
        return extension

    def spider_opened(self, spider: Spider) -> None:
        """Begins, where the spider takes polls."""
        if "poll" in getattr(spider, "lanes", ()):
            self._once = not getattr(spider, "forever", False)
            self._running = asyncio.ensure_future(self._run())

    def spider_idle(self, spider: Spider) -> None:  # noqa: ARG002 - the signal's argument
        """Keeps a run with an end until the look at its start is over: it may bring work."""
        if self._once and self._running is not None and not self._running.done():
            raise DontCloseSpider

    async def spider_closed(self) -> None:
        """Stops wherever it is."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])

    async def _run(self) -> None:
        while True:
            try:
                await self._pass()
            except StoreUnavailable as error:
                logger.debug("sweep_waits", extra={"reason": error.code})  # the scheduler pauses and says so
            if self._once:
                return
            await asyncio.sleep(EVERY_SEC)

    async def _pass(self) -> None:
        if self._wired.readiness.trouble is not None:
            return
        if self._once and await asyncio.to_thread(self._sweeper.count) > CHEAP:
            return
        if not await asyncio.to_thread(self._sweeper.begin):
            return
        if not self._once:  # a run with an end polls all that is due
            wired = self._wired
            await asyncio.to_thread(catch_up.spread_overdue, wired.registry, wired.frontier, wired.now())
        pages, suspects = self._sweeper.pages(), list[str]()
        while (page := await asyncio.to_thread(next, pages, None)) is not None:
            suspects += page
            if len(suspects) >= PAGE:
                suspects = await self._repair(suspects)
            await asyncio.sleep(PAGE_SEC)
        await self._repair(suspects)
        self._stats.inc_value("feedcrawl/sweeps")

    async def _repair(self, suspects: list[str]) -> list[str]:
        """None left."""
        if suspects:
            await asyncio.sleep(CONFIRM_SEC)
            repaired = await asyncio.to_thread(self._sweeper.repair, suspects)
            self._stats.inc_value("feedcrawl/without_future", repaired)
            self._wired.leases.on_change(0)
        return []
