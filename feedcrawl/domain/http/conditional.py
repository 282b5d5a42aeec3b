"""Conditional GET (RFC 9110, 13.1): validators are stored and sent back exactly as received."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Validators:
    """The validators of the version that we have stored. Latin-1 text, so that every byte is preserved."""

    etag: str | None = None
    last_modified: str | None = None

    @classmethod
    def received(cls, etag: bytes | None, last_modified: bytes | None) -> Validators:
        """The validators of a response, from its header values."""
        return cls(_text(etag), _text(last_modified))

    def headers(self) -> dict[str, bytes]:
        """The headers that request the document only if changed; a server that supports both prefers the ETag."""
        sent = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value.encode("latin-1") for name, value in sent.items() if value is not None}

    def updated(self, newer: Validators) -> Validators:
        """The validators after a 304, which may bring new ones and may leave out valid ones."""
        return Validators(newer.etag or self.etag, newer.last_modified or self.last_modified)


def _text(value: bytes | None) -> str | None:
    return value.decode("latin-1") if value else None
