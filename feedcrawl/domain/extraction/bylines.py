"""Bylines: the authors as readers see them, in elements that are named for it or in the lines under the headline."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from feedcrawl.domain.extraction.furniture import is_hidden
from feedcrawl.domain.extraction.leads import squeezed
from feedcrawl.domain.extraction.page import text_of
from feedcrawl.domain.extraction.persons import MAX_NAME_WORDS, is_person, split_names
from feedcrawl.domain.extraction.weights import names
from feedcrawl.domain.text import canonical_text

if TYPE_CHECKING:
    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.page import Page

MAX_AUTHORS = 20
MAX_BYLINE_LENGTH = 160
MAX_LINES = 8  # under the headline; below them other articles have their bylines
_BYLINE = re.compile(
    r"(?<![A-Za-z])(?:by-?line|authors?|autor(?:en|in|es)?|auteurs?|autore|author-?name|writer|journalist)(?![A-Za-z])"
    r"|[a-z]Author(?:Name|List)?(?![a-z])|author(?:Name|_name)|[a-z]Byline",
)
_ELSEWHERE = frozenset({"nav", "aside", "footer", "figure", "figcaption", "blockquote", "form"})
_ELSEWHERE_NAMES = re.compile(
    r"comment|related|recommend|teaser|sidebar|quote|promo|nav(?![a-z])|popular", re.IGNORECASE
)
_SIGNED = re.compile(r"^\W*(?:(?:written|reported|posted|story|words)\s+)?(?:by|von|por|par|di|door|av|af)[:\s]+", re.I)
_SIGNATURE_ENDS = re.compile(r"\s*[|•·@(]|\s\d|\s(?:at|on|am|in)\s")
_AUTHOR_PAGE = re.compile(
    r"/(?:authors?|autor(?:en|es|a)?|auteurs?|autori|profiles?|profil|people|persons?|staff|reporters?|journalists?"
    r"|contributors?|columnists?|redaktion|by)/[^/?#]+/?(?:[?#]|$)|/(?:author|autor)[-_=]",
    re.IGNORECASE,
)


def marked_byline(page: Page) -> list[str]:
    """The names in the first place that is marked as a byline, and in those beside it."""
    marked = [element for element in page.tree.iter() if _is_byline(element)]
    outer = {parent for element in marked for parent in element.iterancestors()}
    for element in sorted(marked, key=lambda element: element in outer):
        found = _names_in(element)
        if found:
            beside = _beside(element, marked)
            return [name for other in beside for name in _names_in(other)] if len(beside) < MAX_AUTHORS else found
    return []


def _beside(element: HtmlElement, marked: list[HtmlElement]) -> list[HtmlElement]:
    """The marked elements of the same list, itself included: those with a link if it has one."""
    parent, is_linked = element.getparent(), bool(_linked_names(element))
    alike = (other for other in marked if other.getparent() is parent and other.tag == element.tag)
    return [other for other in alike if not is_linked or _linked_names(other)]


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
    linked = _linked_names(element)
    whole = text_of(named if named is not None else element)
    # Links that make up the byline are its names; of links among other things the first is the author's.
    rest = len(squeezed(whole)) - sum(len(squeezed(text)) for text in linked)
    texts = linked if rest <= MAX_NAME_WORDS * len(linked) else linked[:1]
    texts = texts or ([whole] if len(whole) <= MAX_BYLINE_LENGTH else [])
    stated = "author" in f"{element.get('rel')} {element.get('itemprop')}"
    return [name for text in texts for name in split_names(text) if stated or name[:1].upper() == name[:1]]


def _linked_names(element: HtmlElement) -> list[str]:
    return [text for link in element.iter("a") if any(split_names(text := text_of(link)))]


def plain_byline(page: Page) -> list[str]:
    """The names in the first lines under the headline: a link to an author's page, or a line "By Ann Lee"."""
    lines = _lines_under_headline(page)
    links = (link for link in page.tree.iter("a") if lines and _AUTHOR_PAGE.search(link.get("href") or ""))
    for name in filter(is_person, map(text_of, links)):
        if any(name in line for line in lines):
            return [name]
    signed = (_signatories(line) for line in lines if _SIGNED.match(line))
    return next(filter(None, signed), [])


def _lines_under_headline(page: Page) -> list[str]:
    headings = [text for h1 in page.tree.iter("h1") if (text := text_of(h1))]
    lines = canonical_text(page.tree).splitlines() if headings else []
    at = next((lines.index(text) + 1 for text in headings if text in lines), len(lines))
    return [line.removeprefix("- ") for line in lines[at : at + MAX_LINES] if len(line) <= MAX_BYLINE_LENGTH]


def _signatories(line: str) -> list[str]:
    return [name for name in split_names(_SIGNATURE_ENDS.split(_SIGNED.sub("", line))[0]) if is_person(name)]
