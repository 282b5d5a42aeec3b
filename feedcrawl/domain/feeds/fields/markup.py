"""Text and HTML inside feeds: the text of an element, the way it is written, and absolute links."""

from __future__ import annotations

import base64
import binascii
import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from feedcrawl.domain.feeds.formats.inner import inner_html
from feedcrawl.domain.feeds.formats.names import space_of
from feedcrawl.domain.feeds.formats.node import join
from feedcrawl.domain.feeds.formats.vocabulary import ATOM_SPACES
from feedcrawl.domain.text import fold

if TYPE_CHECKING:
    from feedcrawl.domain.feeds.formats.node import Node

_LONGEST_PLAIN = 10_000  # characters, markup included: far longer than any title, and short enough for every pattern
_ANY_TAG = re.compile(r"<!--.*?-->|</?[a-zA-Z](?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+>|</?[a-zA-Z][^<>]*+>", re.DOTALL)
# Tags that count in vocabularies that do not state whether a title is HTML: only names that are hardly meant literally.
_LIKELY_TAG = re.compile(
    r"</?(?:a|abbr|b|big|blockquote|br|cite|code|del|div|em|font|h[1-6]|i|img|ins|nobr|p|q|s|small|span|strike|strong|sub"
    r"|sup|tt|u|wbr)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_NAME = re.compile(r"</?([a-z][a-z0-9]*)", re.IGNORECASE)
_UNPAIRED = frozenset({"br", "img", "wbr"})
_BREAK = re.compile(r"</?(?:blockquote|br|d[dlt]|div|h[1-6]|hr|li|[ou]l|p|table|t[dhr])\b", re.IGNORECASE)
_MARKUP_TAG = re.compile(rf"{_LIKELY_TAG.pattern}|</?(?:blink|marquee)>", re.IGNORECASE)
_TAG = re.compile(r"<[a-z][^<>]*>", re.IGNORECASE)
_LINK_ATTRIBUTE = re.compile(
    r"(\s(?:href|src|action|cite|poster|longdesc|background|data)\s*=\s*)(?:\"([^\"<>]*)\"|'([^'<>]*)'|([^\s\"'<>]+))",
    re.IGNORECASE,
)
_IMAGE = re.compile(r"<img\s[^<>]*>", re.IGNORECASE)
_SOURCE = re.compile(r"\ssrc\s*=\s*[\"']([^\"'<>]+)[\"']", re.IGNORECASE)
_PIXEL = re.compile(r"\s(?:width|height)\s*=\s*[\"']?[01](?:px)?[\"'\s/>]", re.IGNORECASE)
_HAS_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|#", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Text:
    """A text construct; `kind` is "text", "html", or "guess" if the vocabulary does not state the kind."""

    value: str
    kind: str


def read(node: Node) -> Text:
    """The text construct of an element (RFC 4287 section 3.1, Atom 0.3 section 3.1, RSS)."""
    kind = _kind(node)
    if len(node.element):
        return Text(inner_html(node.element, escaped=kind != "html"), "html")
    value = (node.element.text or "").strip()
    if kind == "base64":
        return _decoded(value)
    return Text(html.escape(value, quote=False), "html") if kind == "xml" else Text(value, kind)


def plain(text: Text) -> str:
    """The text for a reader: one line, without markup and without invisible or direction-changing characters.

    `<` and `&` in it are these characters, with one exception: if text that is not declared as plain shows tags of
    markup (`<p>`, `<b>`, `<blink>`), they stay escaped (docs/data-format.md, Titles).
    """
    value = text.value[:_LONGEST_PLAIN]
    if text.kind == "text":
        return fold(value)
    shown = html.unescape(_without_tags(value) if text.kind == "html" else _without_likely_tags(value))
    return fold(html.escape(shown, quote=False) if _MARKUP_TAG.search(shown) else shown)


def label(text: str) -> str:
    """A name or a term for a reader, without markup. Publishers escape these twice, and make links of authors' names.

    Only references with a semicolon are replaced: `news&notes` is a term.
    """
    if "&" not in text and "<" not in text:
        return text
    shown = _without_likely_tags(text[:_LONGEST_PLAIN])
    return fold(_REFERENCE.sub(lambda reference: html.unescape(reference[0]), shown))


def _without_tags(value: str) -> str:
    return _ANY_TAG.sub(_gap, value)


def _without_likely_tags(value: str) -> str:
    """The text without the tags that are markup; tags that the text talks about are written as references.

    A tag is markup if it has a partner or attributes, or needs no partner.
    """
    if "<" not in value:
        return value
    found = {(tag[0][1] == "/", _name(tag)) for tag in _LIKELY_TAG.finditer(value)}

    def replaced(tag: re.Match[str]) -> str:
        name = _name(tag)
        paired = {(False, name), (True, name)} <= found
        begins = tag.start() == 0 and name == "p"  # the end tag of a paragraph may be left out
        is_markup = paired or begins or name in _UNPAIRED or "=" in tag[0]
        return _gap(tag) if is_markup else html.escape(tag[0], quote=False)

    return _LIKELY_TAG.sub(replaced, value)


def _gap(tag: re.Match[str]) -> str:
    """What is left of a tag: a blank where words on both sides stand on lines of their own."""
    return " " if _BREAK.match(tag[0]) else ""


def _name(tag: re.Match[str]) -> str:
    found = _NAME.match(tag[0])
    return found[1].lower() if found else ""


def absolute(text: Text, base: str) -> str:
    """The HTML with relative links made absolute; plain text unchanged."""
    if text.kind == "text" or "=" not in text.value or "<" not in text.value:
        return text.value
    return _TAG.sub(lambda tag: _LINK_ATTRIBUTE.sub(lambda match: _absolute_attribute(match, base), tag[0]), text.value)


def first_image(markup: str | None) -> str | None:
    """The source of the first image in HTML; None if there is none. Images of 0 or 1 pixel (trackers) are skipped."""
    for image in _IMAGE.finditer(markup or ""):
        source = _SOURCE.search(image[0])
        if source and not _PIXEL.search(image[0]):
            return html.unescape(source[1])
    return None


def _absolute_attribute(match: re.Match[str], base: str) -> str:
    reference = next(group for group in match.groups()[1:] if group is not None)
    if not reference.strip() or _HAS_SCHEME.match(reference.strip()):
        return match[0]
    quote = "'" if match[3] is not None else '"'
    return f"{match[1]}{quote}{join(base, html.unescape(reference)).replace('&', '&amp;')}{quote}"


def _kind(node: Node) -> str:
    """The notation of the text inside an element: "text", "html", "xml", "base64" or "guess"."""
    declared = (node.element.get("type") or "").strip().lower()
    if (node.element.get("mode") or "").lower() == "base64":
        return "base64"
    atom = space_of(str(node.element.tag)) in ATOM_SPACES
    if declared in {"text", "text/plain"} or (atom and not declared):
        return "text"
    if declared.endswith(("xhtml", "+xml", "/xml")):
        return "xml"
    if declared.endswith("html"):
        return "html"
    if atom and "/" in declared and not declared.startswith("text/"):
        return "base64"
    return "guess"


def _decoded(value: str) -> Text:
    """The decoded HTML of base64 text; the text itself if it is no base64 of UTF-8 (RFC 4287 section 4.1.3.3)."""
    try:
        return Text(base64.b64decode(value, validate=False).decode("utf-8").strip(), "html")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return Text(value, "text")
