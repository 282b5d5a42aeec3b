from datetime import UTC, datetime

import pytest

from feedcrawl.domain.extraction.fields.disagreements import disagreements
from feedcrawl.domain.extraction.page import read_page
from feedcrawl.domain.models import FeedContent

PUBLISHED = datetime(2026, 3, 4, 12, tzinfo=UTC)


def page(head):
    return read_page(f"<html><head>{head}</head><body><p>{'text ' * 60}</p></body></html>", "https://daily.example/a")


@pytest.mark.parametrize(
    ("head", "feed", "notes"),
    [
        ("", None, ()),
        ("<meta property=og:title content='“A story” | Daily'>", None, ()),
        ("<meta property=og:title content='A story of ports'>", FeedContent(title="Story"), ()),
        ("<meta property=og:title content='Ships'>", None, ("title: OpenGraph has 'Ships'",)),
        ("", FeedContent(title="Ships"), ("title: the feed has 'Ships'",)),
        ("", FeedContent(published=datetime(2026, 3, 5, 11, tzinfo=UTC)), ()),
        (
            """<script type="application/ld+json">
            {"@type": "Article", "headline": "Boats", "datePublished": "2025-03-04T12:00:00Z"}</script>""",
            FeedContent(published=datetime(2026, 3, 6, tzinfo=UTC)),
            (
                "title: JSON-LD has 'Boats'",
                "published: JSON-LD has 2025-03-04T12:00:00+00:00",
                "published: the feed has 2026-03-06T00:00:00+00:00",
            ),
        ),
    ],
)
def test_disagreements(head, feed, notes):
    assert disagreements(page(head), feed, "A story", PUBLISHED) == notes


def test_an_empty_page_contradicts_nothing():
    feed = FeedContent(title="Ships", published=PUBLISHED)
    assert disagreements(page(""), feed, None, None) == ()
