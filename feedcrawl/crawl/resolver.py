"""The address guard: the resolver decides which addresses are dialled.

Twisted calls the reactor's name resolver for every connection, for names and literals alike, and dials the addresses
that the resolver returns. So this one place sees every hop and every kind of request, and no address can change between
check and dial.
"""

# ruff: noqa: N802, N803 - Twisted's interfaces have names of their own style

from __future__ import annotations

import logging
from collections import OrderedDict
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IHostnameResolver, IHostResolution, IResolutionReceiver
from zope.interface import implementer  # type: ignore[import-untyped]

from feedcrawl.domain.addresses import dial_refusal, is_literal, is_name_refused, parse_networks
from feedcrawl.domain.http.hosts_file import host_key, parse_hosts
from feedcrawl.exceptions import AddressRefused
from feedcrawl.outgoing.addresses import is_own

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Self

    from scrapy.crawler import Crawler

    from feedcrawl.domain.addresses import Network

logger = logging.getLogger(__name__)

CACHE_SEC = 60.0
CACHE_NAMES = 10_000


@contextmanager
def _naming(setting: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise ValueError(f"{setting}: {error}") from error


@implementer(IHostResolution)
class _Resolution:
    def __init__(self, name: str) -> None:
        self.name = name

    def cancel(self) -> None:
        """Nothing to stop: a result that comes too late is dropped."""


class _RefusedAddress(IPv4Address):
    """A result that cannot be dialled: reading the address raises the refusal.

    An empty result would become a DNS failure, which counts against the host and is retried. An exception raised at
    this point passes through Twisted and Scrapy unchanged.
    """

    def __init__(self, refusal: AddressRefused) -> None:
        self._refusal = refusal

    @property
    def host(self) -> NoReturn:  # type: ignore[override]
        raise self._refusal


@implementer(IResolutionReceiver)
class _Answers:
    """Collects the addresses of one lookup and passes them on once: when they are complete, or none after the
    time limit.
    """

    def __init__(self, done: Callable[[tuple[str, ...]], None]) -> None:
        self._done: Callable[[tuple[str, ...]], None] | None = done
        self._found: dict[str, None] = {}

    def resolutionBegan(self, resolutionInProgress: object) -> None:
        pass

    def addressResolved(self, address: object) -> None:
        if isinstance(address, IPv4Address | IPv6Address):
            self._found[address.host] = None

    def resolutionComplete(self) -> None:
        self._finish(tuple(self._found))

    def give_up(self) -> None:
        self._finish(())

    def _finish(self, found: tuple[str, ...]) -> None:
        done, self._done = self._done, None
        if done:
            done(found)


class HostsFile:
    """The names of a hosts(5) file, read again when the file changes.

    If the first read fails, OSError or ValueError is raised; if a later read fails, the last good content stays in
    force.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._state = self._stat()
        self._names: Mapping[str, tuple[str, ...]] = parse_hosts(path.read_text())

    def get(self, host: str) -> tuple[str, ...] | None:
        """The addresses of a name in the form of `host_key`."""
        try:
            self._refresh()
        except (OSError, ValueError) as error:
            logger.warning("hosts file %s cannot be read, its last content stays in force: %s", self._path, error)
        return self._names.get(host)

    def _refresh(self) -> None:
        state = self._stat()
        if state != self._state:
            self._state = state
            self._names = parse_hosts(self._path.read_text())

    def _stat(self) -> tuple[int, int, int]:
        status = self._path.stat()
        return status.st_mtime_ns, status.st_size, status.st_ino


class _Cache:
    """Lookup results that passed the guard, kept for at most a minute: long enough for a poll, too short to go
    stale.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._answers: OrderedDict[str, tuple[float, tuple[str, ...]]] = OrderedDict()

    def get(self, host: str) -> tuple[str, ...] | None:
        until, addresses = self._answers.get(host, (0.0, ()))
        return addresses if until > self._now() else None

    def put(self, host: str, addresses: tuple[str, ...]) -> None:
        self._answers[host] = (self._now() + CACHE_SEC, addresses)
        self._answers.move_to_end(host)
        if len(self._answers) > CACHE_NAMES:
            self._answers.popitem(last=False)


class _Receiver(Protocol):
    """IResolutionReceiver, whose zope methods are declared without `self`."""

    def resolutionBegan(self, resolutionInProgress: object) -> None: ...
    def addressResolved(self, address: object) -> None: ...
    def resolutionComplete(self) -> None: ...


@implementer(IHostnameResolver)
class PublicResolver:
    """Resolves names to public addresses and to those of the networks that the operator opened; others raise
    AddressRefused.

    Names of the hosts file are never looked up in DNS; other names are, unless they can only be internal.
    `timeout_sec` limits one lookup.
    """

    def __init__(
        self,
        reactor: Any,  # zope interfaces declare methods without `self`, which mypy cannot call
        *,
        opened: Sequence[Network] = (),
        hosts: HostsFile | None = None,
        timeout_sec: float = 60.0,
    ) -> None:
        self._reactor = reactor
        self._lookup = reactor.nameResolver
        self._opened = tuple(opened)
        self._hosts = hosts
        self._timeout_sec = timeout_sec
        self._cache = _Cache(reactor.seconds)

    @classmethod
    def from_crawler(cls, crawler: Crawler, reactor: Any) -> Self:
        """The resolver from FEEDCRAWL_ALLOW_NETWORKS, FEEDCRAWL_HOSTS_FILE and DNS_TIMEOUT (seconds).

        Raises ValueError that names the wrong setting. `crawler` is Scrapy's crawler process, which has settings but
        nothing else of a crawler.
        """
        settings = crawler.settings
        with _naming("FEEDCRAWL_ALLOW_NETWORKS"):
            opened = parse_networks(",".join(settings.getlist("FEEDCRAWL_ALLOW_NETWORKS")))
        with _naming("FEEDCRAWL_HOSTS_FILE"):
            path = settings.get("FEEDCRAWL_HOSTS_FILE")
            hosts = HostsFile(Path(path)) if path else None
        return cls(reactor, opened=opened, hosts=hosts, timeout_sec=settings.getfloat("DNS_TIMEOUT"))

    def install_on_reactor(self) -> None:
        """Called by Scrapy: from now on every connection is resolved here."""
        self._reactor.installNameResolver(self)

    def resolveHostName(
        self,
        resolutionReceiver: _Receiver,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Sequence[type] | None = None,
        transportSemantics: str = "TCP",  # noqa: ARG002 - part of the interface
    ) -> _Resolution:
        """Pass on the addresses of a name, all of them allowed; none if the name has no address (IHostnameResolver).

        A refusal is an address that raises AddressRefused when it is read. Callers that request certain types of
        address (Twisted's older interface) do not expect that, and get no address.
        """
        resolution = _Resolution(hostName)
        resolutionReceiver.resolutionBegan(resolution)

        def answer(addresses: tuple[str, ...], refusal: AddressRefused | None) -> None:
            found = [_RefusedAddress(refusal)] if refusal else [_address(ip, portNumber) for ip in addresses]
            for address in found:
                if addressTypes is None or type(address) in addressTypes:
                    resolutionReceiver.addressResolved(address)
            resolutionReceiver.resolutionComplete()

        self._resolve(host_key(hostName), answer)
        return resolution

    def _resolve(self, host: str, answer: Callable[[tuple[str, ...], AddressRefused | None], None]) -> None:
        known = (self._hosts and self._hosts.get(host)) or ((host,) if is_literal(host) else ())
        if known:
            answer(known, self._refusal(host, known))
        elif is_name_refused(host):
            answer((), AddressRefused(f"{host} can only be an internal name; FEEDCRAWL_HOSTS_FILE may name it"))
        elif cached := self._cache.get(host):
            answer(cached, None)
        else:
            self._ask(host, answer)

    def _ask(self, host: str, answer: Callable[[tuple[str, ...], AddressRefused | None], None]) -> None:
        def judge(addresses: tuple[str, ...]) -> None:
            if timeout.active():
                timeout.cancel()
            refusal = self._refusal(host, addresses)
            if addresses and not refusal:
                self._cache.put(host, addresses)
            answer(addresses, refusal)

        answers = _Answers(judge)
        timeout = self._reactor.callLater(self._timeout_sec, answers.give_up)
        self._lookup.resolveHostName(answers, host)

    def _refusal(self, host: str, addresses: Sequence[str]) -> AddressRefused | None:
        refusal = dial_refusal(host, addresses, self._opened, is_own)
        return None if refusal is None else AddressRefused(refusal)


def _address(ip: str, port: int) -> IPv4Address | IPv6Address:
    return IPv6Address("TCP", ip, port) if ":" in ip else IPv4Address("TCP", ip, port)
