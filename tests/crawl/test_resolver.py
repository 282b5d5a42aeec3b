import os
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.endpoints import HostnameEndpoint
from twisted.internet.interfaces import IReactorPluggableNameResolver
from twisted.internet.protocol import Factory
from twisted.internet.task import Clock
from zope.interface import implementer

from feedcrawl.crawl import resolver
from feedcrawl.crawl.resolver import HostsFile, PublicResolver
from feedcrawl.domain.addresses import parse_networks
from feedcrawl.exceptions import AddressRefused
from feedcrawl.outgoing import addresses as outgoing


class Dns:
    """Answers at once, or later where a test says so; each name's answers in their turn, the last one for good."""

    def __init__(self) -> None:
        self.zones: dict[str, list[list[str]]] = {}
        self.lookups: list[str] = []
        self.waiting: list[Any] = []
        self.slow = False

    def resolveHostName(self, receiver: Any, host: str, *_: object) -> None:
        self.lookups.append(host)
        receiver.resolutionBegan(None)
        answers = self.zones.get(host, [[]])
        addresses = answers.pop(0) if len(answers) > 1 else answers[0]
        for ip in addresses:
            receiver.addressResolved(IPv6Address("TCP", ip, 0) if ":" in ip else IPv4Address("TCP", ip, 0))
        if self.slow:
            self.waiting.append(receiver)
        else:
            receiver.resolutionComplete()


@implementer(IReactorPluggableNameResolver)
class Reactor(Clock):
    """A clock with a name resolver, and a note of what would have been dialled."""

    def __init__(self) -> None:
        super().__init__()
        self.nameResolver: Any = Dns()
        self.dialled: list[tuple[str, int]] = []

    def installNameResolver(self, installed: Any) -> None:
        self.nameResolver = installed

    def connectTCP(self, host: str, port: int, *_: object, **__: object) -> None:
        self.dialled.append((host, port))


class Receiver:
    def __init__(self) -> None:
        self.found: list[Any] = []
        self.began = self.complete = 0

    def resolutionBegan(self, _: object) -> None:
        self.began += 1

    def addressResolved(self, address: Any) -> None:
        self.found.append(address)

    def resolutionComplete(self) -> None:
        self.complete += 1

    def answer(self) -> list[tuple[str, int]] | str:
        assert (self.began, self.complete) == (1, 1)
        try:
            return [(address.host, address.port) for address in self.found]
        except AddressRefused as refusal:
            return refusal.detail


@pytest.fixture
def reactor() -> Reactor:
    return Reactor()


@pytest.fixture
def dns(reactor: Reactor) -> Dns:
    found = reactor.nameResolver
    assert isinstance(found, Dns)
    return found


def resolve(guard: PublicResolver, host: str, *rest: Any) -> Any:
    receiver = Receiver()
    guard.resolveHostName(receiver, host, 8080, *rest)
    return receiver.answer()


def is_refused(guard: PublicResolver, host: str) -> bool:
    return isinstance(resolve(guard, host), str)


def hosts(tmp_path: Path, text: str) -> HostsFile:
    path = tmp_path / "hosts"
    path.write_text(text)
    return HostsFile(path)


def test_public_addresses_keep_their_order_and_get_the_port(reactor: Reactor, dns: Dns) -> None:
    dns.zones["a.org"] = [["2606:4700::1111", "8.8.8.8", "8.8.4.4", "8.8.8.8"]]
    assert resolve(PublicResolver(reactor), "a.org") == [
        ("2606:4700::1111", 8080),
        ("8.8.8.8", 8080),
        ("8.8.4.4", 8080),
    ]


def test_a_name_without_addresses_is_a_dns_failure_and_no_refusal(reactor: Reactor) -> None:
    assert resolve(PublicResolver(reactor), "gone.org") == []


@pytest.mark.parametrize(
    "answers",
    [
        ["127.0.0.1"],
        ["8.8.8.8", "10.0.0.1"],
        ["169.254.169.254", "8.8.8.8"],
        ["::1"],
        ["8.8.8.8", "::ffff:127.0.0.1"],
        ["64:ff9b::7f00:1"],
        ["fe80::1"],
        ["0.0.0.0"],
    ],
)
def test_a_private_address_among_others_refuses_the_name(answers: list[str], reactor: Reactor, dns: Dns) -> None:
    dns.zones["a.org"] = [answers]
    assert is_refused(PublicResolver(reactor), "a.org")


