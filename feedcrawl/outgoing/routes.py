"""The outgoing routes of a crawler: which source uses which, and the route of each host."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict, defaultdict
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from feedcrawl import wiring
from feedcrawl.domain.errors import ConfigError, InvalidUrl
from feedcrawl.domain.sites.outgoing import (
    CLOSED,
    DIRECT,
    Circuit,
    Route,
    Stay,
    choose,
    of_families,
    read_addresses,
    read_proxy,
)
from feedcrawl.domain.sites.sources import BadSources
from feedcrawl.exceptions import RouteFailed, TunnelFailed
from feedcrawl.hints import missing
from feedcrawl.outgoing.addresses import may_bind
from feedcrawl.services.sites.sources import load
from feedcrawl.settings import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scrapy import Request
    from scrapy.crawler import Crawler

    from feedcrawl.config import Config
    from feedcrawl.domain.sites.owners import Sources
    from feedcrawl.domain.sites.sources import Source

logger = logging.getLogger(__name__)

REMEMBERED: Final = 10_000
"""Hosts whose route a worker remembers."""
ROUTE_OF: Final = "route_of"
"""Key of `Request.meta`: the source whose routes a request takes, where the request has no lease."""


class Routes:
    """The routes of each source of the operator's file, and those of FEEDCRAWL_BIND_ADDRESSES for all others."""

    def __init__(
        self,
        config: Config,
        sources: Sources,
        count: Callable[[str], object],
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`count` adds 1 to a stat. Raises ConfigError or BadSources for an address or proxy that cannot be used."""
        everybody = _bound("FEEDCRAWL_BIND_ADDRESSES", _addresses(config.bind_addresses))
        self._sources = sources
        self._of_source = {name: _routes_of(source) or everybody for name, source in sources.items()}
        self._of_all = everybody
        self.configured = bool(everybody) or any(self._of_source.values())
        """False if the system chooses the address of all requests."""
        self._resolving = frozenset(name for name, source in sources.items() if source.proxy_resolves)
        self._threshold, self._waits_sec = config.circuit_failures, config.circuit_waits_sec
        self._count = count
        self._now = now
        self._turns: defaultdict[tuple[Route, ...], int] = defaultdict(int)
        self._circuits: dict[Route, Circuit] = {}
        self._stays: OrderedDict[tuple[str, tuple[Route, ...]], Stay] = OrderedDict()

    def source_of(self, name: str | None, url: str) -> str | None:
        """The source whose routes a request takes: the one to whose site the URL belongs, else the named one."""
        with suppress(InvalidUrl):
            owner = self._sources.of(url, name)
            return owner.name if owner is not None else None
        return None

    def resolves(self, source: str | None) -> bool:
        """True if the proxies of a source resolve names."""
        return source in self._resolving

    def of(self, source: str | None) -> tuple[Route, ...]:
        """The routes of a source; none if the system chooses."""
        return self._of_source.get(source or "", self._of_all)

    @contextmanager
    def taken(self, source: str | None, host: str, addresses: Sequence[str] | None) -> Iterator[Route]:
        """The route of a request to a host; what the block raises decides on the circuit of the route.

        `addresses` are those of the host, None if the proxy resolves its name. Raises RouteFailed if no route can be
        used now, TunnelFailed if none reaches one of the addresses.
        """
        route = self._chosen(self.of(source), host, addresses)
        opened = self._circuits.get(route, CLOSED).opened
        try:
            yield route
        except RouteFailed as error:
            self._failed(route, host, error, opened)
            raise
        except TunnelFailed:
            self._answered(route)
            raise
        else:
            self._answered(route)

    def _chosen(self, routes: tuple[Route, ...], host: str, addresses: Sequence[str] | None) -> Route:
        if not routes:
            return DIRECT
        fitting = routes if addresses is None else of_families(routes, addresses)
        if not fitting:
            raise TunnelFailed("unreachable", f"{host} has no address of the IP version of the addresses to bind")
        now, key = self._now(), (host, fitting)
        stay = self._stays.get(key)
        found = choose(fitting, self._circuits, stay, self._turns[fitting], now)
        if not isinstance(found, Route):
            names = ", ".join(str(route.name) for route in fitting)
            raise RouteFailed("route_down", f"{names} failed; next try in {found:.0f} s", wait_sec=found)
        circuit = self._circuits.get(found, CLOSED)
        if circuit.state(now) == "half_open":
            self._circuits[found] = circuit.probed(now)
        self._turns[fitting] += stay is None or stay.route != found
        self._stays[key] = Stay(found, now)
        self._stays.move_to_end(key)
        if len(self._stays) > REMEMBERED:
            self._stays.popitem(last=False)
        return found

    def _answered(self, route: Route) -> None:
        if route is DIRECT:
            return
        self._count(f"feedcrawl/outgoing/answered/{route.name}")
        before = self._circuits.pop(route, CLOSED)
        if before.until:
            logger.warning("route_circuit_closed", extra={"outgoing": route.name})

    def _failed(self, route: Route, host: str, error: RouteFailed, opened: int) -> None:
        self._count(f"feedcrawl/outgoing/{error.reason}/{route.name}")
        if error.reason == "proxy_refused":  # the proxy works
            return
        for key in [key for key, stay in self._stays.items() if stay.route == route]:
            del self._stays[key]
        before, now = self._circuits.get(route, CLOSED), self._now()
        if before.opened > opened:  # the request began before other failures opened the circuit
            return
        after = before.after_failure(now, threshold=self._threshold, waits_sec=self._waits_sec)
        self._circuits[route] = after
        wait_sec = max(0.0, after.until - now)
        fields = {"outgoing": route.name, "host": host, "reason": error.reason, "detail": error.detail}
        if after.until:
            self._count(f"feedcrawl/outgoing_circuit/open/{route.name}")
            logger.warning("route_circuit_open", extra={**fields, "next_try_sec": round(wait_sec, 1)})
        else:
            logger.info("route_failed", extra=fields)


def _addresses(text: str) -> tuple[str, ...]:
    given = [each.strip() for each in text.split(",") if each.strip()]
    try:
        return read_addresses(given)
    except ValueError:
        raise ConfigError(f"FEEDCRAWL_BIND_ADDRESSES must be IP addresses, comma separated, not {text!r}") from None


def _bound(what: str, addresses: Sequence[str]) -> tuple[Route, ...]:
    """Routes of the addresses that this machine has. Raises ConfigError if it has none of them."""
    own = [address for address in addresses if may_bind(address)]
    if addresses and not own:
        raise ConfigError(f"{what}: this machine has none of the addresses {', '.join(addresses)}")
    for address in set(addresses) - set(own):
        logger.warning("bind_address_missing", extra={"detail": f"{what}: {address} is no address of this machine"})
    return tuple(Route(address) for address in own)


def _routes_of(source: Source) -> tuple[Route, ...]:
    try:
        bound = _bound(f"source {source.name!r}: bind_address", source.bind_addresses)
    except ConfigError as error:
        raise BadSources("bad_sources", str(error)) from None
    return bound or tuple(_proxied(source, url) for url in source.proxies)


def _proxied(source: Source, url: str) -> Route:
    proxy = read_proxy(url)
    try:
        filled = proxy.filled(environment())
        if proxy.scheme != "http":
            import_module("python_socks")
    except KeyError as error:
        detail = f"source {source.name!r}: proxy {proxy.name} needs the variable {error} of the environment"
        raise BadSources("bad_sources", detail) from None
    except ModuleNotFoundError as error:
        raise BadSources("bad_sources", f"source {source.name!r}: {missing(error, 'socks')}") from None
    return Route(proxy=filled)


def named(request: Request) -> str | None:
    """The source that a request names, by its lease or by `meta[ROUTE_OF]`."""
    lease = request.meta.get("lease")
    return request.meta.get(ROUTE_OF) or (lease.task.source if lease is not None else None)


def _counted(crawler: Crawler, name: str) -> None:
    assert crawler.stats is not None  # there are none yet when the routes are made
    crawler.stats.inc_value(name)


_by_crawler: WeakKeyDictionary[Crawler, Routes] = WeakKeyDictionary()


def of(crawler: Crawler) -> Routes:
    """The routes that all components of a crawler share. Raises ConfigError or BadSources."""
    if crawler not in _by_crawler:
        config = wiring.of(crawler).config
        _by_crawler[crawler] = Routes(config, load(config.sources), lambda name: _counted(crawler, name))
    return _by_crawler[crawler]
