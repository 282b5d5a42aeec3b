"""The evidence about an article that its feed entry or its news sitemap gives, in the payload of the article's task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from feedcrawl.domain.dates import moment
from feedcrawl.domain.frontier.payloads import filled
from feedcrawl.domain.models import FeedContent

if TYPE_CHECKING:
    from feedcrawl.domain.entries.records import EntryRecord
    from feedcrawl.domain.frontier.payloads import Payload
    from feedcrawl.domain.sites.sources import Source

CONTENT_CHARS: Final = 20_000
"""The most characters of an entry's own content in its article's task, as evidence and as the last rung."""


def evidence(entry: EntryRecord) -> Payload:
    """The evidence about an article from its entry, given as the entry's values or its stored line."""
    fields = {
        "feed_id": entry["feed_id"],
        "entry_uid": entry["entry_uid"],
        "title": entry["title"],
        "summary": (entry["summary"] or "")[:CONTENT_CHARS],
        "content": (entry["content"] or "")[:CONTENT_CHARS],
        "authors": [author["name"] for author in entry["authors"] if author.get("name")],
        "published": entry["published"],
        "updated": entry["updated"],
        "language": entry["language"],
        "image": entry["image"],
        "tags": entry["categories"],
    }
    return filled(fields)


def feed_content(payload: Payload, source: Source | None = None) -> FeedContent | None:
    """The content of a feed entry or news sitemap for an article, from its task's payload; None if there is none.

    `source`: the source of the page, which may trust the feed for full text.
    """
    if "feed_id" not in payload and "sitemap_id" not in payload:
        return None
    return FeedContent(
        title=payload.get("title"),
        summary=payload.get("summary"),
        content=payload.get("content"),
        authors=tuple(payload.get("authors", ())),
        published=moment(payload.get("published")),
        updated=moment(payload.get("updated")),
        language=payload.get("language"),
        categories=tuple(payload.get("tags", ())),
        image=payload.get("image"),
        full_text=source is not None and source.full_text,
    )