@pytest.mark.parametrize("literal", ["8.8.8.8", "2606:4700::1111"])
def test_public_literals_are_resolved_without_dns(literal: str, reactor: Reactor, dns: Dns) -> None:
    assert resolve(PublicResolver(reactor), literal) == [(literal, 8080)]
    assert dns.lookups == []


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "::1",
        "::ffff:7f00:1",
        "fe80::1%lo",
        "169.254.169.254",
        "localhost",
        "LOCALHOST.",
        "redis",
        "2130706433",
        "0x7f000001",
        "0",
        "metadata.google.internal",
        "a.svc.cluster.local",
        "",
        "a..b",
    ],
)
def test_refused_without_dns(host: str, reactor: Reactor, dns: Dns) -> None:
    assert is_refused(PublicResolver(reactor), host)
    assert dns.lookups == []


def test_spellings_that_getaddrinfo_reads_are_judged_by_their_address(reactor: Reactor, dns: Dns) -> None:
    dns.zones["127.1"] = [["127.0.0.1"]]
    assert is_refused(PublicResolver(reactor), "127.1")


def test_opened_networks(reactor: Reactor, dns: Dns) -> None:
    dns.zones["a.org"] = [["127.1.0.1"]]
    dns.zones["b.org"] = [["127.1.0.1", "127.0.0.1"]]
    guard = PublicResolver(reactor, opened=parse_networks("127.1.0.0/16"))
    assert resolve(guard, "a.org") == [("127.1.0.1", 8080)]
    assert is_refused(guard, "b.org")
    assert resolve(guard, "127.1.2.3") == [("127.1.2.3", 8080)]
    assert is_refused(guard, "127.2.0.1")


def test_an_address_of_this_machine_is_not_public(reactor: Reactor, dns: Dns, monkeypatch: pytest.MonkeyPatch) -> None:
    dns.zones["a.org"] = [["8.8.8.8"]]
    monkeypatch.setattr(outgoing, "may_bind", lambda ip: ip == "8.8.8.8")
    assert is_refused(PublicResolver(reactor), "a.org")
    assert not is_refused(PublicResolver(reactor, opened=parse_networks("8.8.8.8")), "a.org")


def test_a_kernel_that_binds_any_address_has_no_own_addresses(
    reactor: Reactor, dns: Dns, monkeypatch: pytest.MonkeyPatch
) -> None:
    dns.zones["a.org"] = [["8.8.8.8"]]
    monkeypatch.setattr(outgoing, "may_bind", lambda ip: True)
    assert not is_refused(PublicResolver(reactor), "a.org")


@pytest.mark.parametrize(
    ("ip", "own"), [("127.0.0.1", True), ("8.8.8.8", False), ("2606:4700::1111", False), ("x", False)]
)
def test_own_addresses_are_those_that_bind(ip: str, own: bool) -> None:
    assert outgoing.may_bind(ip) == own


def test_rebinding_is_judged_each_time(reactor: Reactor, dns: Dns) -> None:
    dns.zones["a.org"] = [["8.8.8.8"], ["127.0.0.1"], ["8.8.8.8"]]
    guard = PublicResolver(reactor)
    seen = []
    for _ in range(3):
        seen.append(is_refused(guard, "a.org"))
        reactor.advance(resolver.CACHE_SEC)
    assert seen == [False, True, False]


def test_public_addresses_are_cached_for_a_minute_and_refusals_are_not(reactor: Reactor, dns: Dns) -> None:
    dns.zones["a.org"] = [["127.0.0.1"], ["8.8.8.8"], ["8.8.4.4"]]
    guard = PublicResolver(reactor)
    assert is_refused(guard, "a.org")
    assert resolve(guard, "A.org.") == [("8.8.8.8", 8080)]
    reactor.advance(59.9)
    assert resolve(guard, "a.org") == [("8.8.8.8", 8080)]
    reactor.advance(0.2)
    assert resolve(guard, "a.org") == [("8.8.4.4", 8080)]
    assert len(dns.lookups) == 3


def test_the_cache_is_bounded(reactor: Reactor, dns: Dns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolver, "CACHE_NAMES", 2)
    guard = PublicResolver(reactor)
    for host in ("a.org", "b.org", "c.org", "b.org", "c.org", "a.org"):
        dns.zones[host] = [["8.8.8.8"]]
        resolve(guard, host)
    assert dns.lookups == ["a.org", "b.org", "c.org", "a.org"]


def test_a_lookup_beyond_its_time_ends_without_addresses(reactor: Reactor, dns: Dns) -> None:
    dns.zones["a.org"] = [["8.8.8.8"]]
    dns.slow = True
    receiver = Receiver()
    PublicResolver(reactor, timeout_sec=5).resolveHostName(receiver, "a.org")
    reactor.advance(4.9)
    assert not receiver.complete
    reactor.advance(0.2)
    assert receiver.answer() == []
    dns.waiting[0].resolutionComplete()
    assert receiver.answer() == []
    assert reactor.getDelayedCalls() == []


