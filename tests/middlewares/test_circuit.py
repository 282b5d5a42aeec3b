import asyncio
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response
from twisted.internet import error as net

from feedcrawl.domain.frontier.tasks import History, Lease, Task
from feedcrawl.exceptions import CircuitOpen
from feedcrawl.middlewares.circuit import CircuitMiddleware

URL = "https://a.test:8443/x?y=1"


class Host:
    """Answers the probe, and stands for the crawler, its engine, its stats, its leases and the gate of robots.txt."""

    def __init__(self, answer: int | Exception, turn: float | None = 0.0) -> None:
        self.engine = self.stats = self
        self.counted: list[str] = []
        self.requests: list[Request] = []
        self.turns = 0
        self.outdated: list[str] = []
        self._answer, self._turn = answer, turn

    def inc_value(self, name: str) -> None:
        self.counted.append(name)

    async def download_async(self, request: Request) -> Response:
        self.requests.append(request)
        if isinstance(self._answer, Exception):
            raise self._answer
        return Response(request.url, status=self._answer)

    def outdate(self, url: str) -> None:
        self.outdated.append(url)

    def turn(self, lease: Lease) -> float | None:
        self.turns += 1
        return self._turn


def process(host: Any, *, probe: bool = True, **meta: Any) -> Request:
    lease = Lease(Task("t", "article", URL, "a.test"), History(), "1-x", probe=probe)
    request = Request(URL, meta={"lease": lease} | meta)
    middleware = CircuitMiddleware(host, host, timeout_sec=7, gate=host)
    assert asyncio.run(middleware.process_request(request)) is None
    return request


@pytest.mark.parametrize("status", [200, 204, 301, 401, 404, 405, 429, 500, 501])
def test_a_probe_without_a_site_wide_failure_lets_the_task_continue(status: int) -> None:
    host = Host(status)
    process(host)
    (probe,) = host.requests
    assert (probe.method, probe.url) == ("HEAD", "https://a.test:8443/")
    assert probe.meta["download_timeout"] == 7
    assert "lease" not in probe.meta
    assert host.turns == 1
    assert host.outdated == [URL]
    assert host.counted == ["feedcrawl/circuit/probes/success"]


@pytest.mark.parametrize(
    "answer", [502, 503, 504, net.DNSLookupError(), net.TimeoutError(), net.ConnectionLost()], ids=str
)
def test_a_host_that_still_fails_is_left_alone(answer: int | Exception) -> None:
    host = Host(answer)
    with pytest.raises(CircuitOpen, match=r"a\.test still fails"):
        process(host)
    assert host.turns == 0
    assert host.outdated == []
    assert host.counted == ["feedcrawl/circuit/probes/failure"]


def test_a_host_that_is_up_is_not_probed() -> None:
    host = Host(503)
    process(host, probe=False)
    assert asyncio.run(CircuitMiddleware(host, host, 7, host).process_request(Request(URL))) is None
    assert host.requests == []


def test_a_hop_of_the_same_task_is_not_probed_again() -> None:
    host = Host(503)
    assert process(host, probed=True).meta["probed"]
    assert host.requests == []


def test_the_task_waits_for_the_hosts_next_turn(monkeypatch: Any) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr("feedcrawl.middlewares.circuit.sleep", sleep)
    process(Host(200, turn=1.25))
    assert slept == [1.25]
