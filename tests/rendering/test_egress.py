"""Everything that the browser's way out lets pass or refuses, on loopback."""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import Any

import pytest
from proxies import Proxy
from scrapy.settings import Settings

from feedcrawl import settings as project
from feedcrawl.config import Config
from feedcrawl.domain.addresses import denied_ports, parse_networks
from feedcrawl.domain.sites.owners import Sources
from feedcrawl.domain.sites.sources import Source
from feedcrawl.exceptions import AddressRefused
from feedcrawl.outgoing.routes import Routes
from feedcrawl.rendering import egress
from feedcrawl.rendering.egress import Egress

PAGE = "http://page.test/"
NAMES = {"page.test": ("127.1.0.1",), "cdn.page.test": ("127.1.0.1",), "other.test": ("127.1.0.1",), "gone.test": ()}
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhello"


class Web:
    """A server that records its requests, and the dials that must not happen."""

    def __init__(self, answer: bytes = ANSWER) -> None:
        self.answer = answer
        self.requests: list[bytes] = []
        self.port = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.requests.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(self.answer)
        await writer.drain()
        writer.close()


def ways(*sources: Source) -> Routes:
    settings = Settings()
    settings.setmodule(project, priority="project")
    return Routes(Config.from_settings(settings), Sources(sources), lambda _: None)


async def resolve(host: str) -> tuple[str, ...]:
    if host == "private.test":
        raise AddressRefused("private.test is 10.0.0.1, which is not public")
    return NAMES.get(host, (host,))


async def response_of(proxy_port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy_port)
    writer.write(request)
    await writer.drain()
    try:
        return await reader.read()
    finally:
        writer.close()


def request(line: str, token: str | None, *more: str) -> bytes:
    own = [f"Proxy-Authorization: Basic {token}"] if token else []
    return "\r\n".join([f"{line} HTTP/1.1", *own, *more, "", ""]).encode()


def run(scene: Callable[[Web, Egress, int, str], Awaitable[None]], web: Web | None = None) -> int:
    """Plays a scene with a web, a proxy, its port and the token of PAGE; how often it refused."""
    refused: list[None] = []
    web = web or Web()

    async def play() -> None:
        async with asyncio.timeout(10), await asyncio.start_server(web, "127.1.0.1", 0) as server:
            web.port = server.sockets[0].getsockname()[1]
            proxy = Egress(
                resolve,
                opened=parse_networks("127.1.0.0/16"),
                denied_ports=denied_ports(""),
                routes=ways(),
                refused=lambda: refused.append(None),
            )
            port = await proxy.start()
            token = base64.b64encode(f"page:{proxy.admit('page', PAGE)}".encode()).decode()
            await scene(web, proxy, port, token)
            await proxy.close()

    asyncio.run(play())
    return len(refused)


def test_a_request_passes_and_its_connection_ends() -> None:
    async def scene(web: Web, _: Egress, port: int, token: str) -> None:
        got = await response_of(port, request(f"GET http://page.test:{web.port}/x", token, "Accept: */*"))
        assert got == b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
        expected = f"GET /x HTTP/1.1\r\nHost: page.test:{web.port}\r\nAccept: */*\r\nConnection: close\r\n\r\n"
        assert web.requests == [expected.encode()]

    assert run(scene) == 0


def test_a_tunnel_passes_any_bytes() -> None:
    async def scene(web: Web, _: Egress, port: int, token: str) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request(f"CONNECT cdn.page.test:{web.port}", token))
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 200 Connection established\r\n\r\n"
        writer.write(b"any bytes\r\n\r\n")
        assert await reader.read() == ANSWER
        assert web.requests == [b"any bytes\r\n\r\n"]
        writer.close()

    assert run(scene) == 0


REFUSED = [
    "http://private.test:{port}/",
    "http://other.test:{port}/",  # an opened network, and not the page's own site
    "http://127.1.0.1:{port}/",
    "http://127.0.0.1:{port}/",
    "http://localhost:{port}/",
    "http://[::1]:{port}/",
    "http://[::ffff:127.1.0.1]:{port}/",
    "http://0x7f010001:{port}/",
    "http://127.1:{port}/",
    "http://page.test:6379/",
    "http://page.test:22/",
    "http://page.test:0/",
    "http://10.0.0.1/",
    "http://169.254.169.254/latest/meta-data/",
]


