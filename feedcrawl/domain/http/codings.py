"""Content codings (RFC 9110 section 8.4.1), undone within a limit.

Servers lie about them: plain text named gzip, gzip not named at all. What a body is outweighs what it is called, once.
The work is linear in the input: bytes are fed in pieces, so that what follows a member is not copied for each. zlib,
brotli and zstd release the interpreter's lock, so a thread may decode.
"""

from __future__ import annotations

import re
import sys
import zlib
from typing import TYPE_CHECKING, Final

import brotli  # type: ignore[import-untyped]

from feedcrawl.domain.errors import Refusal

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

MAX_CODINGS: Final = 2
MAX_MEMBERS: Final = 2000
"""Gzip members or zstd frames of one body. A file of blocks (bgzip) has one for each 64 KiB."""
MAX_IDLE: Final = 32
"""Pieces of input in a row that bring no output: 2 MiB, or as many empty members."""
_FED_BYTES, _PIECE_BYTES = 1 << 16, 1 << 18
_PADDING = re.compile(rb"\0+")
_GZIP, _ZSTD = b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"  # RFC 1952 section 2.3.1, RFC 8878 section 3.1.1
_ZSTD_WINDOW = {int(zstd.DecompressionParameter.window_log_max): 23}  # 8 MiB: RFC 9659 section 3

# Control characters that no text has: "binary data byte" of the MIME Sniffing Standard.
_BINARY = bytes({*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)})
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class Undecodable(Refusal):
    """A body whose coding cannot be undone.

    `code` is `bad_encoding` (unknown, damaged, more than two), `dataloss` (it ends too soon) or `too_large` (beyond the
    limit of bytes, MAX_MEMBERS or MAX_IDLE).
    """


class _Damaged(Exception):
    """Bytes that are not of this coding, or not to their end."""


def names(values: Sequence[bytes]) -> tuple[str, ...]:
    """The codings that Content-Encoding fields name, in the order in which they were applied, without `identity`."""
    listed = b",".join(values).decode("latin-1").lower().split(",")
    return tuple(name for name in map(str.strip, listed) if name and name != "identity")


def is_plain(body: bytes, codings: Sequence[str]) -> bool:
    """True if a body has no coding, neither by its header nor by its first bytes: `decode` returns it as it is."""
    return not codings and not body.startswith(_GZIP)


def decode(body: bytes, codings: Sequence[str], *, limit_bytes: int) -> bytes:
    """The body before `codings` were applied; Undecodable where it cannot be had. `limit_bytes` 0: no limit.

    The limit holds for each layer while it is read. A body that turns out to be plain text or of another coding is
    taken as what it is; a gzip that no header names is undone if it is not the third layer.
    """
    if len(codings) > MAX_CODINGS:
        raise Undecodable("bad_encoding", f"{len(codings)} content codings, at most {MAX_CODINGS}")
    layers = 0
    for coding in reversed(codings):
        decoded = _layer(body, coding, limit_bytes)
        layers += decoded is not body
        body = decoded
    return body if layers >= MAX_CODINGS else _ungzipped(body, limit_bytes)


def _ungzipped(body: bytes, limit_bytes: int) -> bytes:
    """A gzip that no header names, undone; what only begins like one is left to whoever reads it."""
    if _sniff(body) != "gzip":
        return body
    try:
        return _layer(body, "gzip", limit_bytes)
    except Undecodable as refusal:
        if refusal.code == "too_large":
            raise
        return body


def _layer(body: bytes, coding: str, limit_bytes: int) -> bytes:
    pieces = _PIECES.get(coding)
    found = _sniff(body)
    try:
        if pieces:
            return _joined(pieces(body), limit_bytes)
    except (_Damaged, EOFError) as error:
        if found == coding.removeprefix("x-") or found is None:
            raise _undecodable(coding, error) from None
    if found == "text":
        return body
    if found is None:
        raise Undecodable("bad_encoding", f"{coding} is not a known content coding")
    try:
        return _joined(_PIECES[found](body), limit_bytes)
    except (_Damaged, EOFError) as error:
        raise _undecodable(found, error) from None


def _undecodable(coding: str, error: Exception) -> Undecodable:
    if isinstance(error, EOFError):
        return Undecodable("dataloss", f"{coding} ends before its end")
    return Undecodable("bad_encoding", f"not {coding}: {error}")


def _joined(pieces: Iterator[bytes], limit_bytes: int) -> bytes:
    content = bytearray()
    _fill(content, pieces, limit_bytes)
    return bytes(content)


