from collections.abc import Iterable
from typing import Any

import pytest
from twisted.internet.testing import StringTransport
from twisted.web._newclient import Request
from twisted.web.http_headers import Headers

from feedcrawl.failures import failure_name
from feedcrawl.handlers import MAX_HEADER_BYTES, LimitedProtocol


def fed(pieces: Iterable[bytes]) -> StringTransport:
    """The transport of a connection on which so much came back."""
    transport = StringTransport()
    protocol: Any = LimitedProtocol(lambda _: None)
    protocol.makeConnection(transport)
    protocol.request(Request(b"GET", b"/", Headers({b"Host": [b"a.org"]}), None)).addErrback(lambda _: None)
    for piece in pieces:
        if transport.disconnecting:
            break
        protocol.dataReceived(piece)
    return transport


def lines(count: int) -> list[bytes]:
    return [b"X-%d: %s\r\n" % (number, b"a" * 90) for number in range(count)]


@pytest.mark.parametrize(
    "pieces",
    [
        [b"HTTP/1.1 200 OK\r\n", *lines(1000)],
        [b"HTTP/1.1 100 Continue\r\n\r\n"] * 3000,
        [b"HTTP/1.1 200 OK\r\n", *[b"X: " + b"a" * 16_000 + b"\r\n"] * 5],
        [b"HTTP/1.1 200 OK\r\nX: a\r\n", *[b" folded on and on\r\n"] * 5000],
    ],
)
def test_endless_headers_are_cut(pieces: list[bytes]) -> None:
    assert fed(pieces).disconnecting


@pytest.mark.parametrize(
    "pieces",
    [
        [b"HTTP/1.1 200 OK\r\n", *lines(500), b"\r\nbody"],
        [b"HTTP/1.1 200 OK\r\nContent-Length: 500000\r\n\r\n", *[b"a" * 1000] * 400],
        [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n", b"a" * 2 * MAX_HEADER_BYTES],
    ],
)
def test_what_servers_send_is_not(pieces: list[bytes]) -> None:
    assert not fed(pieces).disconnecting


def named(answer: bytes, method: bytes = b"GET") -> str:
    """What an answer comes to: `answered`, or the name of the failure."""
    came: list[str] = []
    protocol: Any = LimitedProtocol(lambda _: None)
    protocol.makeConnection(StringTransport())
    asked = protocol.request(Request(method, b"/", Headers({b"Host": [b"a.org"]}), None))
    asked.addCallbacks(lambda _: came.append("answered"), lambda failure: came.append(failure_name(failure.value)))
    protocol.dataReceived(answer)
    return came[0]


@pytest.mark.parametrize(
    ("headers", "name"),
    [
        (b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "protocol"),
        (b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", "protocol"),
        (b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "protocol"),
        (b"Transfer-Encoding: gzip, chunked\r\n", "protocol"),
        (b"Transfer-Encoding: xchunked\r\n", "protocol"),
        (b"Content-Length: 5\r\nContent-Length: 6\r\n", "protocol"),
        (b"Content-Length: -5\r\n", "protocol"),
        (b"Content-Length: +5\r\n", "protocol"),
        (b"Content-Length: 5\r\n", "answered"),
        (b"Transfer-Encoding: Chunked\r\n", "answered"),
        (b"", "answered"),
    ],
)
def test_a_body_has_one_length(headers: bytes, name: str) -> None:
    assert named(b"HTTP/1.1 200 OK\r\n" + headers + b"\r\n") == name


@pytest.mark.parametrize(
    ("status", "method"), [(b"304 Not Modified", b"GET"), (b"204 No Content", b"GET"), (b"200 OK", b"HEAD")]
)
def test_what_has_no_body_has_no_length(status: bytes, method: bytes) -> None:
    both = b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"
    assert named(b"HTTP/1.1 " + status + b"\r\n" + both + b"\r\n", method) == "answered"