@pytest.mark.parametrize("url", REFUSED)
def test_a_refused_address_is_not_dialled(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dialled: list[object] = []

    async def scene(web: Web, _: Egress, port: int, token: str) -> None:
        target = url.format(port=web.port)
        real = asyncio.open_connection

        async def dial(host: str, to: int, **how: Any) -> object:
            dialled.append((host, to))
            return await real(host, to, **how)

        authority = target.removeprefix("http://").partition("/")[0]
        plain, tunnel = (
            request(f"GET {target}", token),
            request(f"CONNECT {authority.rpartition(':')[0]}:{to_port(target)}", token),
        )
        for words in (plain, tunnel):
            reader, writer = await real("127.0.0.1", port)
            monkeypatch.setattr(egress.asyncio, "open_connection", dial)
            writer.write(words)
            status = (await reader.read()).split(b" ")[1]
            monkeypatch.setattr(egress.asyncio, "open_connection", real)
            assert status in {b"403", b"400"}
            writer.close()
        assert web.requests == []

    assert run(scene) >= 1
    assert dialled == []


def to_port(url: str) -> str:
    tail = url.removeprefix("http://").partition("/")[0].rpartition(":")[2]
    return tail if tail.isdecimal() else "80"


@pytest.mark.parametrize("token", [None, "", "cGFnZTp4", "x"])
def test_a_client_without_a_token_of_a_page_is_refused(token: str | None) -> None:
    async def scene(web: Web, _: Egress, port: int, __: str) -> None:
        for line in (f"GET http://page.test:{web.port}/", f"CONNECT page.test:{web.port}"):
            assert (await response_of(port, request(line, token))).startswith(b"HTTP/1.1 407 ")
        assert web.requests == []

    run(scene)


def test_a_page_that_has_ended_is_refused() -> None:
    async def scene(web: Web, proxy: Egress, port: int, token: str) -> None:
        proxy.dismiss("page")
        assert (await response_of(port, request(f"GET http://page.test:{web.port}/", token))).startswith(
            b"HTTP/1.1 407 "
        )
        assert web.requests == []

    run(scene)


@pytest.mark.parametrize(
    ("answer", "status"),
    [(b"", b"502"), (b"SSH-2.0\r\n\r\n", b"502"), (b"HTTP/1.1 103 Early\r\n\r\n" + ANSWER, b"200")],
)
def test_the_status_of_an_origin_is_passed_on(answer: bytes, status: bytes) -> None:
    async def scene(web: Web, _: Egress, port: int, token: str) -> None:
        assert (await response_of(port, request(f"GET http://page.test:{web.port}/", token))).split(b" ")[1] == status

    run(scene, Web(answer))


@pytest.mark.parametrize("words", [b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\r\n\r\n", b"x" * 70_000 + b"\r\n\r\n"])
def test_a_malformed_proxy_request_is_refused(words: bytes) -> None:
    async def scene(_: Web, __: Egress, port: int, ___: str) -> None:
        assert (await response_of(port, words)).split(b" ")[1] in {b"400", b"502"}

    run(scene)


def test_names_without_an_address_and_closed_ports() -> None:
    async def scene(_: Web, __: Egress, port: int, token: str) -> None:
        for place in ("http://gone.page.test:8080/", "http://page.test:1025/"):
            NAMES["gone.page.test"] = ()
            assert (await response_of(port, request(f"GET {place}", token))).split(b" ")[1] == b"502"

    assert run(scene) == 0


def test_an_endless_body_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(egress, "MAX_BYTES", 100_000)
    web = Web(b"HTTP/1.1 200 OK\r\n\r\n" + b"a" * 3_000_000)

    async def scene(_: Web, __: Egress, port: int, token: str) -> None:
        assert len(await response_of(port, request(f"GET http://page.test:{web.port}/", token))) < 300_000

    run(scene, web)


@pytest.mark.parametrize("way", ["bind", "http", "http resolves", "socks5"])
def test_a_page_takes_the_routes_of_its_source(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROXY_SECRET", "open-sesame")
    web, came_from = Web(), []

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came_from.append(writer.get_extra_info("peername")[0])
        await web(reader, writer)

    async def play(routes: Routes) -> None:
        async with asyncio.timeout(10), await asyncio.start_server(served, "127.1.0.1", 0) as server:
            web.port = server.sockets[0].getsockname()[1]
            opened = parse_networks("127.1.0.0/16")
            proxy = Egress(resolve, opened=opened, denied_ports=denied_ports(""), routes=routes)
            port = await proxy.start()
            token = base64.b64encode(f"page:{proxy.admit('page', PAGE, 'own')}".encode()).decode()
            assert (await response_of(port, request(f"GET http://page.test:{web.port}/x", token))).endswith(b"hello")
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(request(f"CONNECT page.test:{web.port}", token))
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 200 Connection established\r\n\r\n"
            writer.write(b"through\r\n\r\n")
            assert await reader.read() == ANSWER
            writer.close()
            await proxy.close()

    with ExitStack() as stack:
        if way == "bind":
            own = Source("own", PAGE, bind_addresses=("127.0.0.21",))
        else:
            upstream = stack.enter_context(Proxy("127.0.0.21", credentials="ada:open-sesame"))
            upstream.names = lambda: {"page.test": "127.1.0.1"}
            scheme, _, resolves = way.partition(" ")
            url = f"{scheme}://ada:${{PROXY_SECRET}}@127.0.0.1:{upstream.port}"
            own = Source("own", PAGE, proxies=(url,), proxy_resolves=bool(resolves))
        asyncio.run(play(ways(own)))
        assert came_from == ["127.0.0.21", "127.0.0.21"]
        place = f"127.1.0.1:{web.port}"
        if way == "http":
            assert upstream.requests == [("connect", place)] * 2, "only addresses that were judged"
        elif way == "http resolves":
            by_name = f"page.test:{web.port}"
            assert upstream.requests == [("http", f"http://{by_name}/x"), ("connect", by_name)]
        elif way == "socks5":
            assert upstream.requests == [("socks5", place)] * 2
        assert all(b"Proxy-Authorization" not in head for head in web.requests)
