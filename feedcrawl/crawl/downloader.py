"""Scrapy's downloader and scraper without the tasks and queues that a crawl without delays does not need.

The frontier paces hosts: a request that reaches the downloader may be sent at once, and a response has one item.
Scrapy nevertheless queues each request for a task that takes it out and passes the response back by two futures, and
starts two tasks and a queue for the items of each response.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.core.downloader import Downloader
from scrapy.core.scraper import Scraper
from scrapy.utils.asyncgen import as_async_generator
from scrapy.utils.defer import aiter_errback, deferred_from_coro

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from scrapy import Request, Spider
    from scrapy.http import Response
    from twisted.internet.defer import Deferred
    from twisted.python.failure import Failure


class DirectDownloader(Downloader):
    """Value for DOWNLOADER: sends a request at once, unless its slot is full or has a delay (DOWNLOAD_SLOTS)."""

    def fetch(self, request: Request, spider: Spider | None = None) -> Deferred[Response | Request]:  # noqa: ARG002 - Scrapy's interface
        """The response, or the request that a middleware returned in its place."""
        self.active.add(request)  # at once: the engine counts active requests before it takes the next one
        return deferred_from_coro(self._fetch(request))

    async def _fetch(self, request: Request) -> Response | Request:
        try:
            return await self.middleware.download_async(self._enqueue_request, request)
        finally:
            self.active.remove(request)

    async def _enqueue_request(self, request: Request) -> Response:
        key, slot = self._get_slot(request)
        if slot.delay or slot.queue or slot.free_transfer_slots() <= 0:
            return await super()._enqueue_request(request)
        request.meta[self.DOWNLOAD_SLOT] = key
        slot.active.add(request)
        slot.lastseen = monotonic()
        self.signals.send_catch_log(signals.request_reached_downloader, request=request, spider=self.crawler.spider)
        try:
            return await self._download(slot, request)
        finally:
            slot.active.remove(request)


class InTurnScraper(Scraper):
    """Passes on the items of a response one after the other, if CONCURRENT_ITEMS is 1."""

    async def handle_spider_output_async(
        self, result: Iterable[object] | AsyncIterator[object], request: Request, response: Response | Failure
    ) -> None:
        """Pass the items and requests of a callback to pipelines and scheduler."""
        if self.concurrent_items > 1:
            await super().handle_spider_output_async(result, request, response)
            return
        items = as_async_generator(result)
        async for each in aiter_errback(items, self.handle_spider_error, request, response):
            await self._process_spidermw_output_async(each, response)
