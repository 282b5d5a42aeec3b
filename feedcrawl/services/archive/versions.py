"""The versions of a feed's document in the archive."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from feedcrawl.domain import feeds
from feedcrawl.domain.errors import NotAFeed
from feedcrawl.domain.http.codings import Undecodable
from feedcrawl.services.archive import capture

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from feedcrawl.domain.models import ParsedFeed
    from feedcrawl.domain.subscriptions.records import Feed
    from feedcrawl.store.disk.raw import RawStore
    from feedcrawl.store.disk.raw_index import RawRef


@dataclass(frozen=True, slots=True)
class Version:
    """A document of a feed and the time of its fetch."""

    at: datetime
    parsed: ParsedFeed


def last_versions(data_dir: Path, feed: Feed, *, limit: int) -> list[Version]:
    """The newest two documents of a feed that differ and can be read, newest first, each of at most `limit` decoded
    bytes. Its archives are other documents, and so is what a search for the feed fetched elsewhere.

    Raises DiskUnavailable, and RawElsewhere if the file is on another machine.
    """
    store = capture.opened(data_dir)
    try:
        return list(islice(_versions(store, feed, limit), 2))
    finally:
        store.close()


def own_urls(feed: Feed) -> frozenset[str]:
    """The URLs at which the feed's own document was fetched: subscribed now or formerly, or reached by redirects."""
    led_to = [record["url"] for record in (feed.polls.raw, feed.polls.moving) if record]
    return frozenset((feed.subscription.url, *feed.subscription.formerly, *led_to))


def _versions(store: RawStore, feed: Feed, limit: int) -> Iterator[Version]:
    own = own_urls(feed)
    of_feed = (ref for ref in store.refs() if ref.feed_id == feed.id and ref.url in own)
    seen: set[str] = set()
    for ref in sorted(of_feed, key=lambda each: each.fetched_at, reverse=True):
        if ref.payload_digest in seen or not capture.is_whole(store, ref, limit_bytes=limit):
            continue
        seen.add(ref.payload_digest)
        parsed = _parsed(store, ref, limit)
        if parsed is not None:
            yield Version(ref.fetched_at, parsed)


def _parsed(store: RawStore, ref: RawRef, limit: int) -> ParsedFeed | None:
    try:
        found = capture.document(store, ref, limit_bytes=limit)
        return feeds.parse(found.body, url=ref.url, content_type=found.content_type)
    except (Undecodable, NotAFeed):
        return None
