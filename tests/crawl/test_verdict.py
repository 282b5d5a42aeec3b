import logging
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector
from twisted.internet import error as net

from feedcrawl import exceptions as ours
from feedcrawl.crawl.verdict import Verdicts
from feedcrawl.domain.frontier.tasks import History, Lease, Task
from feedcrawl.domain.http.redirects import Hop
from feedcrawl.services.frontier.own_network import OwnNetwork
from feedcrawl.store.frontier.interface import Released, ScopeChange
from feedcrawl.store.redis.errors import StoreUnavailable

NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
URL = "http://a.test/"
CALM = Released("closed", "closed", 1.0)


class Frees:
    """Stands for the leases: notes what each slot is freed with."""

    def __init__(self, released: Released = CALM) -> None:
        self.signals: list[tuple[str, float | None]] = []
        self.released = released
        self.away = False
        self.own_network = OwnNetwork()
        self.forgiven: list[str] = []

    def forgive(self, failed: dict[str, Task]) -> None:
        if self.away:
            raise StoreUnavailable("timeout", "")
        self.forgiven += failed

    def release(self, lease: Lease, signal: str, *, wait_sec: float | None = None) -> Released:
        if self.away:
            raise StoreUnavailable("timeout", "")
        self.signals.append((signal, wait_sec))
        return self.released


@pytest.fixture
def stats() -> MemoryStatsCollector:
    return MemoryStatsCollector(SimpleNamespace(settings=Settings()))


@pytest.fixture
def frees() -> Frees:
    return Frees()


@pytest.fixture
def verdicts(frees: Frees, stats: MemoryStatsCollector) -> Verdicts:
    return Verdicts(frees, stats, lambda: NOW)


def request_of(kind: str = "article", **headers: str) -> Request:
    return Request(URL, headers=headers, meta={"lease": Lease(Task("t", kind, URL, "a.test"), History(), "1-x")})


# The signal for the host; that of a 304 comes with the commit, so that its slot is freed there.
SIGNALS = [
    (100, 199, "soft"),
    (200, 299, "ok"),
    (300, 300, "answered"),
    (301, 303, "ok"),
    (304, 304, None),
    (305, 306, "answered"),
    (307, 308, "ok"),
    (309, 428, "answered"),
    (429, 429, "throttled"),
    (430, 499, "answered"),
    (500, 501, "soft"),
    (502, 504, "site"),
    (505, 599, "soft"),
]


def test_every_status_is_in_the_table() -> None:
    assert [status for first, last, _ in SIGNALS for status in range(first, last + 1)] == list(range(100, 600))


@pytest.mark.parametrize("kind", ["article", "feed", "page", "sitemap"])
@pytest.mark.parametrize(("first", "last", "signal"), SIGNALS)
def test_each_status_is_a_signal_for_its_host(
    verdicts: Verdicts, frees: Frees, kind: str, first: int, last: int, signal: str | None
) -> None:
    for status in range(first, last + 1):
        request = request_of(kind, **{"If-None-Match": '"1"'})
        verdicts.answered(request, Response(URL, status=status))
        assert request.meta["outcome"].reason in {f"http_{status}", "protocol"}
        if signal is None:
            assert (frees.signals, request.meta["signal"]) == ([], "ok")
        else:
            assert frees.signals.pop() == (signal, None)
            assert "signal" not in request.meta


@pytest.mark.parametrize(
    ("kind", "header", "reason", "fate"),
    [
        ("article", None, "unasked_304", "retry"),
        ("file", "Accept", "unasked_304", "retry"),
        ("sitemap", None, "unasked_304", "reschedule"),
        ("article", "if-modified-since", "http_304", "done"),
        ("sitemap", "If-None-Match", "http_304", "done"),
    ],
)
def test_a_304_answers_only_a_conditional_request(
    verdicts: Verdicts, frees: Frees, kind: str, header: str | None, reason: str, fate: str
) -> None:
    request = request_of(kind, **({header: "x"} if header else {}))
    verdicts.answered(request, Response(URL, status=304))
    outcome = request.meta["outcome"]
    assert (outcome.reason, outcome.fate) == (reason, fate)
    assert frees.signals == ([("answered", None)] if reason == "unasked_304" else [])


@pytest.mark.parametrize(
    ("status", "header", "noted", "reported"),
    [
        (429, b"120", 120.0, 120.0),
        (503, b"Fri, 27 Nov 2026 12:01:00 GMT", 60.0, 60.0),
        (200, b"120", 120.0, None),
        (500, b"120", 120.0, None),
        (429, b"soon", None, None),
        (429, b"\xff\xfe", None, None),
        (503, None, None, None),
    ],
)
def test_retry_after(
    verdicts: Verdicts, frees: Frees, status: int, header: bytes | None, noted: float | None, reported: float | None
) -> None:
    request = request_of()
    headers = {} if header is None else {"Retry-After": header}
    verdicts.answered(request, Response(URL, status=status, headers=headers))
    assert request.meta["retry_after_sec"] == noted
    assert frees.signals[0][1] == reported


