"""Who wrote an article: names that the publisher states, none invented."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from feedcrawl.domain.extraction.bodies.leads import squeezed
from feedcrawl.domain.extraction.fields.bylines import MAX_AUTHORS, marked_byline, plain_byline
from feedcrawl.domain.extraction.fields.persons import is_person, is_publisher, split_names
from feedcrawl.domain.extraction.fields.sites import site_names
from feedcrawl.domain.extraction.structured import text_at, values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from feedcrawl.domain.extraction.page import Page
    from feedcrawl.domain.models import FeedContent

_METAS = (
    "author", "article:author", "article:author_name", "articleauthor", "sailthru.author", "dcsext.author",
    "dc.creator", "dcterms.creator", "byl", "parsely-author", "book:author", "citation_author",
)  # fmt: skip


def find_authors(page: Page, feed: FeedContent | None) -> tuple[str, ...]:
    """The authors' names, in their order: from structured data, meta elements, the feed, the byline.

    A publisher that names itself as the author has the last place: a person named anywhere is the better answer.
    """
    publisher = {squeezed(name) for name in site_names(page)}
    for source in _sources(page, feed):
        stated = _split(source)
        others = [name for name in stated if not is_publisher(name, publisher)]
        if others:
            return tuple((others if any(map(is_person, others)) else stated)[:MAX_AUTHORS])
    return tuple(_split(_structured(page)) or _split(marked_byline(page)))[:MAX_AUTHORS]


def _sources(page: Page, feed: FeedContent | None) -> Iterator[Iterable[str]]:
    yield _structured(page)
    yield _metas(page)
    yield feed.authors if feed else ()
    yield plain_byline(page)
    yield marked_byline(page)


def _split(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(chain.from_iterable(map(split_names, texts))))


def _structured(page: Page) -> Iterator[str]:
    for node in chain(values(page.article.get("author")), values(page.article.get("creator"))):
        if text := _name(node, page):
            yield text


def _name(node: Any, page: Page) -> str | None:
    if isinstance(node, str):
        return node
    if not isinstance(node, dict):
        return None
    if not node.get("name") and "@id" in node:
        node = next((thing for thing in page.things if thing.get("@id") == node["@id"] and thing.get("name")), node)
    whole = " ".join(filter(None, (text_at(node, "givenName"), text_at(node, "familyName"))))
    return text_at(node, "name") or whole or None


def _metas(page: Page) -> Iterator[str]:
    for name in _METAS:
        contents = [text for text in page.metas.get(name, ()) if any(split_names(text))]
        if contents:
            yield from contents
            return
