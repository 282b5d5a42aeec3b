"""Unescaped markup inside an element, as HTML."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from lxml import etree

from feedcrawl.domain.feeds.formats.names import local_of, uri_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lxml.etree import _Element

_FOREIGN = frozenset({"http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML"})
_ATTRIBUTE_PREFIXES = {"http://www.w3.org/1999/xlink": "xlink:", "http://www.w3.org/XML/1998/namespace": "xml:"}
_MAX_ATTRIBUTES = 200
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)


def inner_html(element: _Element, *, escaped: bool = True) -> str:
    """The markup inside an element as HTML, without the `div` that wraps XHTML (RFC 4287 section 3.1.1.3).

    `escaped=False` is for elements inside text that is declared as HTML: the text among them is markup already.
    """
    if element.get("type") in {"xhtml", "html"} and len(element) == 1 and not _outside(element):
        element = element[0] if local_of(str(element[0].tag)) == "div" else element
    out: list[str] = []
    _write_children(element, out, _escape if escaped else str)
    return "".join(out).strip()


def attributes_of(element: _Element) -> list[tuple[str, str]]:
    """Names and values of the attributes; empty if there are over 200, which lxml lists in quadratic time."""
    if len(element.attrib) > _MAX_ATTRIBUTES:
        return []
    return [(str(name), str(value)) for name, value in element.attrib.items()]


def _escape(text: str) -> str:
    return html.escape(text, quote=False)


def _write_children(element: _Element, out: list[str], write: Callable[[str], str]) -> None:
    """Write the children as HTML (WHATWG section 13.3): names without prefix, foreign elements with their namespace."""
    out.append(write(element.text or ""))
    for child in element.iterchildren(etree.Element):
        name, uri = local_of(str(child.tag)), uri_of(str(child.tag))
        attributes = dict(_attributes(child))
        if uri in _FOREIGN and uri != uri_of(str(element.tag)):
            attributes["xmlns"] = uri
        out.append(f"<{name}")
        out += [f' {key}="{html.escape(value)}"' for key, value in attributes.items()]
        out.append(">")
        _write_children(child, out, write)
        if name not in _VOID:
            out.append(f"</{name}>")
        out.append(write(child.tail or ""))


def _attributes(element: _Element) -> Iterator[tuple[str, str]]:
    for key, value in attributes_of(element):
        prefix = _ATTRIBUTE_PREFIXES.get(uri_of(key), "")
        yield prefix + local_of(key), value


def _outside(element: _Element) -> bool:
    """True if the element has text before or after its only child."""
    return bool((element.text or "").strip() or (element[0].tail or "").strip())