def test_a_slow_lookup_within_its_time_counts(reactor: Reactor, dns: Dns) -> None:
    dns.zones["a.org"] = [["8.8.8.8"]]
    dns.slow = True
    receiver = Receiver()
    PublicResolver(reactor, timeout_sec=5).resolveHostName(receiver, "a.org", 80)
    dns.waiting[0].resolutionComplete()
    assert receiver.answer() == [("8.8.8.8", 80)]
    assert reactor.getDelayedCalls() == []


def test_types_of_address(reactor: Reactor, dns: Dns) -> None:
    dns.zones["a.org"] = [["2606:4700::1111", "8.8.8.8"]]
    dns.zones["b.org"] = [["127.0.0.1"]]
    guard = PublicResolver(reactor)
    assert resolve(guard, "a.org", [IPv4Address]) == [("8.8.8.8", 8080)]
    assert resolve(guard, "a.org", [IPv6Address]) == [("2606:4700::1111", 8080)]
    assert resolve(guard, "b.org", [IPv4Address]) == []


def test_the_hosts_file_comes_before_dns_and_is_judged(reactor: Reactor, dns: Dns, tmp_path: Path) -> None:
    names = hosts(tmp_path, "127.1.0.1 site.test wiki\n127.0.0.1 bad.test\n8.8.8.8 a.org\n")
    guard = PublicResolver(reactor, opened=parse_networks("127.1.0.0/16"), hosts=names)
    assert resolve(guard, "Site.test.") == [("127.1.0.1", 8080)]
    assert resolve(guard, "wiki") == [("127.1.0.1", 8080)]
    assert resolve(guard, "a.org") == [("8.8.8.8", 8080)]
    assert is_refused(guard, "bad.test")
    assert is_refused(guard, "other.test")
    assert dns.lookups == []


def test_the_hosts_file_is_read_again_when_it_changes(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    names = hosts(tmp_path, "127.0.0.1 a.test\n")
    path = tmp_path / "hosts"
    path.write_text("127.0.0.2 a.test\n127.0.0.3 b.test\n")
    assert names.get("a.test") == ("127.0.0.2",)
    path.write_text("nonsense\n")
    assert names.get("b.test") == ("127.0.0.3",)
    assert "line 1" in caplog.text
    path.unlink()
    assert names.get("b.test") == ("127.0.0.3",)
    path.write_text("127.0.0.4 b.test\n")
    os.utime(path, (1, 1))
    assert names.get("b.test") == ("127.0.0.4",)


class Process:
    """What Scrapy gives a resolver: settings alone."""

    def __init__(self, **values: Any) -> None:
        self.settings = Settings(values)


def test_settings(reactor: Reactor, tmp_path: Path) -> None:
    hosts(tmp_path, "127.1.0.1 site.test\n")
    process: Any = Process(
        FEEDCRAWL_ALLOW_NETWORKS="127.1.0.0/16, ::1", FEEDCRAWL_HOSTS_FILE=str(tmp_path / "hosts"), DNS_TIMEOUT=3
    )
    guard = PublicResolver.from_crawler(process, reactor)
    guard.install_on_reactor()
    assert reactor.nameResolver is guard
    assert resolve(guard, "site.test") == [("127.1.0.1", 8080)]
    assert resolve(guard, "::1") == [("::1", 8080)]


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("FEEDCRAWL_ALLOW_NETWORKS", "127.1.0.0/16, 10.0.0.1/8", "10.0.0.1/8"),
        ("FEEDCRAWL_HOSTS_FILE", "/nonexistent/hosts", "/nonexistent/hosts"),
    ],
)
def test_a_setting_that_cannot_be_read_stops_the_start(reactor: Reactor, name: str, value: str, word: str) -> None:
    process: Any = Process(**{name: value})
    with pytest.raises(ValueError, match=name) as caught:
        PublicResolver.from_crawler(process, reactor)
    assert word in str(caught.value)


def dial(reactor: Reactor, host: str) -> Any:
    """What Twisted's endpoint makes of the guard: the error, or None while it dials."""
    reactor.nameResolver = PublicResolver(reactor)
    errors: list[Any] = []
    HostnameEndpoint(reactor, host, 8080).connect(Factory()).addErrback(errors.append)
    return errors[0].value if errors else None


def test_a_refusal_passes_twisted_unchanged(reactor: Reactor, dns: Dns) -> None:
    dns.zones["a.org"] = [["8.8.8.8", "127.0.0.1"]]
    assert isinstance(dial(reactor, "a.org"), AddressRefused)
    assert reactor.dialled == []


def test_the_judged_address_is_dialled(reactor: Reactor, dns: Dns) -> None:
    dns.zones["a.org"] = [["8.8.8.8"]]
    assert dial(reactor, "a.org") is None
    assert reactor.dialled == [("8.8.8.8", 8080)]
