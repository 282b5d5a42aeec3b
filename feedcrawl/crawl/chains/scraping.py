"""The output of a callback on its way from the spider middlewares to the pipelines, without tasks of its own.

Scrapy starts one task that reads the output, CONCURRENT_ITEMS tasks that process it, and a queue between them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from scrapy.core.scraper import Scraper
from scrapy.utils.defer import aiter_errback

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request
    from scrapy.http import Response
    from twisted.python.failure import Failure


class PlainScraper(Scraper):
    """Scrapy's scraper; with CONCURRENT_ITEMS = 1 each output is processed before the next is read."""

    async def handle_spider_output_async(
        self, result: Iterable[Any] | AsyncIterator[Any], request: Request, response: Response | Failure
    ) -> None:
        """Pass requests to the engine and items to the pipelines, in order."""
        if self.concurrent_items != 1 or not isinstance(result, AsyncIterator):
            await super().handle_spider_output_async(result, request, response)
            return
        async for output in aiter_errback(result, self.handle_spider_error, request, response):
            await self._process_spidermw_output_async(output, response)
