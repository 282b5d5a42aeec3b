"""Compressed bytes, undone piece by piece: work is linear in the input, whatever that is made of.

Input is fed in pieces, so that what follows a member is not copied for each; members are limited, and so is input that
brings no output. zlib, brotli and zstd release the interpreter's lock, so a thread may do it.
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
    from collections.abc import Callable, Generator, Iterator

MAX_MEMBERS: Final = 2000
"""Gzip members or zstd frames of one body. A file of blocks (bgzip) has one for each 64 KiB."""
MAX_IDLE: Final = 32
"""Pieces of input in a row that bring no output: 2 MiB, or as many empty members."""
GZIP: Final = b"\x1f\x8b\x08"
"""How a gzip member begins (RFC 1952 section 2.3.1)."""
ZSTD: Final = b"\x28\xb5\x2f\xfd"
"""How a zstd frame begins (RFC 8878 section 3.1.1)."""

_FED_BYTES, _PIECE_BYTES = 1 << 16, 1 << 18
_PADDING = re.compile(rb"\0+")
_ZSTD_WINDOW = {int(zstd.DecompressionParameter.window_log_max): 23}  # 8 MiB: RFC 9659 section 3


class TooLarge(Refusal):
    """More bytes than the limit, more members than MAX_MEMBERS, or input without output beyond MAX_IDLE."""


class Damaged(Exception):
    """Bytes that are not of this coding, or not to their end."""


def fill(content: bytearray, pieces: Iterator[bytes], limit_bytes: int) -> None:
    """Adds the pieces to `content`; TooLarge beyond `limit_bytes` (0: no limit), which `content` then exceeds.

    May raise Damaged, and EOFError where the input ends too soon; `content` then has what came before.
    """
    idle = 0
    for piece in pieces:
        content += piece
        if limit_bytes and len(content) > limit_bytes:
            raise TooLarge("too_large", f"more than {limit_bytes} bytes once decoded")
        idle = 0 if piece else idle + 1
        if idle > MAX_IDLE:
            raise TooLarge("too_large", f"{idle} pieces or members in a row bring nothing")


def _gzip(body: bytes) -> Iterator[bytes]:
    """All members (RFC 1952 section 2.2); what follows the last one is ignored."""
    return _members(body, GZIP, lambda at: _inflated(zlib.decompressobj(16 + zlib.MAX_WBITS), body, at))


def _zstd(body: bytes) -> Iterator[bytes]:
    """All frames (RFC 8878 section 3); what follows the last one is ignored."""
    return _members(body, ZSTD, lambda at: _unframed(body, at))


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
    raise TooLarge("too_large", f"more than {MAX_MEMBERS} members")


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
