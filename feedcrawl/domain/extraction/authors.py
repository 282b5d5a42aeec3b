"""Who wrote an article: names that the publisher states, none invented."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any

from feedcrawl.domain.extraction.furniture import is_hidden
from feedcrawl.domain.extraction.leads import squeezed
from feedcrawl.domain.extraction.page import text_of
from feedcrawl.domain.extraction.sites import site_names
from feedcrawl.domain.extraction.structured import text_at, values
from feedcrawl.domain.extraction.weights import names
from feedcrawl.domain.text import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.page import Page
    from feedcrawl.domain.models import FeedContent

MAX_AUTHORS = 20
MAX_NAME_LENGTH = 80
MAX_NAME_WORDS = 6
MAX_BYLINE_LENGTH = 160

_METAS = (
    "author", "article:author", "article:author_name", "sailthru.author", "dcsext.author", "dc.creator",
    "dcterms.creator", "byl", "parsely-author", "book:author", "citation_author",
)  # fmt: skip
_BY = re.compile(
    r"^\W*(?:(?:written|reported|posted|published|story|words|text|article)\s+)?"
    r"(?:by|von|por|par|di|door|av|af|autor(?:in)?|author|text|autore)\b[:\s]+",
    re.IGNORECASE,
)
_SPLIT = re.compile(r"\s*(?:[;|•·]|,\s|\s/\s|\s(?:and|und|y|et|e|&|og|och|en|dan|with|mit)\s)\s*", re.IGNORECASE)
_ASIDE = re.compile(r"\s*\([^)]*\)|\s*\[[^\]]*\]|\s(?:기자|記者|记者)$")
_ADDRESS = re.compile(r"://|www\.|@\w")
_NO_NAME = re.compile(
    r"#|^\d|\d{3}|\d[:.]\d|^\W*$"
    r"|^(?:admin|administrator|editor|redaktion|staff|unknown|null|none|author|authors|contributor|guest|anonymous"
    r"|follow|share|edit|save|reply|login|profile|image|photo|about the author|view profile|see more|more|posted"
    r"|updated|published)$",
    re.IGNORECASE,
)
_BYLINE = re.compile(
    r"(?<![A-Za-z])(?:by-?line|authors?|autor(?:en|in|es)?|auteurs?|autore|author-?name|writer|journalist)(?![A-Za-z])"
    r"|[a-z]Author(?:Name|List)?(?![a-z])|author(?:Name|_name)|[a-z]Byline",
)
_ELSEWHERE = frozenset({"nav", "aside", "footer", "figure", "figcaption", "blockquote", "form"})
_ELSEWHERE_NAMES = re.compile(
    r"comment|related|recommend|teaser|sidebar|quote|promo|nav(?![a-z])|popular", re.IGNORECASE
)


def find_authors(page: Page, feed: FeedContent | None) -> tuple[str, ...]:
    """The authors' names, in their order: from structured data, meta elements, the feed, the byline.

    A publisher that names itself as the author has the last place: a person named anywhere is the better answer.
    """
    publisher = {squeezed(name) for name in site_names(page)}
    for source in (_structured(page), _metas(page), feed.authors if feed else (), _byline(page)):
        stated = _split(source)
        if not all(_is_publisher(name, publisher) for name in stated):
            return tuple(stated[:MAX_AUTHORS])
    return tuple(_split(_structured(page)))[:MAX_AUTHORS]


def split_names(text: str) -> Iterator[str]:
    """The single names in a byline: "By Ann Lee and Bo Ek" has two."""
    if _ADDRESS.search(text):
        return
    for part in _SPLIT.split(_BY.sub("", fold(text))):
        name = _ASIDE.sub("", _BY.sub("", part)).strip(" ,.;:|-–—")
        if 1 < len(name) <= MAX_NAME_LENGTH and len(name.split()) <= MAX_NAME_WORDS and not _NO_NAME.search(name):
            yield name


def _is_publisher(name: str, publisher: set[str]) -> bool:
    """Whether a name is the site's, or the beginning of it: "LBCI" is "LBCI Lebanon"."""
    key = squeezed(name)
    return key in publisher or (len(key) > 3 and any(known.startswith(key) for known in publisher))


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


def _byline(page: Page) -> list[str]:
    """The names in the first place that is marked as a byline, and in those beside it."""
    marked = [element for element in page.tree.iter() if _is_byline(element)]
    outer = {parent for element in marked for parent in element.iterancestors()}
    for element in sorted(marked, key=lambda element: element in outer):
        found = _names_in(element)
        if found:
            parent = element.getparent()
            beside = [other for other in marked if other.getparent() is parent and other.tag == element.tag]
            return [name for other in beside for name in _names_in(other)] if len(beside) < MAX_AUTHORS else found
    return []


def _is_byline(element: HtmlElement) -> bool:
    attributes = element.attrib
    if not attributes or not isinstance(element.tag, str) or element.tag in {"script", "style", "meta", "link", "body"}:
        return False
    marked = (
        "author" in attributes.get("rel", "").split()
        or "author" in attributes.get("itemprop", "").split()
        or _BYLINE.search(names(element)) is not None
    )
    return (
        marked
        and not is_hidden(element)
        and not any(
            is_hidden(parent)
            or parent.tag in _ELSEWHERE
            or (parent.tag != "body" and _ELSEWHERE_NAMES.search(names(parent)))
            for parent in element.iterancestors()
        )
    )


def _names_in(element: HtmlElement) -> list[str]:
    """The names in a byline: its links, which lead to the authors' pages, or else its text."""
    named = element.find(".//*[@itemprop='name']")
    linked = [text for link in element.iter("a") if (text := text_of(link)) and any(split_names(text))]
    whole = text_of(named if named is not None else element)
    # Links that make up the byline are its names; of links among other things the first is the author's.
    rest = len(squeezed(whole)) - sum(len(squeezed(text)) for text in linked)
    texts = linked if rest <= MAX_NAME_WORDS * len(linked) else linked[:1]
    texts = texts or ([whole] if len(whole) <= MAX_BYLINE_LENGTH else [])
    stated = "author" in f"{element.get('rel')} {element.get('itemprop')}"
    return [name for text in texts for name in split_names(text) if stated or name[:1].upper() == name[:1]]
