"""The part of a page that a fragment names: one notice of a page of notices, as a page of its own."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from lxml import etree

from feedcrawl.domain.extraction.page import MIN_HTML_LENGTH
from feedcrawl.domain.markup import parse_html

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.html import HtmlElement

MIN_PART: Final = 40
"""Characters from which an element with the name is itself the part; with fewer, it stands at the head of the part."""
NO_PAGE: Final = "<html><body><p></p></body></html>".ljust(MIN_HTML_LENGTH)
"""A page without content, for a part that exists in scripts or in the feed only (`#!/route`)."""

_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_AT_HEAD: Final = _HEADINGS | {"a", "dt", "legend", "summary", "caption", "span", "b", "strong"}


def cut_part(html: str, fragment: str) -> str | None:
    """The part of a page that a URL's fragment names (WHATWG HTML section 7.4.6.4), as HTML; None if there is none.

    A heading, an anchor or an empty element stands for the content after it, up to the next element of its kind.
    """
    tree = parse_html(html)
    named = None if tree is None else _named(tree, fragment)
    if tree is None or named is None:
        return None
    inside = "".join(etree.tostring(each, encoding="unicode", method="html") for each in _elements(named))
    base = next((each.get("href") for each in tree.iter("base") if each.get("href")), None)
    head = f'<base href="{escape(base)}">' if base else ""
    language = f' lang="{escape(tree.get("lang", ""))}"' if tree.get("lang") else ""
    return f"<html{language}><head>{head}</head><body><article>{inside}</article></body></html>".ljust(MIN_HTML_LENGTH)


def _named(tree: HtmlElement, fragment: str) -> HtmlElement | None:
    """The element with the fragment as its id, else the anchor of that name; the fragment also without its escapes."""
    names = [name for name in (fragment, unquote(fragment)) if name]
    found = (each for name in names for key in ("id", "name") for each in tree.iter() if each.get(key) == name)
    return next((each for each in found if each.get("id") in names or each.tag == "a"), None)


def _elements(named: HtmlElement) -> Iterator[HtmlElement]:
    start, length = named, _length(named)
    if start.tag not in _AT_HEAD and length >= MIN_PART:
        yield start
        return
    while _is_wrapped(start, length):
        start = start.getparent()
    yield start
    for sibling in start.itersiblings():
        if _begins_another(start, sibling):
            return
        yield sibling


def _is_wrapped(element: HtmlElement, length: int) -> bool:
    """True if the parent is a heading, or has no text besides that of the element."""
    parent = element.getparent()
    if parent is None or parent.tag in ("body", "html"):
        return False
    return parent.tag in _AT_HEAD or (length > 0 and _length(parent) == length)


def _length(element: HtmlElement) -> int:
    return len(element.text_content().strip())


def _begins_another(start: HtmlElement, sibling: HtmlElement) -> bool:
    if start.tag in _HEADINGS:
        return sibling.tag in _HEADINGS and sibling.tag <= start.tag
    is_next = sibling.tag == start.tag and (start.tag in _AT_HEAD or bool(sibling.get("id")))
    anchors = any(each.get("name") or each.get("id") for each in sibling.iter("a"))
    return is_next or sibling.tag in _HEADINGS or anchors
