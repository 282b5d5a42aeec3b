"""One reading of a feed document, as a child process does it: parsed, and its entries identified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from feedcrawl.domain import feeds
from feedcrawl.domain.identity import identify

if TYPE_CHECKING:
    from feedcrawl.domain.identity import Identified
    from feedcrawl.domain.models import ParsedFeed


@dataclass(frozen=True, slots=True)
class FeedReading:
    """A parsed feed, and each of its entries with the names by which it may be known."""

    parsed: ParsedFeed
    identified: tuple[Identified, ...]


def read_feed(body: bytes, *, url: str, content_type: str | None, feed_id: str) -> FeedReading:
    """Parses a document and names its entries; NotAFeed as `feeds.parse` raises it."""
    parsed = feeds.parse(body, url=url, content_type=content_type)
    return FeedReading(parsed, identify(parsed.entries, feed_id=feed_id))
