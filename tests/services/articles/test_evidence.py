from datetime import UTC, datetime
from typing import cast

from feedcrawl.domain.entries.records import EntryRecord
from feedcrawl.services.articles.evidence import CONTENT_CHARS, evidence, feed_content

ENTRY = {
    "feed_id": "f",
    "entry_uid": "1",
    "title": "Title",
    "summary": "Summary",
    "content": "c" * 30_000,
    "authors": [{"name": "Ada"}, {"name": None}],
    "published": "2026-11-27T11:00:00.000Z",
    "updated": None,
    "language": None,
    "image": None,
    "categories": ["tag"],
}


def test_an_entry_travels_with_its_articles_task() -> None:
    payload = evidence(cast("EntryRecord", ENTRY))
    assert not {"updated", "language", "image"} & payload.keys()
    content = feed_content(payload)
    assert content is not None
    assert (content.title, content.summary, content.authors) == ("Title", "Summary", ("Ada",))
    assert len(content.content or "") == CONTENT_CHARS
    assert content.published == datetime(2026, 11, 27, 11, tzinfo=UTC)
    assert (content.categories, content.full_text) == (("tag",), False)


def test_a_task_that_neither_feed_nor_sitemap_made_has_no_evidence() -> None:
    assert feed_content({"title": "x"}) is None
