import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector

from feedcrawl.domain.frontier.tasks import History, Lease, Task
from feedcrawl.extensions import shutdown
from feedcrawl.extensions.shutdown import Shutdown
from feedcrawl.telemetry.names import UNRETURNED


class Connection:
    """Stands for Twisted's client of a connection."""

    def __init__(self, *, connected: bool) -> None:
        self.connected = connected
        self.ended = ""

    def abortConnection(self) -> None:
        self.ended = "aborted"

    def stopConnecting(self) -> None:
        self.ended = "stopped"


class Reactor:
    def __init__(self, *ends: Any) -> None:
        self.ends = ends
        self.stopped = 0
        self.triggers: list[Any] = []

    def addSystemEventTrigger(self, phase: str, event: str, call: Any) -> None:
        self.triggers.append((phase, event, call))

    def getReaders(self) -> list[Any]:
        return list(self.ends)

    def getWriters(self) -> list[Any]:
        return list(self.ends[:1])

    def stop(self) -> None:
        self.stopped += 1


class Process:
    """A crawler whose engine is stopped, with a clock that is set by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *active: Request, drain_sec: float = 30) -> None:
        self.now = 100.0
        self.closed: list[str] = []
        self.connections = [Connection(connected=True), Connection(connected=False)]
        self.reactor = Reactor(*self.connections, object())
        self.engine = SimpleNamespace(running=True, downloader=SimpleNamespace(active=set(active)))
        leases = SimpleNamespace(give_all_back=self.closed.append, unreturned=0)
        self.settings = Settings()
        self.stats = MemoryStatsCollector(self)
        config = SimpleNamespace(drain_sec=drain_sec)
        self.wired = SimpleNamespace(config=config, leases=leases, close=lambda: self.closed.append("wiring"))
        monkeypatch.setattr(shutdown.wiring, "of", lambda _: self.wired)
        monkeypatch.setattr(shutdown, "running_reactor", lambda: self.reactor)
        monkeypatch.setattr(shutdown, "tcp", SimpleNamespace(Client=Connection))
        monkeypatch.setattr(shutdown, "time", SimpleNamespace(monotonic=lambda: self.now))

    def look(self, extension: Shutdown, seconds: float) -> list[str]:
        self.now += seconds
        extension._look()
        return [connection.ended for connection in self.connections]


def leased() -> Request:
    lease = Lease(Task("t", "article", "http://a.test/", "a.test"), History(), "1-x")
    return Request("http://a.test/", meta={"lease": lease})


def test_a_drain_has_its_time_and_is_then_cut(monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    async def main() -> None:
        request, other = leased(), Request("http://a.test/robots.txt")
        process = Process(monkeypatch, request, other)
        extension = Shutdown(process)
        assert process.look(extension, 1000) == ["", ""]
        process.engine.running = False
        assert process.look(extension, 0) == ["", ""]
        assert process.look(extension, 19.9) == ["", ""]
        assert process.look(extension, 0.2) == ["aborted", "stopped"]
        assert (request.meta["outcome"].reason, request.meta["outcome"].kind) == ("shutdown", "postponed")
        assert other.meta == {}
        assert process.look(extension, 1) == ["aborted", "stopped"]
        assert process.reactor.stopped == 0
        process.look(extension, 8.9)
        assert process.reactor.stopped == 0
        process.look(extension, 0.2)
        assert process.reactor.stopped == 1

    asyncio.run(main())
    assert [record.message for record in caplog.records if record.name == shutdown.__name__] == ["drain_cut"]


@pytest.mark.parametrize(("unreturned", "counted"), [(0, None), (2, 2)])
def test_a_reactor_that_stops_first_closes_all_and_reports_unreturned_leases(
    monkeypatch: pytest.MonkeyPatch, unreturned: int, counted: int | None
) -> None:
    async def main() -> None:
        process = Process(monkeypatch)
        process.wired.leases.unreturned = unreturned
        extension = Shutdown(process)
        extension.engine_started()
        ((phase, event, leave),) = process.reactor.triggers
        assert (phase, event) == ("during", "shutdown")
        leave()
        leave()
        assert process.closed == ["shutdown", "wiring"]
        assert process.stats.get_value(UNRETURNED) == counted
        extension._watch.stop()

    asyncio.run(main())


def test_a_stopped_engine_leaves_only_the_wiring_to_close(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        process = Process(monkeypatch)
        extension = Shutdown(process)
        extension.engine_started()
        await extension.engine_stopped()
        process.reactor.triggers[0][2]()
        assert process.closed == ["wiring"]
        assert not extension._watch.running

    asyncio.run(main())


def test_the_parsers_end_before_the_server_does(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        process = Process(monkeypatch)

        async def close(drain_sec: float) -> None:
            process.closed.append(f"parsers {drain_sec:g}")

        process.wired.parsers = SimpleNamespace(close=close)
        await Shutdown(process).engine_stopped()
        assert process.closed == ["parsers 1", "wiring"]

    asyncio.run(main())
