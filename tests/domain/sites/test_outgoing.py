import pytest

from feedcrawl.domain.sites.outgoing import (
    CLOSED,
    DIRECT,
    KEPT_SEC,
    PROBE_SEC,
    Circuit,
    Proxy,
    Route,
    Stay,
    choose,
    of_families,
    read_addresses,
    read_proxies,
    read_proxy,
)

A, B, C = Route("192.0.2.1"), Route("192.0.2.2"), Route("2001:db8::1")
DOWN = Circuit(failures=5, opened=1, until=130.0)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("192.0.2.1", ("192.0.2.1",)),
        (["192.0.2.1", "192.0.2.2", "192.0.2.1"], ("192.0.2.1", "192.0.2.2")),
        (["2001:DB8:0::1"], ("2001:db8::1",)),
    ],
)
def test_local_addresses(value: object, expected: tuple[str, ...]) -> None:
    assert read_addresses(value) == expected


@pytest.mark.parametrize("value", ["eth0", "192.0.2.0/24", 3, [3], None, ["192.0.2.1", ""], "192.0.2.1:80"])
def test_a_malformed_local_address_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="an IP address of this machine, or a list of them"):
        read_addresses(value)


@pytest.mark.parametrize(
    ("url", "expected", "name"),
    [
        ("http://proxy.example:3128", Proxy("http", "proxy.example", 3128), "http://proxy.example:3128"),
        ("socks5://192.0.2.1:1080/", Proxy("socks5", "192.0.2.1", 1080), "socks5://192.0.2.1:1080"),
        ("socks4://[2001:db8::1]:1080", Proxy("socks4", "2001:db8::1", 1080), "socks4://[2001:db8::1]:1080"),
        ("http://ada:${P_1}@p:8080", Proxy("http", "p", 8080, "ada", "${P_1}"), "http://p:8080"),
        ("http://${USER}:${P}@p:8080", Proxy("http", "p", 8080, "${USER}", "${P}"), "http://p:8080"),
    ],
)
def test_a_proxy(url: str, expected: Proxy, name: str) -> None:
    assert read_proxy(url) == expected
    assert read_proxy(url).name == name


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("proxy.example:3128", "scheme://host:port with scheme http, socks5 or socks4"),
        ("https://proxy.example:3128", "scheme://host:port"),
        ("http://proxy.example", "scheme://host:port"),
        ("http://proxy.example:0", "scheme://host:port"),
        ("http://proxy.example:99999", "scheme://host:port"),
        ("http://proxy.example:80/path", "scheme://host:port"),
        ("http://:80", "scheme://host:port"),
        (3128, "scheme://host:port"),
        ("socks5h://proxy.example:1080", "proxy_resolves: true"),
        ("http://ada:open-sesame@proxy.example:3128", "password is ${NAME}"),
        ("http://ada:x${P}@proxy.example:3128", "password is ${NAME}"),
    ],
)
def test_a_malformed_proxy_is_refused_without_its_password(url: object, message: str) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the text is looked at
        read_proxies([url])
    assert message in str(refused.value)
    assert "sesame" not in str(refused.value)


def test_credentials_come_from_the_environment() -> None:
    proxy = read_proxy("http://${USER}:${PASS}@p:1")
    filled = proxy.filled({"USER": "ada", "PASS": "open-sesame"})
    assert (filled.username, filled.password) == ("ada", "open-sesame")
    assert "sesame" not in repr(filled)
    with pytest.raises(KeyError, match="PASS"):
        proxy.filled({"USER": "ada"})


@pytest.mark.parametrize(
    ("circuits", "stay", "turn", "expected"),
    [
        ({}, None, 0, A),
        ({}, None, 1, B),
        ({}, None, 2, A),
        ({}, Stay(B, 100.0), 0, B),  # the host keeps its route
        ({}, Stay(B, 100.0 - KEPT_SEC + 1), 0, B),
        ({}, Stay(B, 100.0 - KEPT_SEC), 0, A),  # its connections have been closed
        ({}, Stay(C, 100.0), 1, B),  # a route that the source no longer has
        ({A: DOWN}, None, 0, B),
        ({A: DOWN}, Stay(A, 100.0), 0, B),
        ({A: Circuit(4)}, None, 0, A),
        ({A: Circuit(5, 1, 100.0)}, None, 0, A),  # half-open: this request decides
        ({A: DOWN, B: Circuit(5, 1, 110.0)}, None, 0, 10.0),
    ],
)
def test_the_route_of_a_request(
    circuits: dict[Route, Circuit], stay: Stay | None, turn: int, expected: Route | float
) -> None:
    assert choose((A, B), circuits, stay, turn, 100.0) == expected


def test_a_circuit_opens_is_probed_and_opens_for_longer() -> None:
    how = {"threshold": 3, "waits_sec": (30.0, 60.0)}
    once = CLOSED.after_failure(0.0, **how)
    twice = once.after_failure(1.0, **how)
    assert (once.state(1.0), twice.state(1.0)) == ("closed", "closed")
    first = twice.after_failure(2.0, **how)
    assert first == Circuit(3, 1, 32.0)
    assert (first.state(31.9), first.state(32.0)) == ("open", "half_open")
    assert first.probed(40.0) == Circuit(3, 1, 40.0 + PROBE_SEC)  # others wait for its result
    second = first.after_failure(41.0, **how)
    assert second == Circuit(4, 2, 101.0)
    assert second.after_failure(101.0, **how) == Circuit(5, 3, 161.0)


@pytest.mark.parametrize(
    ("addresses", "expected"),
    [
        (("198.51.100.1",), (A, B)),
        (("2001:db8::9",), (C,)),
        (("198.51.100.1", "2001:db8::9"), (A, B, C)),
        ((), ()),
    ],
)
def test_a_local_address_reaches_its_own_ip_version(addresses: tuple[str, ...], expected: tuple[Route, ...]) -> None:
    assert of_families((A, B, C), addresses) == expected


def test_proxies_reach_every_version() -> None:
    proxy = Route(proxy=read_proxy("http://p:1"))
    assert of_families((proxy,), ("2001:db8::9",)) == (proxy,)
    assert (proxy.name, A.name, DIRECT.name) == ("http://p:1", "192.0.2.1", None)
