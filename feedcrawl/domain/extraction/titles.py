"""The title of an article, without the name of its site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from feedcrawl.domain.extraction.page import text_of
from feedcrawl.domain.extraction.structured import text_at, values
from feedcrawl.domain.text import fold

if TYPE_CHECKING:
    from feedcrawl.domain.extraction.page import Page
    from feedcrawl.domain.models import FeedContent

MAX_LENGTH = 500
_SEPARATOR = re.compile(r"\s+[|\-–—·•»›:/]+\s+|\s*[|_»]\s*|\s+::\s+")


def find_title(page: Page, feed: FeedContent | None) -> str | None:
    """The headline: what structured data, OpenGraph, the feed, the page's h1 and its title element agree upon."""
    sites = [_key(name) for name in site_names(page)]
    ranked = [without_site(text, sites) for text in _candidates(page, feed)]
    best = next((text for text in ranked if text), None)
    return best[:MAX_LENGTH] if best else None


def site_names(page: Page) -> Iterator[str]:
    """The names that the site goes by: as it says itself, and its host."""
    for name in (page.meta("og:site_name", "application-name", "apple-mobile-web-app-title"), _publisher(page)):
        if name:
            yield name
    host = (urlsplit(page.url).hostname or "").removeprefix("www.")
    yield host
    yield from host.split(".")[:-1]


def without_site(text: str, sites: list[str]) -> str:
    """A title without leading and trailing parts that are the site's name."""
    while True:
        cuts = list(_SEPARATOR.finditer(text))
        if not cuts:
            return text
        first, last = cuts[0], cuts[-1]
        if _key(text[last.end() :]) in sites:
            text = text[: last.start()]
        elif _key(text[: first.start()]) in sites:
            text = text[first.end() :]
        else:
            return text


def _candidates(page: Page, feed: FeedContent | None) -> Iterator[str]:
    yield text_at(page.article, "headline") or ""
    yield page.meta("og:title") or ""
    yield (feed and feed.title) or ""
    yield page.meta("twitter:title", "dc.title", "dcterms.title", "title") or ""
    yield from (text_of(h1) for h1 in page.tree.iter("h1"))
    yield title_element(page)


def title_element(page: Page) -> str:
    """The text of the title element (that of the head: drawings have titles too)."""
    title = page.tree.find(".//head/title")
    if title is None:
        title = page.tree.find(".//title")
    return fold(title.text or "") if title is not None else ""


def _publisher(page: Page) -> str | None:
    return next((name for node in values(page.article.get("publisher")) if (name := _name(node))), None)


def _name(node: object) -> str | None:
    return text_at(node, "name") if isinstance(node, dict) else None


def _key(text: str) -> str:
    return re.sub(r"\W", "", text).lower()
