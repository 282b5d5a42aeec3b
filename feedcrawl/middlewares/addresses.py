"""Refuses what the text of a URL already tells, and counts all that was refused (order 10, before everything else)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.domain.addresses import DENIED_PORTS, parse_networks, parse_ports, url_refusal
from feedcrawl.exceptions import AddressRefused

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from feedcrawl.domain.addresses import Network

__all__ = ["AddressMiddleware", "AddressRefused"]

STAT = "feedcrawl/address_refused"


class AddressMiddleware:
    """A courtesy: it saves the turn and the lookup, and judges scheme and port, which the resolver does not know.

    The resolver has the last word, for this sees a URL and not what is dialled. Its refusals pass here too.
    """

    def __init__(self, stats: StatsCollector, opened: tuple[Network, ...], denied_ports: Collection[int]) -> None:
        self._stats = stats
        self._opened = opened
        self._denied_ports = denied_ports

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Reads FEEDCRAWL_ALLOW_NETWORKS and FEEDCRAWL_DENY_PORTS; ValueError for a rule that cannot be read."""
        assert crawler.stats
        networks, ports = (
            ",".join(crawler.settings.getlist(name)) for name in ("FEEDCRAWL_ALLOW_NETWORKS", "FEEDCRAWL_DENY_PORTS")
        )
        return cls(crawler.stats, parse_networks(networks), DENIED_PORTS | parse_ports(ports))

    def process_request(self, request: Request) -> None:
        """AddressRefused for a URL that no answer of a resolver could make right."""
        refusal = url_refusal(request.url, self._opened, self._denied_ports)
        if refusal:
            raise AddressRefused(f"{refusal}: {request.url}")

    def process_exception(self, request: Request, exception: Exception) -> None:  # noqa: ARG002 - Scrapy's signature
        """Counts refusals, whoever spoke them."""
        if isinstance(exception, AddressRefused):
            self._stats.inc_value(STAT)