HOP = Hop(url="http://b.test/", same_host=False, same_origin=False, permanent=False)

FAILED: list[tuple[Exception, str, str]] = [
    (net.DNSLookupError(), "dns", "site"),
    (net.ConnectionRefusedError(), "refused", "site"),
    (net.TimeoutError(), "connect_timeout", "site"),
    (net.ConnectionLost(), "connection_lost", "soft"),
    (ours.BodyRefused("too_large", ""), "too_large", "answered"),
    (ours.BodyRefused("truncated", ""), "truncated", "soft"),
    (ours.RedirectRefused("redirect_loop", ""), "redirect_loop", "answered"),
    (ours.AddressRefused("127.0.0.1"), "address_refused", "none"),
    (ours.RobotsBlocked("x"), "robots_blocked", "none"),
    (ours.RobotsUnavailable(503), "robots_unavailable", "site"),
    (ours.RobotsUnavailable(500), "robots_unavailable", "soft"),
    (ours.RobotsUnavailable(429), "robots_unavailable", "throttled"),
    (ours.CircuitOpen("x"), "circuit_open", "site"),
    (ours.HopElsewhere(HOP, (URL,)), "", "ok"),
    (StoreUnavailable("timeout", ""), "store_lost", "none"),
    (ValueError("a bug of ours"), "download_failed", "none"),
]


@pytest.mark.parametrize(("error", "reason", "signal"), FAILED, ids=lambda value: getattr(value, "reason", value))
def test_each_failure_is_a_signal_for_its_host(
    verdicts: Verdicts, frees: Frees, error: Exception, reason: str, signal: str
) -> None:
    request = request_of()
    outcome = verdicts.failed(request, error)
    assert (outcome.reason, frees.signals) == (reason, [(signal, None)])
    assert request.meta["outcome"] is outcome


def test_a_failure_is_judged_once(verdicts: Verdicts, frees: Frees) -> None:
    request = request_of()
    first = verdicts.failed(request, net.ConnectionLost())
    assert verdicts.failed(request, ValueError()) is first
    assert len(frees.signals) == 1


def test_outcomes_are_counted(verdicts: Verdicts, stats: MemoryStatsCollector) -> None:
    verdicts.answered(request_of(), Response(URL, status=404))
    verdicts.answered(request_of(**{"If-None-Match": "x"}), Response(URL, status=304))
    verdicts.failed(request_of(), net.DNSLookupError())
    verdicts.failed(request_of(), ours.HopElsewhere(HOP, (URL,)))
    outcomes = {name: value for name, value in stats.get_stats().items() if name.startswith("feedcrawl/outcome/")}
    counted = {name.rpartition("/")[2]: value for name, value in outcomes.items()}
    assert counted == {"http_404": 1, "http_304": 1, "dns": 1, "redirect": 1}


@pytest.mark.parametrize(
    ("before", "after", "event", "level"),
    [
        ("closed", "open", "circuit_open", logging.WARNING),
        ("half_open", "open", "circuit_open", logging.WARNING),
        ("half_open", "closed", "circuit_closed", logging.INFO),
        ("closed", "closed", None, 0),
        ("lost", "lost", None, 0),
    ],
)
def test_a_change_of_a_circuit_is_logged_and_counted(
    stats: MemoryStatsCollector, caplog: Any, before: str, after: str, event: str | None, level: int
) -> None:
    caplog.set_level(logging.INFO, "feedcrawl")
    Verdicts(Frees(Released(before, after, 30.0)), stats, lambda: NOW).answered(request_of(), Response(URL, status=503))
    assert [(record.message, record.levelno) for record in caplog.records] == ([(event, level)] if event else [])
    assert stats.get_value(f"feedcrawl/circuit/{after}", 0) == (1 if event else 0)


def test_an_unreachable_store_changes_no_verdict(verdicts: Verdicts, frees: Frees, caplog: Any) -> None:
    caplog.set_level(logging.INFO, "feedcrawl")
    frees.away = True
    request = request_of()
    verdicts.answered(request, Response(URL, status=200))
    assert request.meta["outcome"].kind == "fetched"
    assert [record.message for record in caplog.records] == ["slot_not_released"]


