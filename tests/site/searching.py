"""Stored articles and searches for them, for tests of the index."""

from __future__ import annotations

from documents import paragraphs
from stories import Reader

from feedcrawl.domain.search.documents import Filters
from feedcrawl.domain.urls import url_uid
from feedcrawl.wiring import Wiring

EVERY = Filters()


def found(wired: Wiring, text: str, filters: Filters = EVERY) -> list[str]:
    return [hit.document["canonical_url"] for hit in wired.search.find(text, filters, limit=100).hits]


def article(reader: Reader, url: str, words: str, category: str | None = None, **fields: str) -> None:
    """Stores an article; texts with other words are other stories."""
    is_known = reader.wired.frontier.find(url_uid(url)) is not None
    lease = reader.lease(url, again="changed" if is_known else "", category=category)
    text = "\n".join([words, *paragraphs(words, count=3)])
    item = reader.passed(reader.page(lease, text, title=words, **fields))
    reader.wired.leases.done(item.lease, status="fetched")
