"""Host names and addresses of a hosts(5) file."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def host_key(name: str) -> str:
    """The form in which host names are compared: lower case, without a trailing dot."""
    return name.lower().removesuffix(".")


def parse_hosts(text: str) -> Mapping[str, tuple[str, ...]]:
    """The addresses of each name in a hosts(5) text, in the order of its lines.

    ValueError names a line that cannot be read: if it were ignored, its names would go to public DNS without notice.
    """
    found: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        address, names = _entry(number, line)
        for name in map(host_key, names):
            if address not in found.get(name, ()):
                found[name] = (*found.get(name, ()), address)
    return found


def _entry(number: int, line: str) -> tuple[str, list[str]]:
    address, *names = line.partition("#")[0].split() or [""]
    if not address:
        return address, names
    try:
        ip_address(address)
    except ValueError:
        raise ValueError(f"line {number}: {address!r} is not an IP address") from None
    if not names:
        raise ValueError(f"line {number}: {address} has no name")
    return address, names
