"""The browser's only way to the network: a forward proxy on loopback that connects to allowed addresses only.

A browser resolves names by itself, follows redirects and loads whatever a page links, so that checking URLs cannot
confine it. The proxy checks each connection with the same resolver as the crawler's own connections, and dials exactly
the addresses that were checked.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.addresses import is_allowed, url_refusal
from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.http.forwarding import MAX_HEAD_BYTES, BadExchange, closing_head, read_request
from feedcrawl.domain.urls import same_site
from feedcrawl.exceptions import AddressRefused, RouteFailed
from feedcrawl.outgoing.dialling import DIAL_SEC, authorization, connected, tunnel

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Sequence

    from feedcrawl.domain.addresses import Network
    from feedcrawl.domain.http.forwarding import ProxyRequest
    from feedcrawl.domain.sites.outgoing import Route
    from feedcrawl.outgoing.routes import Routes

logger = logging.getLogger(__name__)

LIFE_SEC: Final = 120.0
"""The longest life of one connection, in seconds, even while bytes are passing."""
MAX_BYTES: Final = 64 << 20
"""The most bytes that one connection may bring: a page that loads without end must not fill the browser's memory."""
CHUNK_BYTES: Final = 64 << 10

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
_UNAVAILABLE = (OSError, TimeoutError, EOFError, asyncio.LimitOverrunError)


@dataclass(frozen=True, slots=True)
class _Page:
    """A page that may connect: its `Proxy-Authorization`, its URL, and the source whose outgoing routes it takes."""

    token: str
    url: str
    source: str | None


class Egress:
    """The proxy. Each page has a user name and a password, since other users of the machine can reach the proxy too.

    FEEDCRAWL_ALLOW_NETWORKS opens networks for the crawler, not for the scripts of strangers: a page reaches non-public
    addresses only on its own site. `resolve` returns the addresses of a host that may be dialled (none for a name
    without addresses), or raises AddressRefused. `refused` is called for each refusal. Connections take the outgoing
    `routes` of the page's source.
    """

    def __init__(
        self,
        resolve: Callable[[str], Awaitable[Sequence[str]]],
        *,
        opened: tuple[Network, ...],
        denied_ports: Collection[int],
        routes: Routes,
        refused: Callable[[], None] = lambda: None,
    ) -> None:
        self._pages: dict[str, _Page] = {}
        self._resolve = resolve
        self._routes = routes
        self._opened = opened
        self._denied_ports = denied_ports
        self._refused = refused
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def start(self) -> int:
        """Start listening; the port on 127.0.0.1."""
        self._server = await asyncio.start_server(self._accepted, "127.0.0.1", 0, limit=MAX_HEAD_BYTES)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def admit(self, name: str, url: str, source: str | None = None) -> str:
        """Allow the page at this URL to connect; the password that belongs to the page's user name."""
        password = secrets.token_urlsafe(24)
        token = base64.b64encode(f"{name}:{password}".encode()).decode()
        self._pages[name] = _Page(f"Basic {token}", url, source)
        return password

    def dismiss(self, name: str) -> None:
        """End a page's permission: the page can open no new connections."""
        self._pages.pop(name, None)

    async def close(self) -> None:
        """Close all connections."""
        if self._server is not None:
            self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            async with asyncio.timeout(LIFE_SEC):
                await self._serve((reader, writer))
        except _UNAVAILABLE:
            pass  # one side closed or exceeded the time limit: the other side sees the connection end
        except asyncio.CancelledError:
            pass  # cancelled by `close`; the server's own callback must not see the cancellation
        finally:
            self._open.discard(task)
            writer.close()

    async def _serve(self, client: Streams) -> None:
        try:
            request = read_request(await client[0].readuntil(b"\r\n\r\n"))
            page = self._page_of(request)
            if page is None:
                await _say(client, 407, b'Proxy-Authenticate: Basic realm="feedcrawl"\r\n')
                return
            origin, head = await self._dial(request, page)
        except BadExchange as refusal:
            logger.debug("egress_bad_request: %s", refusal.detail)
            await _say(client, 400)
        except (AddressRefused, InvalidUrl) as refusal:
            self._refused()
            logger.info("egress_refused", extra={"detail": refusal.detail})
            await _say(client, 403)
        except (RouteFailed, *_UNAVAILABLE):
            await _say(client, 502)
        else:
            try:
                await (_tunnel(client, origin) if head is None else _forward(client, origin, head, request.body_bytes))
            finally:
                origin[1].close()

    def _page_of(self, request: ProxyRequest) -> _Page | None:
        """The page that sent the request; None if the sender is none of our pages."""
        given = request.authorization.encode()
        return next((page for page in self._pages.values() if secrets.compare_digest(page.token.encode(), given)), None)

    async def _dial(self, request: ProxyRequest, page: _Page) -> tuple[Streams, bytes | None]:
        """A connection by the route of the page's source, and the head to send (None: a tunnel). OSError if there is
        no connection.
        """
        opened = self._opened if same_site(request.url, page.url) else ()
        refusal = url_refusal(request.url, opened, self._denied_ports)
        if refusal:
            raise AddressRefused(f"{refusal}: {request.url}")
        addresses = None if self._routes.resolves(page.source) else await self._resolve(request.host)
        if not all(is_allowed(ip, opened) for ip in addresses or ()):
            raise AddressRefused(f"{request.host} is not public, and not of the page's own site")
        with self._routes.taken(page.source, request.host, addresses) as route:
            return await _open(route, request, addresses)


