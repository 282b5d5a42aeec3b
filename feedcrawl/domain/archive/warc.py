"""WARC 1.1 records of one HTTP exchange (ISO 28500:2017), as bytes.

warcio's writer is not used: it lets CR LF in a header value start a new header, percent-encodes non-ASCII bytes, and
compresses at level 9 only. warcio can read the records that are written here.

The records differ from the wire in three things that are lost before a response can be archived: the transfer coding (a
payload is defined without it), the reason phrase, and the case and order of header names.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Self
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from feedcrawl.domain.dates import rfc3339

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Fields = list[tuple[str, str]]

_RESPONSE = ("Content-Type", "application/http;msgtype=response")
_REVISIT = "http://netpreserve.org/warc/1.1/revisit/"
_NOT_MODIFIED = 304
# Level 6 takes a quarter of the time of level 9 on pages, for a size within one percent. Bodies that a server has
# compressed do not shrink further; level 1 is the cheapest that still compresses their headers.
_LEVEL, _LEVEL_ENCODED = 6, 1
_GZIP = 16  # added to zlib's wbits: gzip format
# (window bits, memory level) of small and of large records. A window larger than the record saves nothing, but its 256
# KiB evict everything else from the processor's cache.
_SMALL_BYTES, _SMALL, _LARGE = 4096, (12, 5), (15, 8)

_TOKEN = b"!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NAME = bytes(byte if byte in _TOKEN else ord("_") for byte in range(256))
# RFC 9110 section 5.5: a recipient replaces each CR, LF or NUL in a field value with SP.
_VALUE = bytes(0x20 if byte in b"\r\n\0" else byte for byte in range(256))
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_URL = re.compile(r"(?P<scheme>[^:/?#]*):(?://(?:[^/?#]*@)?(?P<host>[^/?#@]*))?(?P<target>[^#]*)")


@dataclass(frozen=True, slots=True)
class Captured:
    """A record with its full payload, to which later records of the same bytes refer."""

    fetch_id: str
    url: str
    fetched_at: datetime
    payload_digest: str

    def as_json(self) -> dict[str, str]:
        """The record as JSON values for `from_json`."""
        at = rfc3339(self.fetched_at, "auto")
        return {"fetch_id": self.fetch_id, "url": self.url, "fetched_at": at, "payload_digest": self.payload_digest}

    @classmethod
    def from_json(cls, value: Mapping[str, str]) -> Self:
        """The record from JSON values. Raises KeyError or ValueError."""
        at = datetime.fromisoformat(value["fetched_at"])
        return cls(value["fetch_id"], value["url"], at, value["payload_digest"])


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its response, as bytes: with content codings, without transfer coding.

    `fetch_id` is a UUID. `feed_id` or `uid` (of an article) names the reason of the fetch. `truncated`: why `body` is
    incomplete ("length", "time", "disconnect" or "unspecified"), None if it is complete. `outgoing`: the local address
    or proxy by which the request left, if one is configured. `previous`: the last full
    capture of the URL; a 304 refers to it, and so does a body with the same digest, which is not written again.
    """

    fetch_id: str
    url: str
    fetched_at: datetime
    status: int
    method: str = "GET"
    reason: str = ""
    request_headers: Sequence[tuple[bytes, bytes]] = ()
    response_headers: Sequence[tuple[bytes, bytes]] = ()
    body: bytes = b""
    feed_id: str | None = None
    uid: str | None = None
    truncated: str | None = None
    ip: str | None = None
    outgoing: str | None = None
    previous: Captured | None = None


@dataclass(frozen=True, slots=True)
class Packed:
    """Two gzip members: the response (or revisit) record and the request record.

    `payload_digest` is "sha256:" and 64 hex digits over the body. `refers_to`: the record that holds the payload, if
    the response is a revisit record.
    """

    response: bytes
    request: bytes
    payload_digest: str
    refers_to: Captured | None


def pack(exchange: Exchange) -> Packed:
    """The compressed records of an exchange. CPU only; zlib and sha256 release the GIL, so a thread may call it."""
    digest = payload_digest(exchange.body)
    refers_to = _refers_to(exchange, digest)
    encoded = any(name.lower() == b"content-encoding" for name, _ in exchange.response_headers)
    level = _LEVEL_ENCODED if encoded else _LEVEL
    about = _about(exchange)
    response = _member(_response(exchange, about, digest, refers_to), level)
    return Packed(response, _member(_request(exchange, about)), digest, refers_to)


def payload_digest(body: bytes) -> str:
    """The digest of a payload, labelled with its algorithm (WARC 1.1 sections 5.8 and 5.9), in hex."""
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


def warcinfo(fields: Iterable[tuple[str, str]], *, filename: str, at: datetime) -> bytes:
    """The compressed first record of a file; `fields` as in WARC 1.1 section 6.2 (`software`, `hostname`, …)."""
    block = "".join(f"{name}: {_CONTROL.sub(' ', value)}\r\n" for name, value in fields).encode()
    head = [
        ("WARC-Type", "warcinfo"),
        ("WARC-Record-ID", f"<urn:uuid:{uuid5(NAMESPACE_URL, filename)}>"),
        ("WARC-Date", rfc3339(at, "auto")),
        ("WARC-Filename", filename),
        ("Content-Type", "application/warc-fields"),
    ]
    return _member(_record(head, block, b""))


def _member(record: bytes, level: int = _LEVEL) -> bytes:
    bits, memory = _SMALL if len(record) < _SMALL_BYTES else _LARGE
    packer = zlib.compressobj(level, zlib.DEFLATED, _GZIP + bits, memory)
    return packer.compress(record) + packer.flush()


