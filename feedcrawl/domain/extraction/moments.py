"""When an article was published and last changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from feedcrawl.domain.dates import parse_date
from feedcrawl.domain.extraction.page import text_of
from feedcrawl.domain.extraction.structured import text_at

if TYPE_CHECKING:
    from feedcrawl.domain.extraction.page import Page
    from feedcrawl.domain.models import FeedContent

_PUBLISHED_METAS = (
    "article:published_time", "og:article:published_time", "og:published_time", "datepublished", "parsely-pub-date", "sailthru.date",
    "publish-date", "publish_date", "pubdate", "publishdate", "dc.date.issued", "dcterms.created", "dc.date", "dcterms.date", "dc.date.created", "date", "article.published",
    "cxenseparse:recs:publishtime", "article:published", "last-modified",
)  # fmt: skip
_MODIFIED_METAS = ("article:modified_time", "og:updated_time", "datemodified", "dcterms.modified", "last-modified")
_IN_PATH = re.compile(r"/((?:19|20)\d\d)[/-](0?[1-9]|1[0-2])[/-](0?[1-9]|[12]\d|3[01])(?=[/_.-]|$)")


def find_published(page: Page, feed: FeedContent | None) -> datetime | None:
    """The instant of publication: structured data, meta elements, the page's time elements, the feed, the URL's path."""
    said = map(_parsed, _published(page))
    return (
        next((moment for moment in said if moment), None) or (feed.published if feed else None) or _from_path(page.url)
    )


def find_modified(page: Page, feed: FeedContent | None) -> datetime | None:
    """The instant of the last change that the publisher states."""
    texts = [text_at(page.article, "dateModified"), *(page.meta(name) for name in _MODIFIED_METAS)]
    return next((moment for text in texts if text and (moment := _parsed(text))), None) or (
        feed.updated if feed else None
    )


def _parsed(text: str | None) -> datetime | None:
    return parse_date(text) if text else None


def _published(page: Page) -> Iterator[str | None]:
    yield text_at(page.article, "datePublished", "dateCreated", "uploadDate")
    yield from (page.meta(name) for name in _PUBLISHED_METAS)
    yield from (text_at(thing, "datePublished") for thing in page.things)
    for path in (".//*[@itemprop='datePublished']", ".//time[@pubdate]", ".//article//time", ".//time"):
        for element in page.tree.iterfind(path):
            yield element.get("datetime") or element.get("content") or text_of(element)


def _from_path(url: str) -> datetime | None:
    match = _IN_PATH.search(url)
    try:
        return datetime(*map(int, match.groups()), tzinfo=UTC) if match else None  # type: ignore[misc,arg-type]
    except ValueError:
        return None
