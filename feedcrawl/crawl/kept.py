"""Conditional requests over connections of our own class: a 304 is read here, other responses by Twisted's parser.

Most polls end with a 304, which has no body (RFC 9110 section 15.4.5). Scrapy and Twisted make some forty objects for
such a response, which cost more processor time than all else that a poll does. Connections are made as before, by the
endpoints of Scrapy's agent: the address guard, TLS, time limits and outgoing addresses work unchanged.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
from contextlib import suppress
from functools import lru_cache
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from scrapy import signals
from scrapy.core.downloader.handlers.http11 import _LenientHTTP11ClientProtocol, _ScrapyAgent
from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import Headers
from scrapy.utils._download_handlers import check_stop_download, make_response, wrap_twisted_exceptions
from twisted.internet import ssl
from twisted.internet.defer import Deferred, succeed
from twisted.internet.tcp import Client
from twisted.web._newclient import Request as TwistedRequest
from twisted.web._newclient import ResponseNeverReceived
from twisted.web.client import URI
from twisted.web.http_headers import Headers as TwistedHeaders

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.http import Request, Response
    from twisted.internet.interfaces import ITransport
    from twisted.python.failure import Failure
    from twisted.web.client import HTTPConnectionPool
    from twisted.web.iweb import IResponse

    Fields = dict[bytes, list[bytes]]
    Key = tuple[bytes, bytes, int, None]
    Begin = Callable[[Deferred[IResponse]], Deferred[Response]]
    Peer = tuple[ssl.Certificate | None, ipaddress.IPv4Address | ipaddress.IPv6Address | None]

MAX_LINE_BYTES: Final = 16_384
"""A longer header line is refused, by Twisted's parser."""

_URL: Final = re.compile(r"(https?)://([A-Za-z0-9.-]+)(?::(\d{1,5}))?(/[!-\"$-:<->@-~]*(?:\?[!-\"$-~]+)?)(?:#.*)?")
_UNMODIFIED: Final = re.compile(
    rb"HTTP/1\.1 304(?: [\t -~\x80-\xff]*)?\r\n((?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*\r\n)*)\r\n"
)
_OF_THE_CONNECTION: Final = frozenset(
    b"connection content-length keep-alive proxy-connection te trailers transfer-encoding upgrade".split()
)
_OF_CONDITIONS: Final = frozenset({b"If-None-Match", b"If-Modified-Since"})
_OF_ROUTING: Final = frozenset({b"Host", b"Connection", b"Transfer-Encoding", b"Content-Length"})
_LINE_END: Final = re.compile(rb"[\r\n]")
_PORTS: Final = {"http": 80, "https": 443}
_NO_FIELDS: Final = TwistedHeaders({b"Host": [b""]})
CONNECT_SEC: Final = 10
"""Seconds that Scrapy's agent waits for a response if the request has no limit."""


class Target(NamedTuple):
    """Where a request goes: the pool's key of its connections, the value of Host, and the path with the query."""

    key: Key
    host: bytes
    path: bytes


def target_of(url: str) -> Target | None:
    """The target of a URL; None for a URL that Twisted might write differently into the request."""
    parts = _URL.fullmatch(url)
    if parts is None:
        return None
    scheme, name, given, path = parts.groups()
    port = int(given or _PORTS[scheme])
    host = name if port == _PORTS[scheme] else f"{name}:{port}"
    return Target((scheme.encode(), name.encode(), port, None), host.encode(), path.encode())


def unmodified(data: bytes) -> Fields | None:
    """The fields of a 304 that is complete and leaves its connection open; None for any other response.

    Fields of the connection are left out and Content-Length is 0, as in the responses of Scrapy's own handler.
    """
    whole = _UNMODIFIED.fullmatch(data) if len(data) < MAX_LINE_BYTES else None
    if whole is None:
        return None
    fields: Fields = {b"Content-Length": [b"0"]}
    for line in whole[1].split(b"\r\n")[:-1]:
        name, _, value = line.partition(b":")
        lower, value = name.lower(), value.strip()
        if lower not in _OF_THE_CONNECTION:
            fields.setdefault(name.title(), []).append(value)
        elif lower == b"connection" and value.lower() != b"keep-alive":
            return None
    return fields


class _Sent(TwistedRequest):
    """A request that has been written already."""

    def writeTo(self, transport: ITransport) -> Deferred[None]:  # noqa: ARG002, N802 - Twisted's interface
        return succeed(None)


