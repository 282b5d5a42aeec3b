"""Tunnels through real proxies on loopback, and every way in which a proxy fails."""

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

import pytest
from ports import free_port
from proxies import Proxy

from feedcrawl.domain.sites.outgoing import Proxy as Named
from feedcrawl.domain.sites.outgoing import read_proxy
from feedcrawl.exceptions import RouteFailed, TunnelFailed
from feedcrawl.outgoing import dialling
from feedcrawl.outgoing.dialling import connected, tunnel

FROM = "127.0.0.21"


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with Proxy(FROM) as proxy:
        yield proxy


class Echo:
    """A server that answers with the client's address, and then with the line received."""

    def __init__(self) -> None:
        self.port = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = await reader.readline()
        writer.write(writer.get_extra_info("peername")[0].encode() + b" " + line)
        await writer.drain()
        writer.close()


def through(proxy: Named, targets: Sequence[str] = ("127.0.0.1",), port: int | None = None) -> bytes:
    """What comes back through a tunnel to the echo, or to another port of this machine."""

    async def play() -> bytes:
        echo = Echo()
        async with asyncio.timeout(10), await asyncio.start_server(echo, "127.0.0.1", 0) as server:
            sock = await tunnel(proxy, targets, port or server.sockets[0].getsockname()[1])
            reader, writer = await asyncio.open_connection(sock=sock)
            writer.write(b"hello\n")
            got = await reader.read()
            writer.close()
            return got

    return asyncio.run(play())


def named(proxy: Proxy, scheme: str, credentials: str = "") -> Named:
    found = read_proxy(f"{scheme}://127.0.0.1:{proxy.port}")
    username, _, password = credentials.partition(":")
    return Named(found.scheme, found.host, found.port, username, password)


@pytest.mark.parametrize(("scheme", "kind"), [("http", "connect"), ("socks5", "socks5"), ("socks4", "socks4")])
def test_a_tunnel_leads_to_the_address(proxy: Proxy, scheme: str, kind: str) -> None:
    assert through(named(proxy, scheme)) == f"{FROM} hello\n".encode()
    ((how, target),) = proxy.requests
    assert (how, target.rpartition(":")[0]) == (kind, "127.0.0.1")


@pytest.mark.parametrize("scheme", ["http", "socks5"])
def test_a_name_reaches_the_proxy_that_resolves(proxy: Proxy, scheme: str) -> None:
    proxy.names = lambda: {"inside.test": "127.0.0.1"}
    assert through(named(proxy, scheme), ("inside.test",)) == f"{FROM} hello\n".encode()
    assert proxy.requests[0][1].startswith("inside.test:")


@pytest.mark.parametrize("scheme", ["http", "socks5"])
def test_credentials(proxy: Proxy, scheme: str) -> None:
    proxy.credentials = "ada:open-sesame"
    assert through(named(proxy, scheme, "ada:open-sesame")) == f"{FROM} hello\n".encode()
    for wrong in ("", "ada:sesame"):
        with pytest.raises(RouteFailed) as failed:
            through(named(proxy, scheme, wrong))
        assert failed.value.reason == "proxy_failed"
        assert "sesame" not in str(failed.value)


@pytest.mark.parametrize(
    ("scheme", "reply", "error", "reason"),
    [
        ("http", 403, RouteFailed, "proxy_refused"),
        ("http", 500, RouteFailed, "proxy_refused"),
        ("http", 502, TunnelFailed, "unreachable"),
        ("http", 503, TunnelFailed, "unreachable"),
        ("http", 504, TunnelFailed, "connect_timeout"),
        ("socks5", 1, TunnelFailed, "unreachable"),
        ("socks5", 2, RouteFailed, "proxy_refused"),
        ("socks5", 3, TunnelFailed, "unreachable"),
        ("socks5", 4, TunnelFailed, "unreachable"),
        ("socks5", 5, TunnelFailed, "refused"),
        ("socks5", 6, TunnelFailed, "connect_timeout"),
        ("socks5", 7, RouteFailed, "proxy_refused"),
        ("socks5", 99, RouteFailed, "proxy_failed"),
        ("socks4", 91, TunnelFailed, "unreachable"),
        ("socks4", 92, RouteFailed, "proxy_failed"),
    ],
)
def test_replies(proxy: Proxy, scheme: str, reply: int, error: type[Exception], reason: str) -> None:
    proxy.refusing = reply
    with pytest.raises(error) as failed:
        through(named(proxy, scheme))
    assert failed.value.reason == reason  # type: ignore[attr-defined]
    assert ("allow CONNECT" in str(failed.value)) == (reply == 403)


@pytest.mark.parametrize("scheme", ["http", "socks5", "socks4"])
def test_a_proxy_that_closes_or_is_away(proxy: Proxy, scheme: str) -> None:
    proxy.broken = True
    away = read_proxy(f"{scheme}://127.0.0.1:{free_port()}")
    for target in (named(proxy, scheme), away):
        with pytest.raises(RouteFailed) as failed:
            through(target)
        assert failed.value.reason == "proxy_failed"
        assert target.name in str(failed.value)


def test_the_next_address_is_tried(proxy: Proxy) -> None:
    assert through(named(proxy, "socks5"), ("127.9.9.9", "127.0.0.1")) == f"{FROM} hello\n".encode()
    assert [target.rpartition(":")[0] for _, target in proxy.requests] == ["127.9.9.9", "127.0.0.1"]


def test_a_socks_4_proxy_gets_no_ipv6_address(proxy: Proxy) -> None:
    with pytest.raises(TunnelFailed) as failed:
        through(named(proxy, "socks4"), ("::1",))
    assert (failed.value.reason, proxy.requests) == ("unreachable", [])


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionResetError):
        await reader.read()
    writer.close()


def against(server: Callable[..., Awaitable[None]], scheme: str, visit: Callable[[Named], Awaitable[Any]]) -> None:
    async def play() -> None:
        async with await asyncio.start_server(server, "127.0.0.1", 0) as listening:
            try:
                await visit(read_proxy(f"{scheme}://127.0.0.1:{listening.sockets[0].getsockname()[1]}"))
            finally:
                await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))  # the server sees the close

    asyncio.run(play())


@pytest.mark.parametrize("scheme", ["http", "socks5"])
def test_a_tunnel_that_does_not_open_in_time_is_the_targets_failure(
    scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialling, "DIAL_SEC", 0.1)
    with pytest.raises(TunnelFailed) as failed:
        against(silent, scheme, lambda proxy: tunnel(proxy, ("127.0.0.1",), 80))
    assert failed.value.reason == "connect_timeout"


@pytest.mark.parametrize("reply", [b"SSH-2.0\r\n\r\n", b"HTTP/1.1\r\n\r\n", b"x" * 20_000])
def test_a_server_that_is_no_http_proxy_fails(reply: bytes) -> None:
    async def other(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(reply)
        await silent(reader, writer)

    with pytest.raises(RouteFailed) as failed:
        against(other, "http", lambda proxy: tunnel(proxy, ("127.0.0.1",), 80))
    assert failed.value.reason == "proxy_failed"


def test_a_proxy_is_reached_by_its_name(proxy: Proxy) -> None:
    async def play() -> socket.socket:
        return await connected(Named("http", "localhost", proxy.port))

    with asyncio.run(play()) as sock:
        assert sock.getpeername()[1] == proxy.port
