"""Gzip that a server sent as a file, not as a content encoding: sitemaps named `.xml.gz`."""

from __future__ import annotations

import zlib

MAGIC = b"\x1f\x8b"
MAX_LAYERS = 2  # a file compressed by hand and once more by a careless server
_GZIP_WINDOW = 16 + zlib.MAX_WBITS


def gunzip(body: bytes, *, limit_bytes: int) -> tuple[bytes, tuple[str, ...]]:
    """The content of `body`, at most `limit_bytes` of it, and notes on what was cut or forgiven.

    Recognised by its magic number (RFC 1952 section 2.3.1); other bodies come back as they are. Members are joined
    (section 2.2), bytes after the last are ignored, and a torn or damaged member yields what was read before.
    """
    notes: list[str] = []
    for _ in range(MAX_LAYERS):
        if not body.startswith(MAGIC):
            break
        body = _members(body, limit_bytes, notes)
    return body, tuple(notes)


def _members(body: bytes, limit_bytes: int, notes: list[str]) -> bytes:
    content = bytearray()
    while body.startswith(MAGIC):
        member = zlib.decompressobj(_GZIP_WINDOW)
        try:
            content += member.decompress(body, limit_bytes - len(content))
        except zlib.error as error:
            notes.append(f"gzip damaged: {error}")
            break
        if not member.eof:
            notes.append(f"cut at {limit_bytes} bytes" if len(content) >= limit_bytes else "gzip truncated")
            break
        body = member.unused_data
    return bytes(content)