class KeptProtocol(_LenientHTTP11ClientProtocol):
    """A connection on which a conditional GET may be sent with `send`, beside Twisted's own `request`."""

    transport: Any  # zope interfaces declare methods without `self`, which mypy cannot call
    _pending: asyncio.Future[Fields | Deferred[Response]] | None = None
    _begin: Begin
    _peer: Peer | None = None

    def send(self, message: bytes, begin: Begin) -> asyncio.Future[Fields | Deferred[Response]]:
        """Send a request. The result is the fields of a 304, or for any other response the result of `begin`.

        `begin` is called before the response is parsed, as an agent's callbacks are. If the connection is lost before
        the first byte, the future fails with ResponseNeverReceived.
        """
        self._pending, self._begin = asyncio.get_running_loop().create_future(), begin
        self._write(message)
        return self._pending

    def _write(self, message: bytes) -> None:
        """Write to the socket at once, as its buffer is empty; Twisted would wait for the next turn of the loop."""
        transport, sent = self.transport, 0
        if type(transport) is Client and transport.connected and not (transport.TLS or transport._tempDataBuffer):  # noqa: SLF001
            written = transport.writeSomeData(message)
            sent = written if isinstance(written, int) else 0  # Twisted meets the error of the socket again
        if sent < len(message):
            transport.write(message[sent:])

    def give_up(self) -> None:
        """Close the connection at once, since no response came in time."""
        self._pending = None
        self.transport.abortConnection()

    def keep(self) -> None:
        """Return the connection to its pool, unless the server has closed it meanwhile."""
        if self.state == "QUIESCENT":
            self._quiescentCallback(self)

    def peer(self) -> Peer:
        """The certificate of the server, or None, and its address."""
        if self._peer is None:
            certificate = address = None
            with suppress(AttributeError):
                certificate = ssl.Certificate(self.transport.getPeerCertificate())  # type: ignore[no-untyped-call]
            with suppress(AttributeError):
                address = ipaddress.ip_address(self.transport.getPeer().host)
            self._peer = certificate, address
        return self._peer

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's interface
        """Read a 304 at once; begin Twisted's parser for any other response."""
        pending, self._pending = self._pending, None
        if pending is not None:
            if pending.done():  # given up in this turn of the loop
                return
            fields = unmodified(data)
            if fields is not None:
                pending.set_result(fields)
                return
            sent = _Sent(b"GET", b"/", _NO_FIELDS, None, persistent=True)  # type: ignore[no-untyped-call]
            pending.set_result(self._begin(self.request(sent)))
        super().dataReceived(data)  # type: ignore[no-untyped-call]

    def connectionLost(self, reason: Failure) -> None:  # type: ignore[override]  # noqa: N802 - Twisted's interface
        """Fail the request that has no response yet."""
        pending, self._pending = self._pending, None
        super().connectionLost(reason)  # type: ignore[no-untyped-call]
        if pending is not None and not pending.done():
            pending.set_exception(ResponseNeverReceived([reason]))  # type: ignore[no-untyped-call]


class _Begun(_ScrapyAgent):
    """Scrapy's download of a response whose first bytes have been received."""

    _timeout_cl: Any  # as `transport`

    def __init__(self, answer: Deferred[IResponse], began: float, **how: Any) -> None:
        super().__init__(**how)
        self._answer = answer
        self._began = began

    def _get_agent(self, request: Request, timeout: float) -> Any:  # noqa: ARG002 - Scrapy's interface
        self._left_sec = max(0.0, timeout - (monotonic() - self._began))
        return self

    def _cb_latency(self, result: Any, request: Request, start_time: float) -> Any:  # noqa: ARG002 - the first byte's
        return super()._cb_latency(result, request, self._began)

    def request(self, *_: object) -> Deferred[IResponse]:
        """The response, where an agent would send a request."""
        return self._answer

    def begin(self, request: Request) -> Deferred[Response]:
        """Read the response within the time that is left to the request."""
        download = self.download_request(request)
        if self._timeout_cl.active():
            self._timeout_cl.reset(self._left_sec)
        return download


