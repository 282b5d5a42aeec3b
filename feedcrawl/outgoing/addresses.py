"""Addresses at both ends of a connection: those that the guard lets be dialled, and those of this machine."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Final

from feedcrawl.exceptions import AddressRefused
from feedcrawl.outgoing.reactor import running_reactor

if TYPE_CHECKING:
    from twisted.internet.address import IPv4Address, IPv6Address

UNASSIGNED: Final = "192.0.2.1"
"""An address that no machine has (RFC 5737)."""


class _Answer:
    """Collects the addresses that Twisted's resolver returns (IResolutionReceiver), as a future."""

    def __init__(self) -> None:
        self.addresses: asyncio.Future[tuple[str, ...]] = asyncio.get_running_loop().create_future()
        self._found: list[str] = []

    def resolutionBegan(self, resolutionInProgress: object) -> None:  # noqa: N802, N803 - Twisted's interface
        """Nothing to do: the resolver limits the time of a lookup itself."""

    def addressResolved(self, address: IPv4Address | IPv6Address) -> None:  # noqa: N802
        """Keep an address, or the refusal that reading the address raises."""
        try:
            self._found.append(address.host)
        except AddressRefused as refusal:
            if not self.addresses.done():
                self.addresses.set_exception(refusal)

    def resolutionComplete(self) -> None:  # noqa: N802
        """All addresses have arrived."""
        if not self.addresses.done():
            self.addresses.set_result(tuple(self._found))


async def guarded_addresses(host: str) -> tuple[str, ...]:
    """The addresses of a name or literal that may be dialled, from the reactor's resolver; raises AddressRefused."""
    answer = _Answer()
    running_reactor().nameResolver.resolveHostName(answer, host)
    return await answer.addresses


def is_own(address: str) -> bool:
    """True if the address is known to belong to this machine; always False where any address can be bound."""
    return may_bind(address) and not may_bind(UNASSIGNED)


def may_bind(address: str) -> bool:
    """True if the address belongs to this machine: no other can be bound (unless net.ipv4.ip_nonlocal_bind is on)."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True
