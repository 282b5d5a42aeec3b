import asyncio
from errno import EWOULDBLOCK
from types import SimpleNamespace
from typing import Any

import pytest
import twisted.internet
from scrapy import Request
from scrapy.exceptions import (
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    StopDownload,
)
from scrapy.http import Response
from scrapy.signalmanager import SignalManager
from scrapy.signals import headers_received
from twisted.internet.abstract import FileDescriptor
from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionLost
from twisted.internet.error import ConnectionRefusedError as Refused
from twisted.internet.interfaces import IReactorPluggableNameResolver
from twisted.internet.task import Clock
from twisted.internet.tcp import Client
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from twisted.web._newclient import Request as TwistedRequest
from twisted.web.client import URI, BrowserLikePolicyForHTTPS
from twisted.web.http_headers import Headers
from zope.interface import implementer

from feedcrawl.crawl.download import LimitedProtocol
from feedcrawl.crawl.failures import failure_name
from feedcrawl.crawl.kept import KeptConnections, is_plain, message_of, target_of, unmodified

URL = "http://a.test:8080/feed?x=1"
CONDITIONAL = {"If-None-Match": '"1"', "Accept": "a/b", "User-Agent": "us"}


@implementer(IReactorPluggableNameResolver)
class Reactor(Clock):
    """A clock that endpoints take for a reactor."""

    nameResolver = None  # noqa: N815 - the interface's name


@pytest.fixture(autouse=True)
def own_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scrapy's agent sets its time limit on a clock of this test, whatever reactor another test has installed."""
    monkeypatch.setattr(twisted.internet, "reactor", Reactor(), raising=False)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://a.test/", (b"http", b"a.test", 80, b"a.test", b"/")),
        ("https://a.test:443/x#part", (b"https", b"a.test", 443, b"a.test", b"/x")),
        (URL, (b"http", b"a.test", 8080, b"a.test:8080", b"/feed?x=1")),
        ("http://a.test", None),
        ("http://a.test/?", None),  # Twisted drops the `?`
        ("http://a.test/x;?y", None),
        ("http://ann:pw@a.test/", None),
        ("http://[::1]/", None),
        ("http://a.test/\u00fc", None),
        ("http://a.test/a b", None),
    ],
)
def test_targets(url: str, expected: tuple[bytes, bytes, int, bytes, bytes] | None) -> None:
    found = target_of(url)
    assert (found and (*found.key[:3], found.host, found.path)) == expected


@pytest.mark.parametrize(
    "url", ["http://a.test/", URL, "https://a.test/a/b.xml?q=%20&r", "http://a.test/~x/$'()*+,:@!"]
)
def test_a_request_has_the_bytes_that_twisted_writes(url: str) -> None:
    request = Request(url, headers=CONDITIONAL | {"X-Key": ["1", "2"], "dnt": "1", "x-xss-protection": "a\r\n b"})
    headers = Headers(request.headers)
    uri = URI.fromBytes(url.encode())
    target = target_of(url)
    assert target is not None
    headers.addRawHeader(b"Host", target.host)
    transport = StringTransport()
    TwistedRequest._construct(b"GET", uri.originForm, headers, None, persistent=True, parsedURI=uri).writeTo(transport)
    assert message_of(request, target) == transport.value()
    assert target.key == (uri.scheme, uri.host, uri.port, None)


@pytest.mark.parametrize(
    ("how", "plain"),
    [
        ({"headers": CONDITIONAL}, True),
        ({"headers": {"If-Modified-Since": "x"}}, True),
        ({}, False),
        ({"headers": CONDITIONAL, "method": "HEAD"}, False),
        ({"headers": CONDITIONAL, "body": b"x"}, False),
        ({"headers": CONDITIONAL | {"Host": "b.test"}}, False),
        ({"headers": CONDITIONAL | {"Connection": "close"}}, False),
        ({"headers": CONDITIONAL, "meta": {"proxy": "http://p.test"}}, False),
        ({"headers": CONDITIONAL, "meta": {"bindaddress": "127.0.0.2"}}, False),
    ],
)
def test_plain_requests(how: dict[str, Any], plain: bool) -> None:
    assert is_plain(Request(URL, **how)) is plain


