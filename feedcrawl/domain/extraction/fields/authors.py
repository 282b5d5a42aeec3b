"""Who wrote an article: names that the publisher states, none invented."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from feedcrawl.domain.extraction.bodies.leads import squeezed
from feedcrawl.domain.extraction.fields.bylines import MAX_AUTHORS, late_byline, marked_byline, plain_byline
from feedcrawl.domain.extraction.fields.persons import is_person, is_publisher, is_user_name, split_names
from feedcrawl.domain.extraction.fields.sites import is_news, site_names
from feedcrawl.domain.extraction.structured import text_at, values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from feedcrawl.domain.extraction.page import Page
    from feedcrawl.domain.json_values import Json
    from feedcrawl.domain.models import FeedContent

_METAS = (
    "author", "article:author", "article:author_name", "articleauthor", "sailthru.author", "dcsext.author",
    "dc.creator", "dcterms.creator", "byl", "parsely-author", "book:author", "cxenseparse:author",
    "citation_author", "citation_authors",
)  # fmt: skip
_INVERTED = re.compile(r"^([^\W\d_][\w' -]+), ([^\W\d_][\w'. -]+)$")  # "Lee, Ann" in catalogues


def find_authors(page: Page, feed: FeedContent | None) -> tuple[str, ...]:
    """The authors' names, in their order: from structured data, meta elements, the feed, the byline.

    A name that readers do not see counts for less: it is dropped where it is a user's of the publishing system, and
    gives way to a signature under the headline. A publisher that names itself as the author has the last place: a
    person named anywhere is the better answer.
    """
    publisher = {squeezed(name) for name in site_names(page)}
    for _, source in author_sources(page, feed):
        stated = [name for name in _split(source) if not is_user_name(name) or _is_shown(name, page)]
        others = [name for name in stated if not is_publisher(name, publisher)]
        if others and not is_news(page) and not any(_is_shown(name, page) for name in others):
            others = plain_byline(page) or others
        if others:
            return tuple((others if any(map(is_person, others)) else stated)[:MAX_AUTHORS])
    return _signing_publisher(page, publisher)


def author_sources(page: Page, feed: FeedContent | None) -> Iterator[tuple[str, Iterable[str]]]:
    """The sources of authors by name, the most trusted first, each with what it says."""
    yield "structured data", _structured(page)
    yield "meta elements", _metas(page)
    yield "feed", feed.authors if feed else ()
    yield "signature under the headline", plain_byline(page)
    yield "element named byline", marked_byline(page)
    yield "signature elsewhere", late_byline(page)


def _signing_publisher(page: Page, publisher: set[str]) -> tuple[str, ...]:
    """Whoever is called like the site: a person with a site of his own, an organization on a news page or a byline."""
    persons = [name for name in _split(_metas(page)) if is_person(name)]
    structured = [
        name
        for name in _split(_structured(page))
        if is_person(name) or _is_shown(name, page) or (is_news(page) and is_publisher(name, publisher))
    ]
    return tuple(structured or persons or _split(marked_byline(page)))[:MAX_AUTHORS]


def _is_shown(name: str, page: Page) -> bool:
    """Whether a short line of the page has a name in it."""
    return name.casefold() in page.short_lines


def _split(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(chain.from_iterable(map(split_names, texts))))


def _structured(page: Page) -> Iterator[str]:
    for node in chain(values(page.article.get("author")), values(page.article.get("creator"))):
        if text := _name(node, page):
            yield text


def _name(node: Json, page: Page) -> str | None:
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
            is_inverted = name.startswith(("citation", "dc"))
            yield from (_INVERTED.sub(r"\2 \1", text) if is_inverted else text for text in contents)
            return
