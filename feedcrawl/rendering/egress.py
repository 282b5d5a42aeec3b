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
from typing import TYPE_CHECKING, Any, Final

from feedcrawl.domain.addresses import is_allowed, url_refusal
from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.http.forwarding import MAX_HEAD_BYTES, BadExchange, closing_head, read_request
from feedcrawl.domain.urls import same_site
from feedcrawl.exceptions import AddressRefused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Sequence

    from feedcrawl.domain.addresses import Network
    from feedcrawl.domain.http.forwarding import Asked

logger = logging.getLogger(__name__)

DIAL_SEC: Final = 10.0
LIFE_SEC: Final = 120.0
"""The longest life of one connection, in seconds, even while bytes are passing."""
MAX_BYTES: Final = 64 << 20
"""The most bytes that one connection may bring: a page that loads without end must not fill the browser's memory."""
CHUNK_BYTES: Final = 64 << 10

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
_UNAVAILABLE = (OSError, TimeoutError, EOFError, asyncio.LimitOverrunError)


class Egress:
    """The proxy. Each page has a user name and a password, since other users of the machine can reach the proxy too.

    FEEDCRAWL_ALLOW_NETWORKS opens networks for the crawler, not for the scripts of strangers: a page reaches non-public
    addresses only on its own site. `resolve` returns the addresses of a host that may be dialled (none for a name
    without addresses), or raises AddressRefused. `refused` is called for each refusal.
    """

    def __init__(
        self,
        resolve: Callable[[str], Awaitable[Sequence[str]]],
        *,
        opened: tuple[Network, ...],
        denied_ports: Collection[int],
        refused: Callable[[], None] = lambda: None,
    ) -> None:
        self._pages: dict[str, tuple[str, str]] = {}
        self._resolve = resolve
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

    def admit(self, name: str, url: str) -> str:
        """Allow the page at this URL to connect; the password that belongs to the page's user name."""
        password = secrets.token_urlsafe(24)
        token = base64.b64encode(f"{name}:{password}".encode()).decode()
        self._pages[name] = f"Basic {token}", url
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
            asked = read_request(await client[0].readuntil(b"\r\n\r\n"))
            page = self._page_of(asked)
            if page is None:
                await _say(client, 407, b'Proxy-Authenticate: Basic realm="feedcrawl"\r\n')
                return
            origin = await self._dial(asked, self._opened if same_site(asked.url, page) else ())
        except BadExchange as refusal:
            logger.debug("egress_bad_request: %s", refusal.detail)
            await _say(client, 400)
        except (AddressRefused, InvalidUrl) as refusal:
            self._refused()
            logger.info("egress_refused", extra={"detail": refusal.detail})
            await _say(client, 403)
        except _UNAVAILABLE:
            await _say(client, 502)
        else:
            try:
                await (_tunnel(client, origin) if asked.head is None else _forward(client, origin, asked))
            finally:
                origin[1].close()

    def _page_of(self, asked: Asked) -> str | None:
        """The URL of the page that sent the request; None if the sender is none of our pages."""
        given = asked.authorization.encode()
        return next((url for token, url in self._pages.values() if secrets.compare_digest(token.encode(), given)), None)

    async def _dial(self, asked: Asked, opened: tuple[Network, ...]) -> Streams:
        """A connection to the first of the host's addresses that accepts one; OSError if none does."""
        refusal = url_refusal(asked.url, opened, self._denied_ports)
        if refusal:
            raise AddressRefused(f"{refusal}: {asked.url}")
        addresses = await self._resolve(asked.host)
        if not all(is_allowed(ip, opened) for ip in addresses):
            raise AddressRefused(f"{asked.host} is not public, and not of the page's own site")
        failed: OSError = OSError(f"{asked.host} has no address")
        for ip in addresses:
            try:
                async with asyncio.timeout(DIAL_SEC):
                    return await asyncio.open_connection(ip, asked.port, limit=MAX_HEAD_BYTES)
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


async def _forward(client: Streams, origin: Streams, asked: Asked) -> None:
    assert asked.head is not None
    origin[1].write(asked.head + await client[0].readexactly(asked.body_bytes))
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


class _Answer:
    """Collects the addresses that Twisted's resolver returns (IResolutionReceiver), as a future."""

    def __init__(self) -> None:
        self.addresses: asyncio.Future[tuple[str, ...]] = asyncio.get_running_loop().create_future()
        self._found: list[str] = []

    def resolutionBegan(self, resolutionInProgress: Any) -> None:  # noqa: N802, N803 - Twisted's interface
        """Nothing to do: the resolver limits the time of a lookup itself."""

    def addressResolved(self, address: Any) -> None:  # noqa: N802
        """Keep an address, or the refusal that reading the address raises."""
        try:
            self._found.append(address.host)
        except AddressRefused as refusal:
            if not self.addresses.done():
                self.addresses.set_exception(refusal)

    def resolutionComplete(self) -> None:  # noqa: N802
        """All addresses have arrived."""
        if not self.addresses.done():
            self.addresses.set_result(tuple(self._found))


async def guarded_addresses(host: str) -> tuple[str, ...]:
    """The addresses of a name or literal that may be dialled, from the reactor's resolver; raises AddressRefused."""
    from twisted.internet import reactor  # noqa: PLC0415 - importing it installs one

    answer = _Answer()
    reactor.nameResolver.resolveHostName(answer, host)
    return await answer.addresses
