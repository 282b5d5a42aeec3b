"""feedcrawl as a library: reads a feed or a page, without a crawl, a server or a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.domain import extraction, feeds

if TYPE_CHECKING:
    from feedcrawl.domain.models import Extraction, ParsedFeed


def parse(body: bytes, url: str, *, content_type: str | None = None) -> ParsedFeed:
    """The feed in a document fetched from `url`: RSS, Atom, RDF, CDF or JSON Feed; malformed documents are repaired.

    Links are absolute; texts of entries are HTML as published, not sanitised. Only the charset of `content_type` is
    used. Raises NotAFeed (a ValueError) with the kind of document that was found instead.
    """
    return feeds.parse(body, url=url, content_type=content_type)


def extract(html: bytes | str, url: str) -> Extraction:
    """The article of a page fetched from `url`: text, sanitised HTML, title, authors, dates, image, canonical URL.

    Raises NoArticle with the reason if the page has no article: too short, a wall, an index, an error page.
    """
    return extraction.extract(html, url=url)
