from collections.abc import Iterable
from typing import Any

import pytest
from scrapy.http import Response
from twisted.internet.error import ConnectionDone
from twisted.internet.protocol import Protocol
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from twisted.web._newclient import Request, ResponseDone
from twisted.web.http import PotentialDataLoss
from twisted.web.http_headers import Headers

from feedcrawl.crawl import download
from feedcrawl.crawl.download import MALFORMED, MAX_HEADER_BYTES, LimitedProtocol
from feedcrawl.crawl.failures import failure_name


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


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nX: " + b"a" * 20_000,
        b"HTTP/1.1 200 OK\r\nX: " + b"a" * 20_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + (b"X: " + b"a" * 10_000 + b"\r\n") * 8,
    ],
)
def test_headers_beyond_the_limit_are_named(answer: bytes) -> None:
    assert named(answer) == "protocol"


@pytest.mark.parametrize(
    ("flags", "headers", "expected"),
    [
        (["dataloss"], {"X-Feedcrawl-Malformed": "1"}, ["dataloss", MALFORMED]),
        (["dataloss"], {}, ["dataloss"]),
        ([], {"X-Feedcrawl-Malformed": "1"}, []),  # the server's own
    ],
)
def test_the_mark_of_bad_chunks_is_a_flag(flags: list[str], headers: dict[str, str], expected: list[str]) -> None:
    response = download._marked(Response("http://a.org/", headers=headers | {"X-Plain": "1"}, flags=flags))
    assert (response.flags, list(response.headers)) == (expected, [b"X-Plain"])


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
def test_pieces_within_the_limits_do_not_disconnect(pieces: list[bytes]) -> None:
    assert not fed(pieces).disconnecting


def named(answer: bytes, method: bytes = b"GET") -> str:
    """What an answer comes to: `answered`, or the name of the failure."""
    came: list[str] = []
    protocol: Any = LimitedProtocol(lambda _: None)
    protocol.makeConnection(StringTransport())
    deferred = protocol.request(Request(method, b"/", Headers({b"Host": [b"a.org"]}), None))
    deferred.addCallbacks(lambda _: came.append("answered"), lambda failure: came.append(failure_name(failure.value)))
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
def test_two_lengths_of_a_body_are_refused(headers: bytes, name: str) -> None:
    assert named(b"HTTP/1.1 200 OK\r\n" + headers + b"\r\n") == name


@pytest.mark.parametrize(
    ("status", "method"), [(b"304 Not Modified", b"GET"), (b"204 No Content", b"GET"), (b"200 OK", b"HEAD")]
)
def test_a_response_without_a_body_ignores_its_length(status: bytes, method: bytes) -> None:
    headers = b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"
    assert named(b"HTTP/1.1 " + status + b"\r\n" + headers + b"\r\n", method) == "answered"


class Body(Protocol):
    """Collects a body, and under what name it ended."""

    def __init__(self) -> None:
        self.data, self.ended = b"", ""

    def dataReceived(self, data: bytes) -> None:
        self.data += data

    def connectionLost(self, reason: Any = None) -> None:
        self.ended = "whole" if reason.check(ResponseDone, PotentialDataLoss) else failure_name(reason.value)


def read(answer: bytes, method: bytes = b"GET", later: bytes = b"") -> tuple[bytes, str, bool]:
    """The body of an answer after which the peer closes, how it ended, and whether the connection was kept for more."""
    received: list[Any] = []
    body, transport = Body(), StringTransport()
    protocol: Any = LimitedProtocol(received.append)
    protocol.makeConnection(transport)
    deferred = protocol.request(Request(method, b"/", Headers({b"Host": [b"a.org"]}), None, persistent=True))
    deferred.addCallbacks(lambda response: response.deliverBody(body), lambda failure: None)
    protocol.dataReceived(answer)
    if later:
        protocol.dataReceived(later)
    is_open = bool(received) and not transport.disconnecting
    protocol.connectionLost(Failure(ConnectionDone()))
    return body.data, body.ended, is_open


OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("answer", "method", "expected"),
    [
        (OK + b"Content-Length: 3\r\n\r\nabc", b"GET", (b"abc", "whole", True)),
        (CHUNKED + b"3\r\nabc\r\n0\r\n\r\n", b"GET", (b"abc", "whole", True)),
        (CHUNKED + b"3  \r\nabc\r\n 2\t\r\nde\r\n0   \r\n\r\n", b"GET", (b"abcde", "whole", True)),
        (CHUNKED + b"\t3 ;a=b\r\nabc\r\n0\r\n\r\n", b"GET", (b"abc", "whole", True)),
        # More than was announced
        (OK + b"Content-Length: 3\r\n\r\nabcdef", b"GET", (b"abc", "whole", False)),
        (CHUNKED + b"3\r\nabc\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n", b"GET", (b"abc", "whole", False)),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\nabc", b"GET", (b"", "whole", False)),
        (b"HTTP/1.1 204 No Content\r\n\r\nabc", b"GET", (b"", "whole", False)),
        (OK + b"Content-Length: 3\r\n\r\nabc", b"HEAD", (b"", "whole", False)),
        (OK + b"Content-Length: 3\r\n\r\n", b"HEAD", (b"", "whole", True)),
        # Chunks that are none
        (CHUNKED + b"-3\r\nabc\r\n0\r\n\r\n", b"GET", (b"", "protocol", False)),
        (CHUNKED + b"0x3\r\nabc\r\n0\r\n\r\n", b"GET", (b"", "protocol", False)),
        (CHUNKED + b"3 3\r\nabc\r\n0\r\n\r\n", b"GET", (b"", "protocol", False)),
        (CHUNKED + b"  \r\nabc\r\n0\r\n\r\n", b"GET", (b"", "protocol", False)),
        (CHUNKED + b" " * 5000, b"GET", (b"", "protocol", False)),
        (CHUNKED + b"F" * 5000, b"GET", (b"", "protocol", False)),
        (CHUNKED + b"3;" + b"x" * 100_000, b"GET", (b"", "protocol", False)),
        (CHUNKED + b"3\r\nabcXX0\r\n\r\n", b"GET", (b"abc", "protocol", False)),
        (CHUNKED + b"3\r\nabc\r\n0\r\n" + b"X: yyyyyyyyyy\r\n" * 9000, b"GET", (b"abc", "protocol", False)),
        # Cut off
        (OK + b"Content-Length: 9\r\n\r\nabc", b"GET", (b"abc", "connection_lost", False)),
        (CHUNKED + b"9\r\nabc", b"GET", (b"abc", "connection_lost", False)),
        (CHUNKED + b"3\r\nabc\r\n", b"GET", (b"abc", "connection_lost", False)),
        (OK + b"\r\nabc", b"GET", (b"abc", "whole", False)),
    ],
)
def test_a_response_ends_where_its_length_or_chunks_end(
    answer: bytes, method: bytes, expected: tuple[bytes, str, bool]
) -> None:
    assert read(answer, method) == expected


def test_bytes_after_a_response_close_the_connection() -> None:
    assert read(OK + b"Content-Length: 3\r\n\r\nabc", later=b"HTTP/1.1 200 OK\r\n\r\n") == (b"abc", "whole", False)


@pytest.mark.parametrize(
    "answer",
    [b"ICY 200 OK\r\n\r\n", b"220 ftp ready\r\n", b"SSH-2.0-OpenSSH_9\r\n", b"HTTP/1.1 abc\r\n", b"HTTP/1.1\r\n"],
)
def test_a_response_that_is_no_http_is_a_protocol_error(answer: bytes) -> None:
    assert named(answer) == "protocol"
