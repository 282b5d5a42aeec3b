"""Ends the tasks of plain pages once the callback's output has been passed on (spider middleware)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy import Request

from feedcrawl import wiring

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from feedcrawl.services.frontier.leases import Leases


class LeaseMiddleware:
    """Ends the task of a `page` when its callback finishes. Polls and articles end in the commit pipeline.

    After a kill a page may be fetched twice, so the callback's output must be safe to repeat; requests are.
    """

    def __init__(self, leases: Leases) -> None:
        self._leases = leases

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Shares the crawler's leases."""
        return cls(wiring.of(crawler).leases)

    async def process_spider_output(self, response: Response, result: AsyncIterator[object]) -> AsyncIterator[object]:
        """Yields the output unchanged, then ends the task."""
        lease = response.meta.get("lease")
        async for each in result:
            if isinstance(each, Request):
                each.meta.pop("lease", None)  # copied from the response; a new request is a new task
            yield each
        if lease is not None and lease.task.kind == "page" and self._leases.holds(lease):
            self._leases.done(lease, signal=response.meta.get("signal"))