class KeptConnections:
    """Sends conditional requests over the connections of a pool: an idle one if there is one, else a new one."""

    def __init__(self, pool: HTTPConnectionPool, crawler: Crawler, **how: Any) -> None:
        """`how`: the further arguments of Scrapy's agent, which connects, and reads every response but a 304."""
        self._pool = pool
        self._crawler = crawler
        self._how = {"pool": pool, "crawler": crawler, **how}

    async def response(self, request: Request) -> Response | None:
        """The response; None if the request is not plain, or the server has closed the idle connection.

        Raises the errors of Scrapy's own handler.
        """
        target = target_of(request.url) if is_plain(request) else None
        if target is None:
            return None
        began, limit_sec = monotonic(), request.meta.get("download_timeout") or CONNECT_SEC

        def begin(response: Deferred[IResponse]) -> Deferred[Response]:
            return _Begun(response, began, **self._how).begin(request)

        idle = self._idle(target.key)
        try:
            async with asyncio.timeout(limit_sec):
                with wrap_twisted_exceptions():
                    connection = idle or await self._connected(request, target.key, limit_sec)
                    answer = await _answer(connection, message_of(request, target), begin, is_new=idle is None)
        except TimeoutError as error:
            raise DownloadTimeoutError(f"Getting {request.url} took longer than {limit_sec} seconds.") from error
        if isinstance(answer, Deferred):
            with wrap_twisted_exceptions():
                return await answer.asFuture(asyncio.get_running_loop())
        if answer is None:
            return None
        request.meta["download_latency"] = monotonic() - began
        return self._unmodified(request, answer, connection)

    async def _connected(self, request: Request, key: Key, limit_sec: float) -> KeptProtocol:
        """A new connection, made by an endpoint of Scrapy's agent."""
        agent = _ScrapyAgent(**self._how)._get_agent(request, limit_sec)  # noqa: SLF001
        endpoint = agent._getEndpoint(URI.fromBytes(request.url.encode()))  # type: ignore[no-untyped-call]  # noqa: SLF001
        connecting = cast("Deferred[KeptProtocol]", self._pool.getConnection(key, endpoint))
        return await connecting.asFuture(asyncio.get_running_loop())

    def _unmodified(self, request: Request, fields: Fields, connection: KeptProtocol) -> Response:
        headers = Headers()
        dict.update(headers, fields)  # `unmodified` has normalized the names
        stop = check_stop_download(signals.headers_received, self._crawler, request, headers=headers, body_length=0)
        connection.keep()
        certificate, address = connection.peer()
        return make_response(
            request.url.partition("#")[0],
            304,
            headers,
            certificate=certificate,
            ip_address=address,
            protocol="HTTP/1.1",
            stop_download=stop,
        )

    def _idle(self, key: Key) -> KeptProtocol | None:
        """A connection that is taken out of the pool; None if none is idle. Twisted's pool has no public method."""
        connections = self._pool._connections.get(key)  # noqa: SLF001
        while connections:
            connection: KeptProtocol = connections.pop(0)
            self._pool._timeouts.pop(connection).cancel()  # noqa: SLF001
            if connection.state == "QUIESCENT":
                return connection
        return None


async def _answer(
    connection: KeptProtocol, message: bytes, begin: Begin, *, is_new: bool
) -> Fields | Deferred[Response] | None:
    try:
        return await connection.send(message, begin)
    except ResponseNeverReceived:
        if is_new:
            raise
        return None  # a server may close an idle connection at any time
    except asyncio.CancelledError:  # also at the end of the time limit
        connection.give_up()
        raise


def is_plain(request: Request) -> bool:
    """True for a conditional GET that goes straight to its host and has no headers of the connection."""
    headers, meta = request.headers, request.meta
    if request.method != "GET" or request.body or "proxy" in meta or meta.get("bindaddress"):
        return False
    names = dict.keys(headers)  # normalized already, which `in headers` would do again for each name
    return not _OF_CONDITIONS.isdisjoint(names) and _OF_ROUTING.isdisjoint(names)


@lru_cache(maxsize=256)
def _written(name: bytes) -> bytes:
    """The name of a field as Twisted writes it."""
    return next(TwistedHeaders({name: []}).getAllRawHeaders())[0]


def message_of(request: Request, target: Target) -> bytes:
    """The bytes of a request, as Twisted writes them."""
    lines = [b"GET ", target.path, b" HTTP/1.1\r\n"]
    for key, values in dict.items(request.headers):
        name = _written(key)
        for value in values:
            lines += name, b": ", b" ".join(value.splitlines()) if _LINE_END.search(value) else value, b"\r\n"
    return b"".join((*lines, b"Host: ", target.host, b"\r\n\r\n"))
