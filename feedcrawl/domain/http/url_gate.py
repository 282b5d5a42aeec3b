"""URLs that a caller may request, judged by their text alone, without DNS lookup or connection."""

from __future__ import annotations

from typing import Final

from feedcrawl.domain.addresses import denied_ports, parse_networks, url_refusal
from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.urls import resolve

_DETAILS: Final = {
    "url_address": "the host is an address that is not public: FEEDCRAWL_ALLOW_NETWORKS allows networks",
    "url_port": "requests to this port are not allowed",
}
_CODES: Final = {"url_address": "address_refused"}
"""Reason codes as after a DNS lookup: an address in a URL is refused like a name that resolves to that address."""


class Gate:
    """The check of URLs by FEEDCRAWL_ALLOW_NETWORKS and FEEDCRAWL_DENY_PORTS; ValueError for an invalid rule."""

    def __init__(self, allow_networks: str, deny_ports: str) -> None:
        self.opened = parse_networks(allow_networks)
        self._denied = denied_ports(deny_ports)

    def passed(self, url: str) -> str:
        """The URL to fetch; InvalidUrl (`url_…` or `address_refused`) if the text of the URL forbids the request.

        Names pass: their addresses are checked at connection, where a refused task ends dead as `address_refused`.
        """
        resolved = resolve(url)
        refusal = url_refusal(resolved, self.opened, self._denied)
        if refusal is not None:
            raise InvalidUrl(_CODES.get(refusal, refusal), in_words(refusal, resolved))
        return resolved


def in_words(refusal: str, url: str) -> str:
    """The reason for which the text of a URL forbids the request, as a clause."""
    return _DETAILS.get(refusal, f"{url[:80]!r} cannot be fetched ({refusal})")
