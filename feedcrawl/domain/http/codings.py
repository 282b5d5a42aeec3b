"""Content codings (RFC 9110 section 8.4.1), decoded within a limit.

Servers declare wrong codings: plain text as gzip, or gzip without a header. The first bytes of a body therefore count
more than the declared coding; they correct one wrong declaration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.http.compression import GZIP, PIECES, ZSTD, Damaged, TooLarge, fill
from feedcrawl.domain.http.sniffing import BINARY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_CODINGS: Final = 2

_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class Undecodable(Refusal):
    """A body that cannot be decoded.

    `code` is `bad_encoding` (unknown, damaged, more than two), `dataloss` (the body ends too soon) or `too_large` (more
    than the limit of bytes, MAX_MEMBERS or MAX_IDLE).
    """


def names(values: Sequence[bytes]) -> tuple[str, ...]:
    """The codings of Content-Encoding fields in the order in which they were applied, without `identity`."""
    listed = b",".join(values).decode("latin-1").lower().split(",")
    return tuple(name for name in map(str.strip, listed) if name and name != "identity")


def is_plain(body: bytes, codings: Sequence[str]) -> bool:
    """True if a body has no coding by its header or its first bytes, so that `decode` returns the body unchanged."""
    return not codings and not body.startswith(GZIP)


def decode(body: bytes, codings: Sequence[str], *, limit_bytes: int) -> bytes:
    """The body before `codings` were applied. `limit_bytes` 0: no limit.

    The limit holds for each layer while it is decoded. A body that is plain text or has another coding than the
    declared one is treated as what its first bytes show; undeclared gzip is decoded unless two layers were decoded
    already. Raises Undecodable.
    """
    if len(codings) > MAX_CODINGS:
        raise Undecodable("bad_encoding", f"{len(codings)} content codings; the maximum is {MAX_CODINGS}")
    layers = 0
    for coding in reversed(codings):
        decoded = _layer(body, coding, limit_bytes)
        layers += decoded is not body
        body = decoded
    return body if layers >= MAX_CODINGS else _ungzipped(body, limit_bytes)


def head(body: bytes, codings: Sequence[str], *, limit_bytes: int) -> bytes:
    """The first `limit_bytes` of the body before `codings` were applied, or as many of them as can be decoded.

    For a body that is downloaded and read only up to its limit. Raises Undecodable (`bad_encoding`) as `decode` does.
    """
    if len(codings) > MAX_CODINGS:
        raise Undecodable("bad_encoding", f"{len(codings)} content codings; the maximum is {MAX_CODINGS}")
    for coding in reversed(codings or ("gzip",)):
        named, found = coding if coding in PIECES else None, _sniff(body)
        if found == "text" or not (named or found):
            continue
        content = bytearray()
        try:
            fill(content, PIECES[found or named or ""](body), limit_bytes)
        except Damaged as error:
            raise _undecodable(coding, error) from None
        except (EOFError, TooLarge):
            pass
        body = bytes(content)
    return body[:limit_bytes]


def _ungzipped(body: bytes, limit_bytes: int) -> bytes:
    """The decoded body if it is undeclared gzip; a body that only begins like gzip is returned unchanged."""
    if _sniff(body) != "gzip":
        return body
    try:
        return _layer(body, "gzip", limit_bytes)
    except Undecodable as refusal:
        if refusal.code == "too_large":
            raise
        return body


def _layer(body: bytes, coding: str, limit_bytes: int) -> bytes:
    pieces = PIECES.get(coding)
    found = _sniff(body)
    try:
        if pieces:
            return _joined(pieces(body), limit_bytes)
    except (Damaged, EOFError) as error:
        if found == coding.removeprefix("x-") or found is None:
            raise _undecodable(coding, error) from None
    if found == "text":
        return body
    if found is None:
        raise Undecodable("bad_encoding", f"{coding} is not a known content coding")
    try:
        return _joined(PIECES[found](body), limit_bytes)
    except (Damaged, EOFError) as error:
        raise _undecodable(found, error) from None


def _undecodable(coding: str, error: Exception) -> Undecodable:
    if isinstance(error, EOFError):
        return Undecodable("dataloss", f"the {coding} data is incomplete")
    return Undecodable("bad_encoding", f"not {coding}: {error}")


def _joined(pieces: Iterator[bytes], limit_bytes: int) -> bytes:
    content = bytearray()
    try:
        fill(content, pieces, limit_bytes)
    except TooLarge as refusal:
        raise Undecodable(refusal.code, refusal.detail) from None
    return bytes(content)


def _sniff(body: bytes) -> str | None:
    """The type of a body by its first bytes: `gzip`, `zstd`, `text`, or None."""
    if body.startswith(GZIP):
        return "gzip"
    if body.startswith(ZSTD):
        return "zstd"
    head = body[:1024]
    is_text = head.startswith(_UTF16) or len(head.translate(None, BINARY)) == len(head)
    return "text" if is_text else None


def gunzip(body: bytes, *, limit_bytes: int) -> tuple[bytes, tuple[str, ...]]:
    """The content of a file that is gzip by its first bytes, and notes; any other body unchanged.

    For files such as `sitemap.xml.gz`, compressed at most MAX_CODINGS times. Of a truncated or damaged file, the part
    that could be decoded is returned, at most `limit_bytes`; the notes state the damage or the cut.
    """
    notes: list[str] = []
    for _ in range(MAX_CODINGS):
        if not body.startswith(GZIP):
            break
        content = bytearray()
        try:
            fill(content, PIECES["gzip"](body), limit_bytes)
        except TooLarge as refusal:
            notes.append(f"cut at {limit_bytes} bytes: {refusal.detail}")
        except EOFError:
            notes.append("gzip truncated")
        except Damaged as error:
            notes.append(f"gzip damaged: {error}")
        body = bytes(content[:limit_bytes])
    return body, tuple(notes)
