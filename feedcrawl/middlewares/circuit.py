"""Probes a host whose circuit is half-open with one light request, before the task's own request (order 60)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy import Request
from scrapy.utils.asyncio import sleep

from feedcrawl import wiring
from feedcrawl.crawl import robots_gate
from feedcrawl.crawl.failures import failure_name
from feedcrawl.domain.frontier.outcome import probe_signal
from feedcrawl.domain.urls import origin
from feedcrawl.exceptions import CircuitOpen, RouteFailed
from feedcrawl.outgoing.routes import ROUTE_OF

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from feedcrawl.crawl.robots_gate import RobotsGate
    from feedcrawl.services.frontier.leases import Leases


class CircuitMiddleware:
    """Sends HEAD to the host's root for a lease that is a probe; raises CircuitOpen if the host still fails."""

    def __init__(self, crawler: Crawler, leases: Leases, timeout_sec: float, gate: RobotsGate) -> None:
        assert crawler.stats is not None
        self._crawler = crawler
        self._stats = crawler.stats
        self._leases = leases
        self._timeout_sec = timeout_sec
        self._gate = gate

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Reads FEEDCRAWL_ROBOTS_TIMEOUT_SEC: a probe has the time limit of a robots.txt."""
        wired = wiring.of(crawler)
        return cls(crawler, wired.leases, wired.config.robots_timeout_sec, robots_gate.of(crawler))

    async def process_request(self, request: Request) -> None:
        """For a probe: sends the HEAD request, then waits for the host's delay; a robots.txt that failed is requested
        anew. Other requests pass at once.
        """
        lease = request.meta.get("lease")
        if lease is None or not lease.probe or request.meta.get("probed"):
            return
        request.meta["probed"] = True
        result = await self._probe(request.url, lease.task.source)
        failed = probe_signal(result) == "site"
        self._stats.inc_value(f"feedcrawl/circuit/probes/{'failure' if failed else 'success'}")
        if failed:
            raise CircuitOpen(f"{lease.task.host} still fails: {result}")
        self._gate.outdate(request.url)
        await sleep(self._leases.turn(lease) or 0)

    async def _probe(self, url: str, source: str | None) -> int | str:
        assert self._crawler.engine is not None
        meta = {
            "dont_obey_robotstxt": True,
            "download_timeout": self._timeout_sec,
            "handle_httpstatus_all": True,
            ROUTE_OF: source,
        }
        probe = Request(f"{origin(url)}/", method="HEAD", meta=meta, dont_filter=True)
        try:
            response = await self._crawler.engine.download_async(probe)
        except RouteFailed:
            raise  # the host was not reached: the probe has no result
        except Exception as error:  # noqa: BLE001 - whatever failed, the host has not answered
            return failure_name(error)
        return int(response.status)
