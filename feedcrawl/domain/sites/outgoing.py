"""Outgoing routes: the local addresses and proxies by which requests leave, and the choice among them.

A host keeps its route as long as its connections may be kept open, so that a publisher sees one client; other hosts get
the next route in turn. A route that fails repeatedly has a circuit of its own and is left out while that is open.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final, Literal, cast, get_args
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Scheme = Literal["http", "socks5", "socks4"]
State = Literal["closed", "open", "half_open"]

FILE_ONLY: Final = ("bind_address", "proxy", "proxy_resolves")
"""Fields of a source that only the operator's file may have: a proxy is dialled without the address guard."""

KEPT_SEC: Final = 240.0
"""Seconds without a request after which a host may get another route: Twisted then closes its idle connections."""

PROBE_SEC: Final = 30.0
"""Seconds for which an open circuit lets a single request through and waits for its result."""

_SECRET: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_PROXY_FORM: Final = "scheme://host:port with scheme http, socks5 or socks4"


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy that the operator names. `username` and `password` may be `${NAME}`: a variable of the environment."""

    scheme: Scheme
    host: str
    port: int
    username: str = ""
    password: str = field(default="", repr=False)

    @property
    def name(self) -> str:
        """The proxy in logs, records and metrics: its URL without credentials."""
        return f"{self.scheme}://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    def filled(self, environment: Mapping[str, str]) -> Proxy:
        """The proxy with its credentials; KeyError for a variable that the environment does not have, or has empty."""
        given = {name: value for name, value in environment.items() if value}
        username, password = (
            _SECRET.sub(lambda found: given[found[1]], text) for text in (self.username, self.password)
        )
        return replace(self, username=username, password=password)


@dataclass(frozen=True, slots=True)
class Route:
    """One way out: a local address, or a proxy; with neither, the system chooses the address."""

    address: str | None = None
    proxy: Proxy | None = None

    @property
    def name(self) -> str | None:
        """The route in logs, records and metrics; None if the system chooses."""
        return self.address if self.proxy is None else self.proxy.name


DIRECT: Final = Route()


@dataclass(frozen=True, slots=True)
class Circuit:
    """Failures of a route in a row, the number of times in a row that the circuit has opened, and the time (a clock's
    seconds) from which an open circuit lets a request through; 0 while it is closed.
    """

    failures: int = 0
    opened: int = 0
    until: float = 0.0

    def state(self, now: float) -> State:
        """`half_open`: the next request decides."""
        if not self.until:
            return "closed"
        return "open" if now < self.until else "half_open"

    def after_failure(self, now: float, *, threshold: int, waits_sec: Sequence[float]) -> Circuit:
        """The circuit after one more failure: open from the `threshold`-th in a row, for the next of `waits_sec`."""
        failures = self.failures + 1
        if failures < threshold:
            return replace(self, failures=failures)
        wait_sec = waits_sec[min(self.opened, len(waits_sec) - 1)]
        return Circuit(failures, self.opened + 1, now + wait_sec)

    def probed(self, now: float) -> Circuit:
        """The circuit while the one request of its half-open state is under way."""
        return replace(self, until=now + PROBE_SEC)


CLOSED: Final = Circuit()


@dataclass(frozen=True, slots=True)
class Stay:
    """The route that a host has, and the time of its last request (a clock's seconds)."""

    route: Route
    used_at: float


def choose(
    routes: Sequence[Route], circuits: Mapping[Route, Circuit], stay: Stay | None, turn: int, now: float
) -> Route | float:
    """The route of a host's next request: the host's own while it is kept, else the next in turn that is not open.

    If all circuits are open: the seconds until the first lets a request through.
    """
    known = [circuits.get(route, CLOSED) for route in routes]
    usable = [route for route, circuit in zip(routes, known, strict=True) if circuit.state(now) != "open"]
    if not usable:
        return min(circuit.until for circuit in known) - now
    if stay is not None and stay.route in usable and now - stay.used_at < KEPT_SEC:
        return stay.route
    return usable[turn % len(usable)]


def of_families(routes: Sequence[Route], addresses: Sequence[str]) -> tuple[Route, ...]:
    """The routes that can reach one of a host's addresses: a local address reaches those of its own IP version."""
    versions = {ip_address(each).version for each in addresses}
    return tuple(route for route in routes if route.address is None or ip_address(route.address).version in versions)


def read_addresses(value: object) -> tuple[str, ...]:
    """Local addresses, one or a list. ValueError states the expected form."""
    listed = value if isinstance(value, list) else [value]
    try:
        return tuple(dict.fromkeys(str(ip_address(each if isinstance(each, str) else "")) for each in listed))
    except ValueError:
        raise ValueError("an IP address of this machine, or a list of them") from None


def read_proxies(value: object) -> tuple[str, ...]:
    """Proxy URLs, one or a list, each of which `read_proxy` reads. ValueError states the expected form."""
    listed = value if isinstance(value, list) else [value]
    for each in listed:
        read_proxy(each)
    return tuple(dict.fromkeys(listed))


def read_proxy(url: object) -> Proxy:
    """The proxy of a URL. ValueError states the expected form, without the credentials that the URL may have."""
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError(_PROXY_FORM) from None
    if parts.scheme in ("socks5h", "socks4a"):
        raise ValueError(f"{_PROXY_FORM} (with `proxy_resolves: true` the proxy resolves names)")
    if parts.scheme not in get_args(Scheme) or not host or not port or parts.path.strip("/") or parts.query:
        raise ValueError(_PROXY_FORM)
    username, password = parts.username or "", parts.password or ""
    if password and not _SECRET.fullmatch(password):
        raise ValueError("a URL whose password is ${NAME}, a variable of the environment: a file is no place for it")
    return Proxy(cast("Scheme", parts.scheme), host, port, username, password)
