"""Checks robots.txt before a page is requested (order 100)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

from scrapy import signals
from scrapy.exceptions import StopDownload
from scrapy.utils.asyncio import sleep

from feedcrawl import wiring
from feedcrawl.crawl import robots_gate
from feedcrawl.exceptions import CrawlDelayLearned

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from feedcrawl.crawl.robots_gate import RobotsGate
    from feedcrawl.services.frontier.leases import Leases


NEAR_SEC: Final = 2.0


class RobotsMiddleware:
    """Raises RobotsBlocked for a forbidden URL; RobotsUnavailable, RobotsElsewhere or CrawlDelayLearned for a URL that
    must wait.

    Requests with `dont_obey_robotstxt` are not checked: subscribed feeds, sitemaps, robots.txt itself.
    """

    def __init__(self, gate: RobotsGate, leases: Leases) -> None:
        self._gate = gate
        self._leases = leases

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Shares the crawler's gate and leases."""
        crawler.signals.connect(stop_at_first_bytes, signals.bytes_received)
        return cls(robots_gate.of(crawler), wiring.of(crawler).leases)

    async def process_request(self, request: Request) -> None:
        """Fetches the host's robots.txt if it is unknown, which uses the request's turn, and then waits for the next
        turn.

        If the next turn is more than `NEAR_SEC` away, the task waits in the frontier, where it occupies no downloader
        slot.
        """
        if request.meta.get("dont_obey_robotstxt"):
            return
        lease = request.meta.get("lease")
        was_fetched = await self._gate.check(request.url, lease)
        if lease is not None and self._gate.has_just_paced(request.url):
            raise CrawlDelayLearned(f"crawl_delay: {request.url}")
        if lease is None or not was_fetched:
            return
        wait = self._leases.turn(lease) or 0
        if wait > NEAR_SEC:
            raise CrawlDelayLearned(f"crawl_delay: {request.url}")
        await sleep(wait)


def stop_at_first_bytes(data: bytes, request: Request) -> None:
    """Ends a download after `meta["first_bytes"]` bytes; the response has the bytes received so far."""
    first_bytes = request.meta.get("first_bytes")
    if first_bytes is None:
        return
    request.meta["bytes_got"] = request.meta.get("bytes_got", 0) + len(data)
    if request.meta["bytes_got"] >= first_bytes:
        raise StopDownload(fail=False)
