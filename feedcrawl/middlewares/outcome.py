"""Judges each answer and failure of a leased request, and frees the host's slot (order 550, inside the redirects)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from feedcrawl import wiring
from feedcrawl.crawl.verdict import Verdicts

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class OutcomeMiddleware:
    """Stands where Scrapy's retries stood: what to do about a failure is decided once, and the frontier waits."""

    def __init__(self, verdicts: Verdicts) -> None:
        self._verdicts = verdicts

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Shares the crawler's leases."""
        assert crawler.stats is not None
        wired = wiring.of(crawler)
        return cls(Verdicts(wired.leases, crawler.stats, wired.now))

    def process_response(self, request: Request, response: Response) -> Response:
        """The response, judged by its status; a hub's delivery says nothing of the host."""
        if "lease" in request.meta and "delivery" not in request.meta:
            self._verdicts.answered(request, response)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """The failure goes on to the errback, judged."""
        if "lease" in request.meta:
            self._verdicts.failed(request, exception)
