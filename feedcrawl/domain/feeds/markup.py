"""Text and HTML inside feeds: what an element says, in which form, with absolute links."""

from __future__ import annotations

import base64
import binascii
import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lxml import etree

from feedcrawl.domain.feeds.names import ATOM_SPACES, space_of
from feedcrawl.domain.feeds.node import join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.etree import _Element

    from feedcrawl.domain.feeds.node import Node

_FOREIGN = frozenset({"http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML"})
_ATTRIBUTE_PREFIXES = {"http://www.w3.org/1999/xlink": "xlink", "http://www.w3.org/XML/1998/namespace": "xml"}
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
_ANY_TAG = re.compile(r"<!--.*?-->|</?[a-zA-Z][^<>]*>", re.DOTALL)
# In vocabularies that do not say whether a title is HTML, only what can hardly be meant literally counts as a tag.
_LIKELY_TAG = re.compile(
    r"</?(?:a|abbr|b|big|blockquote|br|cite|code|del|div|em|font|h[1-6]|i|img|ins|nobr|p|q|s|small|span|strike|strong|sub"
    r"|sup|tt|u|wbr)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_LINK_ATTRIBUTE = re.compile(
    r"(<[a-z][a-z0-9]*\b[^<>]*?\s(?:href|src|action|cite|poster|longdesc|background|data)\s*=\s*)"
    r"(?:\"([^\"<>]*)\"|'([^'<>]*)'|([^\s\"'<>]+))",
    re.IGNORECASE,
)
_HAS_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|#", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Text:
    """A text construct; `kind` is "text", "html", or "guess" where the vocabulary does not say."""

    value: str
    kind: str


def read(node: Node) -> Text:
    """The text construct that an element is (RFC 4287 section 3.1, Atom 0.3 section 3.1, RSS)."""
    kind = _kind(node)
    if len(node.element):
        return Text(_inner(node), "html")
    value = (node.element.text or "").strip()
    if kind == "base64":
        return _decoded(value)
    return Text(value, kind)


def plain(text: Text) -> str:
    """The text as one reads it, without markup; one that shows tags stays escaped, so that they do not become tags."""
    if text.kind == "text":
        return " ".join(text.value.split())
    tags = _ANY_TAG if text.kind == "html" else _LIKELY_TAG
    shown = html.unescape(tags.sub("", text.value))
    return " ".join((html.escape(shown, quote=False) if _ANY_TAG.search(shown) else shown).split())


def absolute(text: Text, base: str) -> str:
    """The HTML with its relative links made absolute; plain text as it is."""
    if text.kind == "text" or "=" not in text.value or "<" not in text.value:
        return text.value
    return _LINK_ATTRIBUTE.sub(lambda match: _absolute_attribute(match, base), text.value)


def _absolute_attribute(match: re.Match[str], base: str) -> str:
    reference = next(group for group in match.groups()[1:] if group is not None)
    if not reference.strip() or _HAS_SCHEME.match(reference.strip()):
        return match[0]
    quote = "'" if match[3] is not None else '"'
    return f"{match[1]}{quote}{join(base, html.unescape(reference)).replace('&', '&amp;')}{quote}"


def _kind(node: Node) -> str:
    """How the text inside an element is written: "text", "html", "base64" or "guess"."""
    declared = (node.element.get("type") or "").strip().lower()
    if (node.element.get("mode") or "").lower() == "base64":
        return "base64"
    atom = space_of(str(node.element.tag)) in ATOM_SPACES
    if declared in {"text", "text/plain"} or (atom and not declared):
        return "text"
    if declared.endswith("html") or declared.endswith("+xml") or declared.endswith("/xml"):
        return "html"
    if atom and "/" in declared and not declared.startswith("text/"):
        return "base64"
    return "guess"


def _decoded(value: str) -> Text:
    """What base64 hides, if it is text (RFC 4287 section 4.1.3.3)."""
    try:
        return Text(base64.b64decode(value, validate=False).decode("utf-8").strip(), "html")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return Text(value, "text")


def _inner(node: Node) -> str:
    """The markup inside an element as HTML; the `div` that wraps XHTML is no content (RFC 4287 section 3.1.1.3)."""
    element = node.element
    if element.get("type") == "xhtml" and len(element) == 1 and not _outside(element):
        element = element[0] if etree.QName(element[0]).localname == "div" else element
    out: list[str] = []
    _write_children(element, out)
    return "".join(out).strip()


def _write_children(element: _Element, out: list[str]) -> None:
    """HTML as WHATWG section 13.3 writes it: names without prefix, foreign elements with their namespace."""
    out.append(html.escape(element.text or "", quote=False))
    for child in element.iterchildren(etree.Element):
        name = etree.QName(child)
        attributes = dict(_attributes(child))
        if name.namespace in _FOREIGN and name.namespace != etree.QName(element).namespace:
            attributes["xmlns"] = name.namespace
        out.append(f"<{name.localname}")
        out += [f' {key}="{html.escape(value)}"' for key, value in attributes.items()]
        out.append(">")
        if name.localname not in _VOID:
            _write_children(child, out)
            out.append(f"</{name.localname}>")
        out.append(html.escape(child.tail or "", quote=False))


def _attributes(element: _Element) -> Iterator[tuple[str, str]]:
    for key, value in element.attrib.items():
        name = etree.QName(key)
        prefix = f"{_ATTRIBUTE_PREFIXES[name.namespace]}:" if name.namespace in _ATTRIBUTE_PREFIXES else ""
        yield prefix + name.localname, str(value)


def _outside(element: _Element) -> bool:
    """Whether there is text beside the only child."""
    return bool((element.text or "").strip() or (element[0].tail or "").strip())
