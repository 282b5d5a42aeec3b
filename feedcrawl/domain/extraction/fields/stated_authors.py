"""The authors that a page states in its structured data and its meta elements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from feedcrawl.domain.extraction.fields.persons import is_person, split_names
from feedcrawl.domain.extraction.fields.signing_words import is_label
from feedcrawl.domain.extraction.fields.sites import is_news
from feedcrawl.domain.extraction.structured import is_article, remarks_in, text_at, values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from feedcrawl.domain.extraction.page import Page
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
    if id(page.article) in remarks_in(page.things):
        return
    nodes = [*values(page.article.get("author")), *values(page.article.get("creator"))]
    others = [node for node in nodes if not _is_typed_organization(node)]
    has_person = any(is_person(name) for node in others for name in split_names(_name(node, page) or ""))
    for node in nodes if is_news(page) and not has_person else others:
        if text := _name(node, page):
            yield _in_full(text, page)


def _in_full(name: str, page: Page) -> str:
    """A first name with the family name that the page states beside it, as recipes do; else the name."""
    if " " in name:
        return name
    remarks = remarks_in(page.things)
    things = (thing for thing in page.things if is_article(thing) and id(thing) not in remarks)
    others = {whole for thing in things for node in values(thing.get("author")) if (whole := _name(node, page))}
    persons = [whole for whole in others if is_person(whole) and whole.startswith(f"{name} ")]
    return persons[0] if len(persons) == 1 else name


def _is_typed_organization(node: Json) -> bool:
    return isinstance(node, dict) and any(str(kind).endswith("Organization") for kind in values(node.get("@type")))


def _name(node: Json, page: Page) -> str | None:
    if isinstance(node, str):
        return node
    if not isinstance(node, dict):
        return None
    if not node.get("name") and "@id" in node:
        node = next((thing for thing in page.things if thing.get("@id") == node["@id"] and thing.get("name")), node)
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