def _refers_to(exchange: Exchange, digest: str) -> Captured | None:
    previous = exchange.previous
    if previous is None or exchange.truncated:
        return None
    same = exchange.body and previous.payload_digest == digest
    return previous if same or exchange.status == _NOT_MODIFIED else None


def _response(exchange: Exchange, about: Fields, digest: str, refers_to: Captured | None) -> bytes:
    head = _http_head(f"HTTP/1.1 {exchange.status:03d} {exchange.reason}", exchange.response_headers)
    if exchange.status == _NOT_MODIFIED:
        profile = [("WARC-Profile", _REVISIT + "server-not-modified")]
    elif refers_to:
        # WARC 1.1 section 6.7.2: the digest is required; the omitted body is a truncation of kind "length".
        profile = [
            ("WARC-Profile", _REVISIT + "identical-payload-digest"),
            ("WARC-Payload-Digest", digest),
            ("WARC-Truncated", "length"),
        ]
    else:
        truncated = [("WARC-Truncated", exchange.truncated)] if exchange.truncated else []
        fields = [("WARC-Type", "response"), *about, _RESPONSE, ("WARC-Payload-Digest", digest), *truncated]
        return _record([*fields, ("WARC-Record-ID", _urn(exchange.fetch_id))], head, exchange.body)
    fields = [("WARC-Type", "revisit"), *about, _RESPONSE, *profile, *_reference(refers_to)]
    return _record([*fields, ("WARC-Record-ID", _urn(exchange.fetch_id))], head, b"")


def _request(exchange: Exchange, about: Fields) -> bytes:
    url = _URL.match(_uri(exchange.url))
    scheme, host, target = url.group("scheme", "host", "target") if url else ("", "", "")
    headers = list(exchange.request_headers)
    if not any(name.lower() == b"host" for name, _ in headers):
        # The HTTP client adds Host when it sends the request, from the URL (RFC 9112 section 3.2).
        port = {"http": ":80", "https": ":443"}.get(scheme, "")
        headers.insert(0, (b"Host", (host or "").removesuffix(port).encode()))
    path = target if target.startswith("/") else f"/{target}"
    fields = [
        ("WARC-Type", "request"),
        *about,
        ("Content-Type", "application/http;msgtype=request"),
        # Derived from the response's id, so that each record of the pair leads to the other and no further random bytes
        # are stored.
        ("WARC-Record-ID", _urn(str(uuid5(NAMESPACE_URL, exchange.fetch_id)))),
        ("WARC-Concurrent-To", _urn(exchange.fetch_id)),
    ]
    return _record(fields, _http_head(f"{exchange.method} {path} HTTP/1.1", headers), b"")


def _about(exchange: Exchange) -> Fields:
    fields = [("WARC-Target-URI", _uri(exchange.url)), ("WARC-Date", rfc3339(exchange.fetched_at, "auto"))]
    return [*fields, ("WARC-IP-Address", exchange.ip)] if exchange.ip else fields


def _reference(to: Captured | None) -> Fields:
    if to is None:
        return []
    return [
        ("WARC-Refers-To", _urn(to.fetch_id)),
        ("WARC-Refers-To-Target-URI", _uri(to.url)),
        ("WARC-Refers-To-Date", rfc3339(to.fetched_at, "auto")),
    ]


def _record(fields: Iterable[tuple[str, str]], head: bytes, body: bytes) -> bytes:
    block = hashlib.sha256(head)
    block.update(body)
    lines = "".join([f"{name}: {_CONTROL.sub(' ', value)}\r\n" for name, value in fields])
    size = len(head) + len(body)
    start = f"WARC/1.1\r\n{lines}WARC-Block-Digest: sha256:{block.hexdigest()}\r\nContent-Length: {size}\r\n\r\n"
    return b"".join((start.encode("utf-8", "replace"), head, body, b"\r\n\r\n"))


def _http_head(start: str, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    lines = [start.encode("utf-8", "replace").translate(_VALUE)]
    lines += [_field_name(name) + b": " + value.translate(_VALUE) for name, value in headers]
    return b"\r\n".join(lines) + b"\r\n\r\n"


@lru_cache(maxsize=256)
def _field_name(name: bytes) -> bytes:
    name = name.translate(_NAME) or b"_"
    # The body is stored without its transfer coding; a reader of the original header would decode it again.
    return b"X-Archive-Orig-Transfer-Encoding" if name.lower() == b"transfer-encoding" else name


@lru_cache(maxsize=64)  # an exchange needs the same one two or three times
def _uri(url: str) -> str:
    """The URL in printable ASCII without spaces; characters that are allowed in a URL are not changed."""
    return quote(url, safe="!#$%&'()*+,/:;=?@[]~|^`{}\\\"", errors="replace")


def _urn(uuid: str) -> str:
    return f"<urn:uuid:{uuid}>"


def unpack(member: bytes) -> tuple[str, bytes]:
    """The record id (a UUID) and the block of one record, from its gzip member.

    Raises zlib.error, ValueError or KeyError if the record is incomplete or malformed.
    """
    head, _, rest = zlib.decompress(member, wbits=_GZIP + zlib.MAX_WBITS).partition(b"\r\n\r\n")
    fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:])
    size = int(fields[b"Content-Length"])
    if len(rest) != size + 4:
        raise ValueError(f"a record of {size} bytes has {len(rest)}")
    return fields[b"WARC-Record-ID"].decode().removeprefix("<urn:uuid:").removesuffix(">"), rest[:size]
