"""The authors that a page states in its structured data and its meta elements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from feedcrawl.domain.extraction.fields.persons import is_person, split_names
from feedcrawl.domain.extraction.fields.signing_words import is_label
from feedcrawl.domain.extraction.fields.sites import is_news
from feedcrawl.domain.extraction.structured import is_article, remarks_in, text_at, values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from feedcrawl.domain.extraction.page import Page
    from feedcrawl.domain.extraction.structured import Thing
    from feedcrawl.domain.json_values import Json

_METAS = (
    "author", "article:author", "article:author_name", "articleauthor", "sailthru.author", "dcsext.author",
    "dc.creator", "dcterms.creator", "byl", "parsely-author", "book:author", "cxenseparse:author",
    "citation_author", "citation_authors",
)  # fmt: skip
_CARD_LABELS = ("twitter:label1", "twitter:label2", "twitter:label3")  # "Written by", whose data is the author
_CREDITS = re.compile(r"\b\w+: .*\b\w+: ")  # "design: Ann Lee, code: Bo Ek"
_INVERTED = re.compile(r"^([^\W\d_][\w' -]+), ([^\W\d_][\w'. -]+)$")  # "Lee, Ann" in catalogues


def structured_authors(page: Page) -> Iterator[str]:
    """The authors in the page's structured data; organizations only on news pages that name no person."""
    remarks = remarks_in(page.things)
    if id(page.article) in remarks:
        return
    nodes = [*values(page.article.get("author")), *values(page.article.get("creator"))]
    others = [node for node in nodes if not _is_typed_organization(node)]
    described = _described(page.things)
    has_person = any(is_person(name) for node in others for name in split_names(_name(node, described) or ""))
    stated = nodes if is_news(page) and not has_person else others
    names = [name for node in stated if (name := _name(node, described))]
    if all(" " in name for name in names):
        yield from names
        return
    articles = [thing for thing in page.things if is_article(thing) and id(thing) not in remarks]
    in_full = _by_first_name(_name(node, described) for thing in articles for node in values(thing.get("author")))
    yield from (in_full.get(name, name) for name in names)


def _by_first_name(names: Iterable[str | None]) -> dict[str, str]:
    """The persons by first name, where one person alone has the first name: recipes state the family name elsewhere."""
    persons: dict[str, set[str]] = {}
    for name in {name for name in names if name and " " in name}:
        if is_person(name):
            persons.setdefault(name.partition(" ")[0], set()).add(name)
    return {first: found.pop() for first, found in persons.items() if len(found) == 1}


def _described(things: Iterable[Thing]) -> dict[str, Thing]:
    """The first thing with a name for each `@id`."""
    described: dict[str, Thing] = {}
    for thing in things:
        if thing.get("name") and isinstance(reference := thing.get("@id"), str):
            described.setdefault(reference, thing)
    return described


def _is_typed_organization(node: Json) -> bool:
    return isinstance(node, dict) and any(str(kind).endswith("Organization") for kind in values(node.get("@type")))


def _name(node: Json, described: dict[str, Thing]) -> str | None:
    """The name of an author, who may be described elsewhere in the page's structured data."""
    if isinstance(node, str):
        return node
    if not isinstance(node, dict):
        return None
    if not node.get("name") and isinstance(reference := node.get("@id"), str):
        node = described.get(reference, node)
    whole = " ".join(filter(None, (text_at(node, "givenName"), text_at(node, "familyName"))))
    return text_at(node, "name") or whole or None


def meta_authors(page: Page) -> Iterator[str]:
    """The authors in meta elements: those of the first element with any, or of a later one that adds names to them."""
    found: list[str] = []
    for name in _METAS:
        contents = [text for text in page.metas.get(name, ()) if any(split_names(text)) and not _CREDITS.search(text)]
        if name.startswith(("citation", "dc")):
            contents = [_INVERTED.sub(r"\2 \1", text) for text in contents]
        if not found or (len(contents) > len(found) and set(found) <= set(contents)):
            found = contents
    yield from found or _card(page)


def _card(page: Page) -> Iterator[str]:
    """The value beside "Written by" in the page's card for social networks."""
    for name in _CARD_LABELS:
        if is_label(page.meta(name) or ""):
            yield from page.metas.get(name.replace("label", "data"), ())
