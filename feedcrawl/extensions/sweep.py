"""Checks each minute that every feed has a future task: in one worker of the fleet at a time, page by page."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import DontCloseSpider

from feedcrawl.extensions.base import Periodic
from feedcrawl.services.operations.sweeper import PAGE
from feedcrawl.services.subscriptions import catch_up
from feedcrawl.store.redis.errors import StoreUnavailable

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

EVERY_SEC = 60.0
PAGE_SEC = 0.05
"""Time between two pages: 5 000 feeds a second, which keeps the server busy for 4 % of the time."""
CONFIRM_SEC = 1.0
CHEAP = 10_000
"""Most feeds that a run with an end checks, so that it waits at most two seconds for the check."""


class Sweep(Periodic):
    """Repeats the check in workers that stay; checks once at the start of other runs."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._sweeper = self._wired.sweeper
        self._once = True
        crawler.signals.connect(self.spider_idle, signals.spider_idle)

    def serves(self, spider: Spider) -> bool:
        """True for spiders that take polls."""
        self._once = not getattr(spider, "forever", False)
        return "poll" in getattr(spider, "lanes", ())

    def spider_idle(self, spider: Spider) -> None:  # noqa: ARG002 - the signal's argument
        """Keeps a run with an end open until the check at its start is over, since the check may add tasks."""
        if self._once and self._running is not None and not self._running.done():
            raise DontCloseSpider

    async def step(self) -> float | None:
        """Checks all feeds once."""
        try:
            await self._pass()
        except StoreUnavailable as error:
            logger.debug("sweep_waits", extra={"reason": error.code})  # the scheduler pauses and logs the reason
        return None if self._once else EVERY_SEC

    async def _pass(self) -> None:
        if self._wired.readiness.trouble is not None:
            return
        if self._once and await asyncio.to_thread(self._sweeper.count) > CHEAP:
            return
        if not await asyncio.to_thread(self._sweeper.begin):
            return
        if not self._once:  # a run with an end polls every due feed, so it spreads none
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
        """Repairs the suspects that still have no future task a second later; returns an empty list."""
        if suspects:
            await asyncio.sleep(CONFIRM_SEC)
            repaired = await asyncio.to_thread(self._sweeper.repair, suspects)
            self._stats.inc_value("feedcrawl/without_future", repaired)
            self._wired.leases.on_change(0)
        return []