async def _open(route: Route, request: ProxyRequest, addresses: Sequence[str] | None) -> tuple[Streams, bytes | None]:
    """`addresses`: None if the proxy resolves the name."""
    if route.proxy is None:
        return await _open_directly(route.address, request, addresses or ()), request.head
    if addresses is None and request.head is not None and route.proxy.scheme == "http":
        sock = await connected(route.proxy)
        head: bytes | None = request.proxied(authorization(route.proxy))
    else:
        sock, head = await tunnel(route.proxy, addresses or (request.host,), request.port), request.head
    return await asyncio.open_connection(sock=sock, limit=MAX_HEAD_BYTES), head


async def _open_directly(bound: str | None, request: ProxyRequest, addresses: Sequence[str]) -> Streams:
    """A connection to the first of the host's addresses that accepts one; OSError if none does."""
    failed: OSError = OSError(f"{request.host} has no address")
    local = (bound, 0) if bound else None
    for ip in addresses:
        try:
            async with asyncio.timeout(DIAL_SEC):
                return await asyncio.open_connection(ip, request.port, limit=MAX_HEAD_BYTES, local_addr=local)
        except OSError as error:  # includes time-outs
            failed = error
    raise failed


_REASONS: Final = {400: b"Bad Request", 403: b"Forbidden", 407: b"Proxy Authentication Required", 502: b"Bad Gateway"}


async def _say(client: Streams, status: int, header: bytes = b"") -> None:
    head = b"HTTP/1.1 %d %s\r\n%sContent-Length: 0\r\nConnection: close\r\n\r\n" % (status, _REASONS[status], header)
    client[1].write(head)
    await client[1].drain()


async def _tunnel(client: Streams, origin: Streams) -> None:
    client[1].write(b"HTTP/1.1 200 Connection established\r\n\r\n")
    async with asyncio.TaskGroup() as both:
        both.create_task(_relay(client[0], origin[1]))
        both.create_task(_relay(origin[0], client[1]))


async def _forward(client: Streams, origin: Streams, request_head: bytes, body_bytes: int) -> None:
    origin[1].write(request_head + await client[0].readexactly(body_bytes))
    await origin[1].drain()
    try:
        while (head := closing_head(await origin[0].readuntil(b"\r\n\r\n"))) is None:
            continue
    except (BadExchange, *_UNAVAILABLE):
        await _say(client, 502)
        return
    client[1].write(head)
    await _relay(origin[0], client[1])


async def _relay(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Pass bytes from one side to the other until a side closes, at most MAX_BYTES."""
    passed = 0
    with contextlib.suppress(OSError):
        while passed < MAX_BYTES and (chunk := await source.read(CHUNK_BYTES)):
            passed += len(chunk)
            sink.write(chunk)
            await sink.drain()
    sink.close()
