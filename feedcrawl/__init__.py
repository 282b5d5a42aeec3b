"""A feed-driven crawler on Scrapy: polls feeds, fetches the articles they name, keeps each one once.

`parse` reads a feed and `extract` an article, without a crawl, a server or a network (docs/embedding.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from feedcrawl.domain.models import Extraction, ParsedFeed

__version__ = "0.1.0"
__all__ = ["extract", "parse"]


def parse(body: bytes, url: str, *, content_type: str | None = None) -> ParsedFeed:
    """The feed in the bytes of a document fetched from `url`: any RSS, Atom, RDF or JSON Feed, mended where malformed.

    Links are absolute; texts of entries are HTML as published, not sanitised. Of `content_type` only the charset
    counts. Raises NotAFeed (a ValueError) with the kind of document that was found instead.
    """
    from feedcrawl.domain.feeds import parse as parse_feed  # noqa: PLC0415 - `import feedcrawl` stays cheap

    return parse_feed(body, url=url, content_type=content_type)


def extract(html: bytes | str, url: str) -> Extraction:
    """The article of a page fetched from `url`: text, sanitised HTML, title, authors, dates, image, canonical URL.

    Raises NoArticle with the reason where the page has none: too short, a wall, an index, an error page.
    """
    from feedcrawl.domain.extraction import extract as extract_article  # noqa: PLC0415

    return extract_article(html, url=url)