def _fill(content: bytearray, pieces: Iterator[bytes], limit_bytes: int) -> None:
    idle = 0
    for piece in pieces:
        content += piece
        if limit_bytes and len(content) > limit_bytes:
            raise Undecodable("too_large", f"more than {limit_bytes} bytes once decoded")
        idle = 0 if piece else idle + 1
        if idle > MAX_IDLE:
            raise Undecodable("too_large", f"{idle} pieces or members in a row bring nothing")


def _sniff(body: bytes) -> str | None:
    """What a body is by its first bytes: `gzip`, `zstd`, `text`, or None."""
    if body.startswith(_GZIP):
        return "gzip"
    if body.startswith(_ZSTD):
        return "zstd"
    head = body[:1024]
    is_text = head.startswith(_UTF16) or len(head.translate(None, _BINARY)) == len(head)
    return "text" if is_text else None


def _gzip(body: bytes) -> Iterator[bytes]:
    """All members (RFC 1952 section 2.2); what follows the last one is ignored."""
    return _members(body, _GZIP, lambda at: _inflated(zlib.decompressobj(16 + zlib.MAX_WBITS), body, at))


def _zstd(body: bytes) -> Iterator[bytes]:
    """All frames (RFC 8878 section 3); what follows the last one is ignored."""
    return _members(body, _ZSTD, lambda at: _unframed(body, at))


def _members(body: bytes, magic: bytes, read: Callable[[int], Generator[bytes, None, int]]) -> Iterator[bytes]:
    """The pieces of all members, zeros between them passed over. `read` yields those of the member at an offset, and
    returns where it ends.
    """
    at = 0
    for _ in range(MAX_MEMBERS):
        at = yield from read(at)
        if padding := _PADDING.match(body, at):
            at = padding.end()
        if not body.startswith(magic, at):
            return
    raise Undecodable("too_large", f"more than {MAX_MEMBERS} members")


def _deflate(body: bytes) -> Iterator[bytes]:
    """The zlib form (RFC 1950) as RFC 9110 has it, else the bare stream (RFC 1951) that some servers send."""
    is_zlib = len(body) > 1 and body[0] & 0x0F == 8 and int.from_bytes(body[:2], "big") % 31 == 0
    return _inflated(zlib.decompressobj(zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS), body, 0)


def _inflated(stream: zlib._Decompress, body: bytes, at: int) -> Generator[bytes, None, int]:
    data = b""
    while not stream.eof:
        fed = b"" if data else body[at : at + _FED_BYTES]
        at += len(fed)
        try:
            piece = stream.decompress(data or fed, _PIECE_BYTES)
        except zlib.error as error:
            raise _Damaged(error) from None
        data = stream.unconsumed_tail
        if not piece and not data and not fed and not stream.eof:
            raise EOFError
        yield piece
    return at - len(stream.unused_data)


def _brotli(body: bytes) -> Iterator[bytes]:
    stream, at = brotli.Decompressor(), 0
    while not stream.is_finished():
        fed = body[at : at + _FED_BYTES] if stream.can_accept_more_data() else b""
        at += len(fed)
        try:
            piece = stream.process(fed, output_buffer_limit=_PIECE_BYTES)
        except brotli.error as error:
            raise _Damaged(error) from None
        if not piece and not fed and not stream.is_finished():
            raise EOFError
        yield piece


def _unframed(body: bytes, at: int) -> Generator[bytes, None, int]:
    stream = zstd.ZstdDecompressor(options=_ZSTD_WINDOW)
    while not stream.eof:
        fed = body[at : at + _FED_BYTES] if stream.needs_input else b""
        at += len(fed)
        try:
            piece = stream.decompress(fed, _PIECE_BYTES)
        except zstd.ZstdError as error:
            raise _Damaged(error) from None
        if not piece and not fed and not stream.eof:
            raise EOFError
        yield piece
    return at - len(stream.unused_data)


def gunzip(body: bytes, *, limit_bytes: int) -> tuple[bytes, tuple[str, ...]]:
    """The content of a file that is gzip by its first bytes, at most `limit_bytes` of it; any other body as it is.

    For files such as `sitemap.xml.gz`, compressed at most MAX_CODINGS times. A torn or damaged one yields what could be
    read of it; notes tell what was cut or forgiven.
    """
    notes: list[str] = []
    for _ in range(MAX_CODINGS):
        if not body.startswith(_GZIP):
            break
        content = bytearray()
        try:
            _fill(content, _gzip(body), limit_bytes)
        except Undecodable as refusal:
            notes.append(f"cut at {limit_bytes} bytes: {refusal.detail}")
        except EOFError:
            notes.append("gzip truncated")
        except _Damaged as error:
            notes.append(f"gzip damaged: {error}")
        body = bytes(content[:limit_bytes])
    return body, tuple(notes)


_PIECES: dict[str, Callable[[bytes], Iterator[bytes]]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
