"""Contradictions between a page, its structured data and the feed: notes for readers who doubt a field."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from feedcrawl.domain.dates import parse_date
from feedcrawl.domain.extraction.fields.sites import key, site_keys, without_site
from feedcrawl.domain.extraction.structured import text_at

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from feedcrawl.domain.extraction.page import Page
    from feedcrawl.domain.models import FeedContent

MAX_LENGTH = 200
TOLERANCE = timedelta(days=1)  # the most that a missing time zone may shift a date


def disagreements(
    page: Page, feed: FeedContent | None, title: str | None, published: datetime | None
) -> tuple[str, ...]:
    """Notes such as "title: the feed has 'Another headline'": each source whose value differs from the chosen value.

    Titles agree if they differ only in typography or by a site's name, or if one contains the other; dates agree within
    a day.
    """
    return (*_other_titles(page, feed, key(title or "")), *_other_dates(page, feed, published))


def _other_titles(page: Page, feed: FeedContent | None, chosen: str) -> Iterator[str]:
    sites = site_keys(page) if chosen else set()
    sources = {
        "JSON-LD": text_at(page.article, "headline"),
        "OpenGraph": page.meta("og:title"),
        "the feed": feed.title if feed else None,
    }
    for name, text in sources.items():
        other = key(without_site((text or "")[:MAX_LENGTH], sites))
        if other and chosen and other not in chosen and chosen not in other:
            yield f"title: {name} has {(text or '')[:MAX_LENGTH]!r}"


def _other_dates(page: Page, feed: FeedContent | None, chosen: datetime | None) -> Iterator[str]:
    sources = {
        "JSON-LD": parse_date(text_at(page.article, "datePublished") or ""),
        "OpenGraph": parse_date(page.meta("article:published_time") or ""),
        "the feed": feed.published if feed else None,
    }
    for name, moment in sources.items():
        if moment and chosen and abs(moment - chosen) > TOLERANCE:
            yield f"published: {name} has {moment.isoformat()}"