@pytest.mark.parametrize(
    ("answer", "fields"),
    [
        (b"HTTP/1.1 304 Not Modified\r\n\r\n", {}),
        (b'HTTP/1.1 304\r\nETag: "1"\r\n\r\n', {b"Etag": [b'"1"']}),
        (b"HTTP/1.1 304 \r\nvary:a\r\nVary:  b \r\n\r\n", {b"Vary": [b"a", b"b"]}),
        (b"HTTP/1.1 304 X\r\nX: \xfc\r\nConnection: Keep-Alive\r\nKeep-Alive: timeout=5\r\n\r\n", {b"X": [b"\xfc"]}),
        (b"HTTP/1.1 304 X\r\nContent-Length: 900\r\nTransfer-Encoding: chunked\r\n\r\n", {}),
        (b"HTTP/1.1 304 X\r\nConnection: close\r\n\r\n", None),
        (b"HTTP/1.0 304 X\r\n\r\n", None),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", None),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 304 X\r\n\r\n", None),
        (b"HTTP/1.1 304 X\r\nA: b\r\n", None),  # incomplete
        (b"HTTP/1.1 304 X\r\n\r\nHTTP", None),  # more than one response
        (b"HTTP/1.1 304 X\r\nA: b\r\n folded\r\n\r\n", None),
        (b"HTTP/1.1 304 X\r\nno colon\r\n\r\n", None),
        (b"HTTP/1.1 304 X\nA: b\n\n", None),
        (b"HTTP/1.1 304 X\r\nA: b\0c\r\n\r\n", None),
        (b"HTTP/1.1 304 X\r\nA: " + b"a" * 20_000 + b"\r\n\r\n", None),
    ],
)
def test_plain_304s_are_read_without_a_parser(answer: bytes, fields: dict[bytes, list[bytes]] | None) -> None:
    assert unmodified(answer) == (None if fields is None else {b"Content-Length": [b"0"]} | fields)


class Wire(StringTransport):
    """A transport that notes whether it was aborted."""

    aborted = False

    def abortConnection(self) -> None:
        self.aborted = True


class Peer:
    """One connection of a pool, idle or yet to be made, and the far end of it."""

    def __init__(self, *, idle: bool = True) -> None:
        self.wire, self.returned = Wire(), 0
        self.connection: Any = LimitedProtocol(lambda _: self._return())
        self.connection.makeConnection(self.wire)
        target = target_of(URL)
        assert target is not None
        timer = Clock().callLater(240, print)
        self.connecting: Deferred[Any] = Deferred()
        self.pool: Any = SimpleNamespace(
            _connections={target.key: [self.connection] if idle else []},
            _timeouts={self.connection: timer} if idle else {},
            persistent=True,
            getConnection=lambda key, _: self.connecting if key == target.key else None,
        )
        self.signals = SignalManager(self)  # receivers of other tests may be alive still
        crawler: Any = SimpleNamespace(signals=self.signals, spider=None)
        self.connections = KeptConnections(
            self.pool,
            crawler,
            contextFactory=BrowserLikePolicyForHTTPS(),
            maxsize=0,
            warnsize=0,
            fail_on_dataloss=False,
        )

    def _return(self) -> None:
        self.returned += 1

    def response_to(self, request: Request, *pieces: bytes | Failure) -> Response | None:
        """What comes of a request whose connection brings these pieces."""
        return asyncio.run(self._response_to(request, *pieces))

    async def _response_to(self, request: Request, *pieces: bytes | Failure) -> Response | None:
        response = asyncio.ensure_future(self.connections.response(request))
        while not self.wire.value() and not response.done():
            await asyncio.sleep(0)
        for piece in pieces:
            if isinstance(piece, Failure):
                self.connection.connectionLost(piece)
            else:
                self.connection.dataReceived(piece)
            await asyncio.sleep(0)
        return await response


def conditional(timeout_sec: float = 30) -> Request:
    return Request(URL, headers=CONDITIONAL, meta={"download_timeout": timeout_sec})


def test_a_304_returns_the_connection_to_its_pool() -> None:
    peer, request = Peer(), conditional()
    response = peer.response_to(request, b'HTTP/1.1 304 X\r\nETag: "1"\r\n\r\n')
    assert response is not None
    assert (response.status, response.url, response.headers["ETag"]) == (304, URL, b'"1"')
    assert (response.protocol, str(response.ip_address), peer.returned) == ("HTTP/1.1", "192.168.1.1", 1)
    assert request.meta["download_latency"] >= 0
    assert peer.wire.value().startswith(b"GET /feed?x=1 HTTP/1.1\r\nIf-None-Match")


