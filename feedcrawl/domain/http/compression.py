"""Decompression piece by piece: the work is linear in the size of the input, whatever its content.

Input is fed in pieces, so that the rest of the input is not copied for each member; the number of members is limited,
and so is input without output. zlib, brotli and zstd release the interpreter's lock, so decompression can run in a
thread.
"""

from __future__ import annotations

import re
import sys
import zlib
from typing import TYPE_CHECKING, Final

import brotli

from feedcrawl.domain.errors import Refusal

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

MAX_MEMBERS: Final = 2000
"""Maximum number of gzip members or zstd frames of one body. A file of blocks (bgzip) has one for each 64 KiB."""
MAX_IDLE: Final = 32
"""Maximum number of consecutive pieces of input without output: 2 MiB, or as many empty members."""
GZIP: Final = b"\x1f\x8b\x08"
"""The first bytes of a gzip member (RFC 1952 section 2.3.1)."""
ZSTD: Final = b"\x28\xb5\x2f\xfd"
"""The first bytes of a zstd frame (RFC 8878 section 3.1.1)."""

_FED_BYTES, _PIECE_BYTES = 1 << 16, 1 << 18
_PADDING = re.compile(rb"\0+")
_ZSTD_WINDOW = {int(zstd.DecompressionParameter.window_log_max): 23}  # 8 MiB: RFC 9659 section 3


class TooLarge(Refusal):
    """More bytes than the limit, more members than MAX_MEMBERS, or input without output beyond MAX_IDLE."""


class Damaged(Exception):
    """Bytes that are not valid in this coding, from the start or from some point on."""


def fill(content: bytearray, pieces: Iterator[bytes], limit_bytes: int) -> None:
    """Append the pieces to `content`; TooLarge beyond `limit_bytes` (0: no limit), which `content` then exceeds.

    Raises Damaged for invalid input, and EOFError if the input ends too soon; `content` then has the pieces before the
    error.
    """
    idle = 0
    for piece in pieces:
        content += piece
        if limit_bytes and len(content) > limit_bytes:
            raise TooLarge("too_large", f"more than {limit_bytes} bytes after decoding")
        idle = 0 if piece else idle + 1
        if idle > MAX_IDLE:
            raise TooLarge("too_large", f"{idle} consecutive pieces or members without output")


def _gzip(body: bytes) -> Iterator[bytes]:
    """The output of all members (RFC 1952 section 2.2); bytes after the last member are ignored."""
    return _members(body, GZIP, lambda at: _inflated(zlib.decompressobj(16 + zlib.MAX_WBITS), body, at))


def _zstd(body: bytes) -> Iterator[bytes]:
    """The output of all frames (RFC 8878 section 3); bytes after the last frame are ignored."""
    return _members(body, ZSTD, lambda at: _unframed(body, at))


def _members(body: bytes, magic: bytes, read: Callable[[int], Generator[bytes, None, int]]) -> Iterator[bytes]:
    """The pieces of all members; zero bytes between members are skipped.

    `read` yields the pieces of the member at an offset, and returns the offset of its end.
    """
    at = 0
    for _ in range(MAX_MEMBERS):
        at = yield from read(at)
        if padding := _PADDING.match(body, at):
            at = padding.end()
        if not body.startswith(magic, at):
            return
    raise TooLarge("too_large", f"more than {MAX_MEMBERS} members")


def _deflate(body: bytes) -> Iterator[bytes]:
    """The output of zlib data (RFC 1950; required by RFC 9110), or of the bare stream (RFC 1951) of some servers."""
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
            raise Damaged(error) from None
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
            raise Damaged(error) from None
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
            raise Damaged(error) from None
        if not piece and not fed and not stream.eof:
            raise EOFError
        yield piece
    return at - len(stream.unused_data)


PIECES: Final[dict[str, Callable[[bytes], Iterator[bytes]]]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
