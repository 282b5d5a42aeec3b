from pathlib import Path

import pytest
from scrapy.settings import Settings

from feedcrawl import settings as project
from feedcrawl.config import Config, ConfigError
from feedcrawl.domain.sites.owners import Sources
from feedcrawl.domain.sites.sources import BadSources, Source
from feedcrawl.exceptions import RouteFailed, TunnelFailed
from feedcrawl.outgoing.routes import Routes

PUBLIC = ("198.51.100.1",)


class Made:
    """Routes of sources, with the stats that they counted and a clock that the test turns."""

    def __init__(self, *sources: Source, addresses: str = "", **settings: str) -> None:
        given = Settings()
        given.setmodule(project, priority="project")
        given.setdict({"FEEDCRAWL_BIND_ADDRESSES": addresses, **settings}, priority="cmdline")
        self.counted: list[str] = []
        self.now = 1000.0
        config = Config.from_settings(given)
        self.routes = Routes(config, Sources(sources), self.counted.append, now=lambda: self.now)

    def left_by(self, source: str | None, host: str, error: Exception | None = None) -> str | None:
        with self.routes.taken(source, host, PUBLIC) as route:
            if error is not None:
                raise error
        return route.name

    def fails(self, source: str | None, host: str, error: Exception) -> None:
        with pytest.raises(type(error)):
            self.left_by(source, host, error)


def source(name: str = "a", **how: object) -> Source:
    return Source(name, f"https://{name}.example/", **how)  # type: ignore[arg-type]


def test_hosts_take_addresses_in_turn_and_keep_theirs() -> None:
    made = Made(source(bind_addresses=("127.0.0.11", "127.0.0.12", "127.0.0.13")))
    found = [made.left_by("a", host) for host in ("x", "y", "x", "z", "y", "w")]
    assert found == [f"127.0.0.1{n}" for n in (1, 2, 1, 3, 2, 1)]
    made.now += 240
    assert made.left_by("a", "z") == "127.0.0.12"


def test_without_routes_the_system_chooses() -> None:
    made = Made(source())
    assert not made.routes.configured
    assert (made.left_by("a", "x"), made.left_by(None, "x"), made.counted) == (None, None, [])


def test_a_source_goes_before_the_addresses_for_all() -> None:
    made = Made(source(bind_addresses=("127.0.0.11",)), source("b"), addresses="127.0.0.31, 127.0.0.32")
    assert [made.left_by(name, "x") for name in ("a", "b", None, "gone")] == ["127.0.0.11", *["127.0.0.31"] * 3]
    assert made.counted.count("feedcrawl/outgoing/answered/127.0.0.31") == 3


def test_the_source_of_a_request_is_that_of_its_site_or_named() -> None:
    made = Made(source(), source("b"))
    assert made.routes.source_of("b", "https://www.a.example/x") == "a"
    assert made.routes.source_of("b", "https://cdn.example/x") == "b"
    assert made.routes.source_of("gone", "https://cdn.example/x") is None
    assert made.routes.source_of(None, "https://c.example/") is None


def test_a_failing_proxy_is_left_out_until_its_probe() -> None:
    proxies = ("http://127.0.0.1:1001", "socks5://127.0.0.1:1002")
    made = Made(source(proxies=proxies), FEEDCRAWL_CIRCUIT_FAILURES="2")
    down = RouteFailed("proxy_failed", "no connection")
    assert made.left_by("a", "x") == proxies[0]
    made.fails("a", "x", down)
    assert made.left_by("a", "x") == proxies[1]  # the host goes on by the next
    made.fails("a", "y", down)  # the second failure in a row of the first proxy
    assert [made.left_by("a", host) for host in "yzuv"] == [proxies[1]] * 4
    assert made.counted.count(f"feedcrawl/outgoing_circuit/open/{proxies[0]}") == 1
    assert made.counted.count(f"feedcrawl/outgoing/proxy_failed/{proxies[0]}") == 2
    made.now += 30
    assert {made.left_by("a", f"host-{number}") for number in range(4)} == set(proxies)  # a success closes it


