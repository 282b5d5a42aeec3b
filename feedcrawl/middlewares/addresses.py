"""Refuses URLs whose text shows that they must not be requested, and counts all address refusals (order 10)."""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from feedcrawl.domain.addresses import denied_ports, parse_networks, url_refusal
from feedcrawl.domain.http.url_gate import in_words
from feedcrawl.domain.urls import MAX_URL_LENGTH
from feedcrawl.exceptions import AddressRefused

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from feedcrawl.domain.addresses import Network

STAT = "feedcrawl/address_refused"
HOSTS = 10_000
# A URL of which only the authority could be refused: its path cannot be misread, nor become too long when it is
# escaped.
_PLAIN = re.compile(rf"(https?://[A-Za-z0-9.:-]{{1,255}}/)[!-~]{{0,{MAX_URL_LENGTH // 3 - 300}}}")


class AddressMiddleware:
    """Refuses a bad URL early, which saves the host's turn and the DNS lookup; checks scheme and port, which the
    resolver does not see.

    The resolver decides about addresses, since only it knows which address will be connected to. The middleware counts
    its refusals too.
    """

    def __init__(self, stats: StatsCollector, opened: tuple[Network, ...], denied_ports: Collection[int]) -> None:
        self._stats = stats
        self._refusal = partial(url_refusal, opened=opened, denied=denied_ports)
        self._root_refusal = lru_cache(HOSTS)(self._refusal)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Reads FEEDCRAWL_ALLOW_NETWORKS and FEEDCRAWL_DENY_PORTS; ValueError for a rule that cannot be read."""
        assert crawler.stats
        networks, ports = (
            ",".join(crawler.settings.getlist(name)) for name in ("FEEDCRAWL_ALLOW_NETWORKS", "FEEDCRAWL_DENY_PORTS")
        )
        return cls(crawler.stats, parse_networks(networks), denied_ports(ports))

    def process_request(self, request: Request) -> None:
        """Raises AddressRefused for a URL that must be refused whatever its host resolves to."""
        plain = _PLAIN.fullmatch(request.url)
        refusal = self._root_refusal(plain[1]) if plain else self._refusal(request.url)
        if refusal:
            raise AddressRefused(in_words(refusal, request.url))

    def process_exception(self, request: Request, exception: Exception) -> None:  # noqa: ARG002 - Scrapy's signature
        """Counts address refusals, both from this middleware and from the resolver."""
        if isinstance(exception, AddressRefused):
            self._stats.inc_value(STAT)
