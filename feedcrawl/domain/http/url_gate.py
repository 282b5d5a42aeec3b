"""What may be asked for by whoever names a URL: judged by its text alone, for nothing is resolved or dialled here."""

from __future__ import annotations

from typing import Final

from feedcrawl.domain.addresses import DENIED_PORTS, parse_networks, parse_ports, url_refusal
from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.urls import resolve

_DETAILS: Final = {
    "url_address": "the host is an address that is not public: FEEDCRAWL_ALLOW_NETWORKS opens networks",
    "url_port": "no web server is asked on this port",
}
_CODES: Final = {"url_address": "address_refused"}
"""An address is refused under the code that a name gets which turns out to lead there."""


class Gate:
    """Opened by FEEDCRAWL_ALLOW_NETWORKS, closed by FEEDCRAWL_DENY_PORTS; ValueError for a rule that cannot be read."""

    def __init__(self, allow_networks: str, deny_ports: str) -> None:
        self._opened = parse_networks(allow_networks)
        self._denied = DENIED_PORTS | parse_ports(deny_ports)

    def passed(self, url: str) -> str:
        """The URL that would be fetched; InvalidUrl (`url_…` or `address_refused`) where its text refuses it already.

        Names pass: they are judged when they are dialled, and end dead as `address_refused`.
        """
        resolved = resolve(url)
        refusal = url_refusal(resolved, self._opened, self._denied)
        if refusal is not None:
            raise InvalidUrl(
                _CODES.get(refusal, refusal), _DETAILS.get(refusal, f"{resolved[:80]!r} cannot be fetched")
            )
        return resolved
