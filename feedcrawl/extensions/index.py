"""Keeps the search index while a spider runs: one process of a data directory at a time writes it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured

from feedcrawl import wiring
from feedcrawl.services.operations.consumer import log_failure

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

    from feedcrawl.services.operations.consumer import Consumer

LAST_SEC = 10.0
"""The time limit, in seconds, for the documents left when a spider ends; the next process indexes the rest."""


class Index:
    """Runs the consumer of the event stream in threads beside the event loop."""

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self._stop = asyncio.Event()
        self._running: asyncio.Future[bool] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Shares the crawler's stores; NotConfigured without an embedded index."""
        consumer = wiring.of(crawler).indexer()
        if consumer is None:
            raise NotConfigured
        extension = cls(consumer)
        crawler.signals.connect(extension.spider_opened, signals.spider_opened)
        crawler.signals.connect(extension.spider_closed, signals.spider_closed)
        return extension

    def spider_opened(self, spider: Spider) -> None:
        """Starts to index, for the spiders that take tasks."""
        if getattr(spider, "lanes", ()):
            self._running = asyncio.ensure_future(self._consumer.run(self._stop))
            self._running.add_done_callback(log_failure)

    async def spider_closed(self) -> None:
        """Indexes what the spider has stored, as far as the time allows."""
        if self._running is not None:
            self._consumer.finish()
            await asyncio.wait([self._running], timeout=LAST_SEC)
            self._stop.set()
            await asyncio.wait([self._running])
