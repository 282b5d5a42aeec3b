"""The article on a page: a ladder of extractors and a scorer that picks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.domain.errors import NoArticle
from feedcrawl.domain.extraction.authors import find_authors
from feedcrawl.domain.extraction.choice import choose
from feedcrawl.domain.extraction.fields import find_canonical, find_image, find_language, find_site_name, find_tags
from feedcrawl.domain.extraction.moments import find_modified, find_published
from feedcrawl.domain.extraction.page import read_page
from feedcrawl.domain.extraction.titles import find_title
from feedcrawl.domain.models import Extraction
from feedcrawl.domain.sanitize import clean_tree

if TYPE_CHECKING:
    from feedcrawl.domain.models import FeedContent, SourceRules

__all__ = ["extract"]

MIN_ABSTRACT_LENGTH = 40


def extract(
    html: bytes | str, *, url: str, rules: SourceRules | None = None, feed: FeedContent | None = None
) -> Extraction:
    """The article of a page fetched from `url`, or NoArticle with the code of one of our failures and its cause."""
    page = read_page(html, url)
    chosen = choose(page, feed)
    best = chosen.winner if chosen else None
    if best is None:
        raise NoArticle("FAIL_EMPTY", "no rung found text")
    return Extraction(
        title=find_title(page, feed),
        text=best.text,
        html=clean_tree(best.body, base_url=page.base),
        abstract=next((line for line in best.text.splitlines() if len(line) > MIN_ABSTRACT_LENGTH), None),
        image=find_image(page, best.body, feed),
        authors=find_authors(page, feed),
        published=find_published(page, feed),
        modified=find_modified(page, feed),
        language=find_language(page, feed),
        site_name=find_site_name(page),
        canonical_url=find_canonical(page),
        extractor=best.rung,
        raw_len=page.raw_len,
        text_len=len(best.text),
        tags=find_tags(page, feed),
    )