def of_host(host: str, *, probe: bool = False) -> Request:
    lease = Lease(Task(f"feed:{host}", "feed", f"http://{host}/", host), History(), "1-x", probe)
    return Request(f"http://{host}/", meta={"lease": lease})


WAYS = [
    net.DNSLookupError(),
    net.ConnectionRefusedError(),
    net.TCPTimedOutError(),
    net.ConnectError(),
    net.SSLError(),
    ours.RobotsUnavailable("unreachable"),
]


@pytest.mark.parametrize("error", WAYS, ids=repr)
def test_an_outage_of_our_own_network_counts_against_no_host(
    verdicts: Verdicts, frees: Frees, caplog: Any, error: Exception
) -> None:
    caplog.set_level(logging.WARNING)  # the end of an outage is shown where its beginning is
    verdicts.answered(of_host("good.test"), Response("http://x.test/"))
    outcomes = [verdicts.failed(of_host(f"h{number}.test"), error) for number in range(12)]
    assert [outcome.reason == "own_outage" for outcome in outcomes] == [False] * 8 + [True] * 4
    assert [outcome.fate for outcome in outcomes[8:]] == ["give_back"] * 4
    assert [signal for signal, _ in frees.signals] == ["ok"] + ["site"] * 8 + ["none"] * 4
    assert frees.forgiven == [f"h{number}.test" for number in range(9)]
    assert [record.message for record in caplog.records if "outage" in record.message] == ["own_outage"]
    for number in range(12):
        verdicts.answered(of_host(f"h{number}.test"), Response("http://x.test/"))
    assert [record.message for record in caplog.records if "outage" in record.message] == [
        "own_outage",
        "own_outage_over",
    ]
    assert verdicts.failed(of_host("h0.test"), error).reason != "own_outage"


@pytest.mark.parametrize("error", [net.DNSLookupError(), net.ConnectionRefusedError(), net.ConnectError()], ids=repr)
def test_three_hosts_suffice_where_no_host_responds(verdicts: Verdicts, frees: Frees, error: Exception) -> None:
    outcomes = [verdicts.failed(of_host(f"h{number}.test"), error) for number in range(4)]
    assert [outcome.reason == "own_outage" for outcome in outcomes] == [False, False, True, True]
    assert frees.forgiven == ["h0.test", "h1.test", "h2.test"]


@pytest.mark.parametrize(
    "error", [net.ConnectionLost(), ours.BodyRefused("too_large", ""), ours.RobotsBlocked("")], ids=repr
)
def test_failures_beyond_the_network_are_no_evidence_of_our_outage(
    verdicts: Verdicts, frees: Frees, error: Exception
) -> None:
    reasons = {verdicts.failed(of_host(f"h{number}.test"), error).reason for number in range(20)}
    assert "own_outage" not in reasons
    assert frees.own_network.since is None


def test_probes_of_hosts_that_were_away_before_are_no_evidence_but_wait_for_the_end(
    verdicts: Verdicts, frees: Frees
) -> None:
    for number in range(20):
        probe = of_host(f"h{number}.test", probe=True)
        assert verdicts.failed(probe, ours.CircuitOpen("")).reason == "circuit_open"
    for number in range(10):
        verdicts.failed(of_host(f"g{number}.test"), net.DNSLookupError())
    frees.signals.clear()
    assert verdicts.failed(of_host("h1.test", probe=True), ours.CircuitOpen("")).reason == "own_outage"
    assert frees.signals == [("none", None)]


def test_our_own_outage_is_recognised_without_the_store(verdicts: Verdicts, frees: Frees) -> None:
    frees.away = True
    reasons = [verdicts.failed(of_host(f"h{number}.test"), net.DNSLookupError()).reason for number in range(10)]
    assert reasons[-1] == "own_outage"


@pytest.mark.parametrize(
    ("before", "after", "logged"),
    [
        ("closed", "closed", []),
        ("closed", "open", [("domain_circuit_open", logging.WARNING)]),
        ("half_open", "closed", [("domain_circuit_closed", logging.INFO)]),
    ],
)
def test_a_change_of_a_domains_circuit_is_logged(
    stats: MemoryStatsCollector, caplog: Any, before: str, after: str, logged: list[tuple[str, int]]
) -> None:
    caplog.set_level(logging.INFO)
    request = of_host("www.a.test")
    changes = (ScopeChange("domain", "a.test", before, after),) if before != after else ()
    Verdicts(Frees(Released("closed", "closed", 1.0, changes)), stats, lambda: NOW).answered(
        request, Response("http://www.a.test/", status=503)
    )
    assert [(record.message, record.levelno) for record in caplog.records] == logged
    assert [record.domain for record in caplog.records] == ["a.test"] * len(logged)
