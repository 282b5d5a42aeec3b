"""One reading of a feed document, done in a child process: the document is parsed and its entries are identified."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from feedcrawl.domain import feeds
from feedcrawl.domain.entries.identity import Identified, identify
from feedcrawl.domain.entries.redaction import redact
from feedcrawl.domain.feeds.selection import selected
from feedcrawl.domain.models import ParsedFeed  # noqa: TC001 - what a child answers is decoded by this annotation

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class FeedReading:
    """A parsed feed, and each of its entries with its names.

    `digest` covers names and content of the entries. If it equals the known digest, `parsed` has no entries and
    `identified` is empty.
    """

    parsed: ParsedFeed
    identified: tuple[Identified, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class How:
    """Options of a reading. `known`: digest of the previous reading; `redact_emails`: without authors' addresses.

    `keep_rules` and `drop_rules` select the entries (`domain.feeds.selection`).
    """

    known: str | None = None
    redact_emails: bool = False
    keep_rules: str = ""
    drop_rules: str = ""


_PLAIN = How()


def read_feed(body: bytes, *, url: str, content_type: str | None, feed_id: str, how: How = _PLAIN) -> FeedReading:
    """Parse a document and name its entries. Raises NotAFeed, as `feeds.parse` does.

    Redaction of e-mail addresses changes neither an entry's names nor the digest.
    """
    parsed = feeds.parse(body, url=url, content_type=content_type)
    if how.keep_rules or how.drop_rules:
        parsed = selected(parsed, how.keep_rules, how.drop_rules)
    identified = identify(parsed.entries, feed_id=feed_id)
    digest = digest_of(identified)
    if digest == how.known:
        parsed, identified = replace(parsed, entries=()), ()
    if how.redact_emails:
        parsed, identified = _redacted(parsed, identified)
    return FeedReading(parsed, identified, digest)


def _redacted(parsed: ParsedFeed, identified: Iterable[Identified]) -> tuple[ParsedFeed, tuple[Identified, ...]]:
    """The feed and its named entries without addresses. Names are given before: the address of its author may be all
    that distinguishes an entry.
    """
    hidden = redact(parsed)
    of_entry = dict(zip(map(id, parsed.entries), hidden.entries, strict=True))
    return hidden, tuple(replace(each, entry=of_entry[id(each.entry)]) for each in identified)


def digest_of(entries: Iterable[Identified]) -> str:
    """SHA-256 (hex) over names, content and dates of edit of the entries, in order.

    Values that a publisher's program changes in each response do not count: build date, generator, counters, numbers of
    comments.
    """
    found = hashlib.sha256()
    for entry in entries:
        edited = entry.edited.isoformat() if entry.edited else ""
        found.update("\x1f".join((*entry.keys, entry.content_hash, edited, "\x1e")).encode())
    return found.hexdigest()
