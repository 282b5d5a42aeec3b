"""Reads URLs from other programs' queues and category links while a spider runs; delivers dead letters to them."""

from __future__ import annotations

import asyncio
import logging
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.asyncio import sleep

from feedcrawl.extensions.base import Periodic
from feedcrawl.services.operations.inputs import Inputs
from feedcrawl.store.disk.files import DiskUnavailable
from feedcrawl.store.redis.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

LINKS_SEC = 30.0
"""Time between two reads of the links of the categories."""
STEPS = 500
"""Steps of a read, of which each is a command or a few: a store of up to some 200 000 keys is searched whole at each
read, a larger one in several. The first read of a run is a whole pass.
"""


class InputExtension(Periodic):
    """Works for spiders that take pages from the frontier. A spider does not end while there is input to read."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._links_at = float("-inf")
        self._scanning = False
        self._inputs: Inputs | None = None
        self._pass: Iterator[int | None] | None = None
        crawler.signals.connect(self.spider_idle, signals.spider_idle)

    def serves(self, spider: Spider) -> bool:
        """True for spiders that take pages."""
        return "page" in getattr(spider, "lanes", ())

    def spider_opened(self, spider: Spider) -> None:
        """Starts the regular reads; the first one recovers URLs that an earlier run took and did not enqueue."""
        if self.serves(spider):
            wired = self._wired
            stores = (wired.client, wired.leases, wired.articles)
            self._inputs = Inputs(
                *stores,
                worker=wired.worker,
                now=wired.now,
                repeats=wired.repeats,
                ahead=wired.config.queue_ahead,
                queue=wired.config.queue_name,
                dlq_name=wired.config.dlq_name,
                count=lambda number: self._stats.inc_value("feedcrawl/inputs/known", number),
                sources=lambda: wired.sources,
            )
        super().spider_opened(spider)

    def spider_idle(self, spider: Spider) -> None:  # noqa: ARG002 - the signal's argument
        """Keeps the spider open while links are being read or a URL was just read from the queue."""
        ready = self._wired.readiness.trouble is None
        if self._scanning or (self._inputs is not None and ready and self._take(self._inputs)):
            raise DontCloseSpider

    async def spider_closed(self) -> None:
        """Stops reading, and delivers the last dead letters."""
        await super().spider_closed()
        if self._wired.readiness.trouble is None:
            self._dead_letters()

    async def step(self) -> float:
        """Reads the inputs once, except while the crawl pauses: the server may then be another one."""
        assert self._inputs is not None
        if self._wired.readiness.trouble is None:
            if monotonic() >= self._links_at and not self._scanning:
                self._links_at, self._scanning = monotonic() + LINKS_SEC, True
                self._scan = asyncio.ensure_future(self._read_links(self._inputs))
            self._take(self._inputs)
            self._dead_letters()
        return self._wired.config.queue_poll_sec

    async def _read_links(self, inputs: Inputs) -> None:
        try:
            await self._read(inputs)
            await self._wired.source_book.sync(self._wired.source_stores)
        except StoreUnavailable as error:
            logger.debug("inputs_wait", extra={"reason": error.code})
        finally:
            self._scanning = False

    async def _read(self, inputs: Inputs) -> None:
        """Goes on with the pass through the keys, from where the last read ended."""
        if self._pass is None:
            self._pass, steps = inputs.passes(), None
        else:
            steps = STEPS
        try:
            for new in islice(self._pass, steps):
                if new is None:
                    break
                self._count(new)
                await sleep(0)
        except StoreUnavailable:
            self._pass = None  # a new pass, as what is left of this one is not known
            raise

    def _take(self, inputs: Inputs) -> int:
        try:
            taken = inputs.from_queue()
        except StoreUnavailable:
            return 0  # the scheduler pauses and logs the reason
        self._count(taken)
        return taken

    def _dead_letters(self) -> None:
        try:
            moved = self._wired.dead_letter_service.deliver()
        except (StoreUnavailable, DiskUnavailable):  # the watch logs the reason; the dead letters wait
            return
        self._stats.inc_value("feedcrawl/dead_letters", moved)

    def _count(self, number: int) -> None:
        if number:
            self._stats.inc_value("feedcrawl/inputs", number)