@pytest.mark.parametrize(
    "pieces",
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody",),
        (b"HTTP/1.1 200 OK\r\nCont", b"ent-Length: 4\r\n\r\nbo", b"dy"),
        (b"H", b"TTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"),
    ],
)
def test_any_other_response_is_read_by_twisted(pieces: tuple[bytes, ...]) -> None:
    peer = Peer()
    response = peer.response_to(conditional(), *pieces)
    assert response is not None
    assert (response.status, response.body, peer.returned) == (200, b"body", 1)


def test_a_304_in_pieces_is_read_by_twisted() -> None:
    response = Peer().response_to(conditional(), b'HTTP/1.1 304 X\r\nETag: "1"\r', b"\n\r\n")
    assert response is not None
    assert (response.status, response.headers["ETag"], response.headers["Content-Length"]) == (304, b'"1"', b"0")


def test_a_connection_that_the_server_has_closed_gives_no_response() -> None:
    assert Peer().response_to(conditional(), Failure(ConnectionLost())) is None


def test_a_request_without_an_idle_connection_opens_a_connection() -> None:
    peer = Peer(idle=False)
    peer.connecting.callback(peer.connection)
    response = peer.response_to(conditional(), b"HTTP/1.1 304 X\r\n\r\n")
    assert response is not None
    assert (response.status, peer.returned) == (304, 1)


def test_a_connection_that_was_closed_in_the_pool_is_dropped() -> None:
    peer = Peer()
    peer.connection.connectionLost(Failure(ConnectionLost()))
    peer.connecting.errback(Failure(Refused()))
    with pytest.raises(DownloadConnectionRefusedError):
        peer.response_to(conditional())
    assert not peer.pool._timeouts


def test_a_new_connection_that_is_lost_is_a_failure() -> None:
    peer = Peer(idle=False)
    peer.connecting.callback(peer.connection)
    with pytest.raises(DownloadFailedError) as raised:
        peer.response_to(conditional(), Failure(ConnectionLost()))
    assert failure_name(raised.value) == "connection_lost"


def test_a_connection_that_takes_too_long_is_cancelled() -> None:
    peer, given_up = Peer(idle=False), []
    peer.connecting.addErrback(given_up.append)
    with pytest.raises(DownloadTimeoutError, match="longer than"):
        peer.response_to(conditional(0.01))
    assert len(given_up) == 1


def test_a_connection_whose_response_takes_too_long_is_aborted() -> None:
    peer = Peer()
    with pytest.raises(DownloadTimeoutError, match="longer than"):
        peer.response_to(conditional(0.01))
    assert (peer.wire.aborted, peer.returned) == (True, 0)


def test_a_receiver_of_headers_may_stop_the_download() -> None:
    def stop(headers: object, body_length: int) -> None:
        raise StopDownload(fail=False)

    peer = Peer()
    peer.signals.connect(stop, headers_received)
    response = peer.response_to(conditional(), b"HTTP/1.1 304 X\r\n\r\n")
    assert response is not None
    assert response.flags == ["download_stopped"]


class Socket:
    """Accepts a number of bytes, then no more."""

    def __init__(self, room: int) -> None:
        self.sent, self._room = b"", room

    def send(self, data: memoryview) -> int:
        taken = bytes(data[: self._room - len(self.sent)])
        if not taken:
            raise BlockingIOError(EWOULDBLOCK, "full")
        self.sent += taken
        return len(taken)


class Writers:
    """The part of a reactor that a transport uses to write later."""

    def __init__(self) -> None:
        self.writers: list[object] = []

    def addWriter(self, writer: object) -> None:
        self.writers.append(writer)


@pytest.mark.parametrize(("room", "sent"), [(100, b"GET"), (2, b"GE"), (0, b"")])
def test_a_request_is_written_at_once_and_its_rest_later(room: int, sent: bytes) -> None:
    async def run() -> None:
        transport = Client.__new__(Client)
        FileDescriptor.__init__(transport, Writers())
        transport.socket, transport.connected, transport.disconnecting = Socket(room), 1, False
        protocol = LimitedProtocol(lambda _: None)
        protocol.transport = transport
        protocol.send(b"GET", lambda answer: answer)
        assert transport.socket.sent == sent
        assert b"".join(transport._tempDataBuffer) == b"GET"[len(sent) :]
        assert transport.reactor.writers == ([transport] if len(sent) < 3 else [])

    asyncio.run(run())
