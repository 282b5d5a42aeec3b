"""Judges each response and failure of a leased request, and frees the host's slot (order 550, after redirects)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from feedcrawl import wiring
from feedcrawl.crawl.verdict import Verdicts

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class OutcomeMiddleware:
    """In place of Scrapy's RetryMiddleware: a failure is judged once, and its retry waits in the frontier."""

    def __init__(self, verdicts: Verdicts) -> None:
        self._verdicts = verdicts

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Shares the crawler's leases."""
        assert crawler.stats is not None
        wired = wiring.of(crawler)
        return cls(Verdicts(wired.leases, crawler.stats, wired.now))

    def process_response(self, request: Request, response: Response) -> Response:
        """The response, judged by its status; a hub's delivery is not judged, since the host did not send it."""
        if "lease" in request.meta and "delivery" not in request.meta:
            self._verdicts.answered(request, response)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Judges the failure and leaves it to the errback."""
        if "lease" in request.meta:
            self._verdicts.failed(request, exception)
