"""Who wrote an article: names that the publisher states, none invented."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from feedcrawl.domain.extraction.page import text_of
from feedcrawl.domain.extraction.structured import values
from feedcrawl.domain.text import fold

if TYPE_CHECKING:
    from feedcrawl.domain.extraction.page import Page
    from feedcrawl.domain.models import FeedContent

MAX_AUTHORS = 20
MAX_NAME_LENGTH = 80
_METAS = ("author", "article:author", "parsely-author", "sailthru.author", "dc.creator", "dcterms.creator", "byl")
_BY = re.compile(
    r"^\s*(?:(?:written |reported |posted )?by|von|por|par|di|door|av|autor(?:in)?|author)\b[:\s]+", re.IGNORECASE
)
_SPLIT = re.compile(r"\s*(?:[;|]|,\s|\s(?:and|und|y|et|e|&|og|och|en|dan)\s)\s*", re.IGNORECASE)
_NO_NAME = re.compile(
    r"https?:|www\.|@|\d{3}|^\W*$|^(?:admin|administrator|editor|redaktion|staff|unknown|null|none)$", re.IGNORECASE
)


def find_authors(page: Page, feed: FeedContent | None) -> tuple[str, ...]:
    """The authors' names, in their order: from structured data, meta elements, the feed, the byline."""
    for source in (_structured(page), _metas(page), feed.authors if feed else (), _byline(page)):
        names = list(dict.fromkeys(name for text in source for name in split_names(text)))
        if names:
            return tuple(names[:MAX_AUTHORS])
    return ()


def split_names(text: str) -> Iterator[str]:
    """The single names in a byline: "By Ann Lee and Bo Ek" has two."""
    for part in _SPLIT.split(_BY.sub("", fold(text))):
        name = _BY.sub("", part).strip(" ,.;:|-–")
        if name and len(name) <= MAX_NAME_LENGTH and not _NO_NAME.search(name):
            yield name


def _structured(page: Page) -> Iterator[str]:
    for name in ("author", "creator"):
        yield from (text for node in values(page.article.get(name)) if (text := _name(node, page)))


def _name(node: Any, page: Page) -> str | None:
    if isinstance(node, str):
        return node
    if not isinstance(node, dict):
        return None
    name = node.get("name")
    if name is None and "@id" in node:
        name = next(
            (thing.get("name") for thing in page.things if thing.get("@id") == node["@id"] and thing.get("name")), None
        )
    return next((value for value in values(name) if isinstance(value, str)), None)


def _metas(page: Page) -> Iterator[str]:
    for name in _METAS:
        contents = page.metas.get(name, ())
        if contents:
            yield from contents
            return


def _byline(page: Page) -> Iterator[str]:
    for path in (".//*[@itemprop='author']//*[@itemprop='name']", ".//*[@itemprop='author']", ".//a[@rel='author']"):
        found = [text_of(element) for element in page.tree.iterfind(path)]
        if any(found):
            yield from found
            return
