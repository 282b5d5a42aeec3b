"""One reading of a feed document, as a child process does it: parsed, and its entries identified."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from feedcrawl.domain import feeds
from feedcrawl.domain.entries.identity import Identified, identify
from feedcrawl.domain.entries.redaction import redact
from feedcrawl.domain.models import ParsedFeed  # noqa: TC001 - what a child answers is decoded by this annotation

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class FeedReading:
    """A parsed feed, and each of its entries with the names by which it may be known.

    `digest` is of what its entries are and say. Where it is the one that was known, entries are left out.
    """

    parsed: ParsedFeed
    identified: tuple[Identified, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class How:
    """How a document is read: `known` is the digest of last time; `redact_emails` leaves out addresses of authors."""

    known: str | None = None
    redact_emails: bool = False


_PLAIN = How()


def read_feed(body: bytes, *, url: str, content_type: str | None, feed_id: str, how: How = _PLAIN) -> FeedReading:
    """Parses a document and names its entries; NotAFeed as `feeds.parse` raises it.

    Names and digest of an entry are the same with its author's address and without.
    """
    parsed = feeds.parse(body, url=url, content_type=content_type)
    if how.redact_emails:
        parsed = redact(parsed)
    identified = identify(parsed.entries, feed_id=feed_id)
    digest = digest_of(identified)
    if digest == how.known:
        return FeedReading(replace(parsed, entries=()), (), digest)
    return FeedReading(parsed, identified, digest)


def digest_of(entries: Iterable[Identified]) -> str:
    """SHA-256 (hex) over names, content and edits of entries, in order.

    What a publisher's program stamps on each answer says nothing to a reader and is not in it: build date, generator,
    counters, numbers of comments.
    """
    found = hashlib.sha256()
    for entry in entries:
        edited = entry.edited.isoformat() if entry.edited else ""
        found.update("\x1f".join((*entry.keys, entry.content_hash, edited, "\x1e")).encode())
    return found.hexdigest()
