"""The messages of a forward proxy: the client's request, and the heads forwarded (RFC 9110 7.6, RFC 9112 3.2 and 6).

Each connection carries one request, and both sides close it afterwards: a second request would go unchecked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from feedcrawl.domain.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_HEAD_BYTES: Final = 64 << 10
MAX_SENT_BYTES: Final = 1 << 20

_REQUEST_LINE = re.compile(rb"([A-Z]+) ([\x21-\x7e]+) HTTP/1\.[01]")
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n\0]*?)[ \t]*")
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-9][0-9]{2})(?: |\r|$)")
_CONNECTION_HEADERS: Final = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"proxy-authorization", b"te", b"trailer", b"upgrade"}
)

Header = tuple[bytes, bytes]


class BadExchange(Refusal):
    """A head that is not forwarded: not HTTP/1, or of a form that browsers do not send."""


@dataclass(frozen=True, slots=True)
class ProxyRequest:
    """One request to a proxy. `url` is the URL to check; `host` and `port` are those of the URL.

    `head` goes to the origin, followed by `body_bytes` bytes of the client; None requests a tunnel (CONNECT).
    """

    url: str
    host: str
    port: int
    head: bytes | None
    body_bytes: int = 0
    authorization: str = ""

    def proxied(self, credentials: bytes | None) -> bytes:
        """The head for a further proxy: the target in absolute form, and the value of Proxy-Authorization."""
        assert self.head is not None
        line, _, rest = self.head.partition(b"\r\n")
        method, _, version = line.split(b" ")
        own = b"Proxy-Authorization: %s\r\n" % credentials if credentials else b""
        return b"%s %s %s\r\n%s%s" % (method, self.url.encode(), version, own, rest)


def read_request(head: bytes) -> ProxyRequest:
    """The request of a head, whose final empty line is included; BadExchange if the head is invalid or ambiguous."""
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    matched = _REQUEST_LINE.fullmatch(first)
    if not matched:
        raise BadExchange("bad_request", f"not a request line: {first[:80]!r}")
    method, target = matched[1], matched[2].decode("ascii")
    headers = tuple(_headers(lines))
    authorization = _only(headers, b"proxy-authorization").decode("latin-1")
    if method == b"CONNECT":
        url = f"https://{target}/"
        return ProxyRequest(url, *_place(url), None, authorization=authorization)
    place = _place(target)
    if not target.startswith("http://"):
        raise BadExchange("bad_request", f"not an absolute http URL: {target[:80]}")
    return ProxyRequest(target, *place, _forwarded(method, target, headers), _length(headers), authorization)


def closing_head(head: bytes) -> bytes | None:
    """The response head for the client, with `Connection: close`; None for an interim response (1xx)."""
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    matched = _STATUS.match(first)
    if not matched:
        raise BadExchange("bad_response", f"not a status line: {first[:80]!r}")
    if matched[1].startswith(b"1"):
        return None
    kept = [line for line in lines if line.partition(b":")[0].strip().lower() not in _CONNECTION_HEADERS]
    return b"\r\n".join([first, *kept, b"Connection: close", b"", b""])


def _headers(lines: list[bytes]) -> Iterator[Header]:
    for line in lines:
        matched = _HEADER.fullmatch(line)
        if not matched:
            raise BadExchange("bad_request", f"not a header line: {line[:80]!r}")
        yield matched[1], matched[2]


def _only(headers: tuple[Header, ...], name: bytes) -> bytes:
    """The value of a header that may occur at most once; empty if absent. BadExchange if the header is repeated."""
    values = [value for key, value in headers if key.lower() == name]
    if len(values) > 1:
        raise BadExchange("bad_request", f"{name.decode()} occurs {len(values)} times")
    return values[0] if values else b""


def _length(headers: tuple[Header, ...]) -> int:
    if _only(headers, b"transfer-encoding"):
        raise BadExchange("bad_request", "a body with Transfer-Encoding; Content-Length is required")
    length = _only(headers, b"content-length") or b"0"
    if not re.fullmatch(rb"[0-9]{1,8}", length) or int(length) > MAX_SENT_BYTES:
        raise BadExchange("bad_request", f"Content-Length {length[:20]!r} is not a number up to {MAX_SENT_BYTES}")
    return int(length)


def _place(url: str) -> tuple[str, int]:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or "@" in parts.netloc:
        raise BadExchange("bad_request", f"no valid host and port: {url[:80]}")
    return host, port or (443 if parts.scheme == "https" else 80)


def _forwarded(method: bytes, target: str, headers: tuple[Header, ...]) -> bytes:
    """The head for the origin: target in origin form, Host of the checked URL, no headers of the connection."""
    authority, slash, rest = target.removeprefix("http://").partition("/")
    authority, mark, query = authority.partition("?")
    path = f"{slash}{rest}" if slash and not mark else f"/{mark}{query}{slash}{rest}"
    kept = [(name, value) for name, value in headers if name.lower() not in _CONNECTION_HEADERS | {b"host"}]
    lines = [(b"Host", authority.encode()), *kept, (b"Connection", b"close")]
    return b"".join([method, b" ", path.encode(), b" HTTP/1.1\r\n", *(b"%s: %s\r\n" % line for line in lines), b"\r\n"])
