"""Asks robots.txt before a page (order 100)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from feedcrawl import robots
from feedcrawl.exceptions import CrawlDelayLearned

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from feedcrawl.robots import RobotsGate


class RobotsMiddleware:
    """RobotsBlocked, RobotsUnavailable or CrawlDelayLearned for a URL that may not, or not yet, be asked.

    Not asked for requests with `dont_obey_robotstxt`: subscribed feeds, sitemaps, robots.txt itself.
    """

    def __init__(self, gate: RobotsGate) -> None:
        self._gate = gate

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Shares the crawler's gate."""
        return cls(robots.of(crawler))

    async def process_request(self, request: Request) -> None:
        """Waits for the host's robots.txt if it is not known."""
        if not request.meta.get("dont_obey_robotstxt"):
            await self._gate.check(request.url)
            if "lease" in request.meta and self._gate.has_just_paced(request.url):
                raise CrawlDelayLearned(f"crawl_delay: {request.url}")