def test_only_a_probe_is_tried_while_all_proxies_are_down() -> None:
    made = Made(source(proxies=("http://127.0.0.1:1001",)), FEEDCRAWL_CIRCUIT_FAILURES="1")
    made.fails("a", "x", RouteFailed("proxy_failed", "no connection"))
    with pytest.raises(RouteFailed, match=r"http://127\.0\.0\.1:1001 failed; next try in 30 s") as failed:
        made.left_by("a", "y")
    assert (failed.value.reason, failed.value.wait_sec) == ("route_down", 30.0)
    made.now += 30
    with made.routes.taken("a", "x", PUBLIC), pytest.raises(RouteFailed):
        made.left_by("a", "y")
    assert made.left_by("a", "y") == "http://127.0.0.1:1001"


def test_requests_under_way_when_a_circuit_opens_do_not_lengthen_its_wait() -> None:
    made = Made(source(proxies=("http://127.0.0.1:1001",)), FEEDCRAWL_CIRCUIT_FAILURES="1")
    down = RouteFailed("proxy_failed", "no connection")

    def two_at_once() -> None:
        with made.routes.taken("a", "x", PUBLIC):
            made.fails("a", "y", down)
            raise down

    with pytest.raises(RouteFailed):
        two_at_once()
    with pytest.raises(RouteFailed, match="next try in 30 s"):
        made.left_by("a", "z")


@pytest.mark.parametrize(
    "error", [TunnelFailed("refused", "by the host"), RouteFailed("proxy_refused", "403"), ValueError("ours")]
)
def test_a_failure_beyond_the_proxy_opens_no_circuit(error: Exception) -> None:
    made = Made(source(proxies=("http://127.0.0.1:1001",)), FEEDCRAWL_CIRCUIT_FAILURES="1")
    made.fails("a", "x", error)
    assert made.left_by("a", "x") == "http://127.0.0.1:1001"


def test_a_host_without_an_address_of_the_version_to_bind() -> None:
    made = Made(source(bind_addresses=("127.0.0.11",)))
    with pytest.raises(TunnelFailed) as failed, made.routes.taken("a", "x", ("2001:db8::1",)):
        pass
    assert failed.value.reason == "unreachable"


def test_addresses_of_other_machines_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    made = Made(source(bind_addresses=("192.0.2.1", "127.0.0.11")))
    assert made.left_by("a", "x") == "127.0.0.11"
    assert [record.message for record in caplog.records] == ["bind_address_missing"]


@pytest.mark.parametrize(
    ("addresses", "message"),
    [
        ("192.0.2.1", "FEEDCRAWL_BIND_ADDRESSES: this machine has none of the addresses 192.0.2.1"),
        ("eth0", "FEEDCRAWL_BIND_ADDRESSES must be IP addresses, comma separated, not 'eth0'"),
    ],
)
def test_addresses_that_cannot_be_used_stop_the_start(addresses: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Made(addresses=addresses)


def test_sources_that_cannot_be_used_stop_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        BadSources, match=r"source 'a': bind_address: this machine has none of the addresses 192\.0\.2\.1"
    ):
        Made(source(bind_addresses=("192.0.2.1",)))
    monkeypatch.delenv("NO_SUCH_SECRET", raising=False)
    monkeypatch.setenv("EMPTY_SECRET", "")
    for name in ("NO_SUCH_SECRET", "EMPTY_SECRET"):
        with pytest.raises(BadSources, match=f"proxy http://p:1 needs the variable '{name}' of the environment"):
            Made(source(proxies=(f"http://ada:${{{name}}}@p:1",)))
    monkeypatch.setitem(__import__("sys").modules, "python_socks", None)
    with pytest.raises(BadSources, match=r"source 'a': python_socks is not installed: pip install .*\[socks\]"):
        Made(source(proxies=("socks5://p:1",)))
    Made(source(proxies=("http://p:1",)))


def test_only_sources_with_the_setting_leave_names_to_their_proxy(tmp_path: Path) -> None:
    made = Made(source(proxies=("http://p:1",)), source("b", proxies=("http://p:1",), proxy_resolves=True))
    assert [made.routes.resolves(name) for name in ("a", "b", None)] == [False, True, False]
