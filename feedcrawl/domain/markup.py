"""The document that markup of the web means: read by libxml2 within limits, and what that does not know put right."""

from __future__ import annotations

import re
from itertools import dropwhile
from typing import TYPE_CHECKING

from lxml import etree
from lxml import html as lxml_html

if TYPE_CHECKING:
    from lxml.html import HtmlElement

MAX_ATTRIBUTES = 500

_OF_HEAD = frozenset(
    {"base", "basefont", "bgsound", "link", "meta", "noscript", "script", "style", "template", "title"}
)
_CONTROL = bytes({*range(0x20), 0x7F} - set(b"\t\n\r"))
_EARLY_END = re.compile(rb"</(?:body|html)\s*>", re.IGNORECASE)
_HUGE_TAG = re.compile(rb"<[a-zA-Z][^<>]{4096,}")
# Every element is of one class: lxml.html asks a function of Python for the class of each, a tenth of the work.
_CLASSES = etree.ElementDefaultClassLookup(
    element=lxml_html.HtmlElement, comment=lxml_html.HtmlComment, pi=lxml_html.HtmlProcessingInstruction
)


def parse_html(html: str) -> HtmlElement | None:
    """The document that hostile markup means, read within limits; None where nothing is left of it.

    What follows the end of the body belongs to it (WHATWG HTML 13.2.6.4.22), which libxml2 does not know, nor what
    ends a head. Control
    characters that no HTML may hold are gone, as are comments, processing instructions and the attributes of
    tags that have thousands of them (libxml2 compares each with each).
    """
    text = html.encode(errors="ignore").translate(None, _CONTROL)
    for no_character in (b"\xef\xbf\xbe", b"\xef\xbf\xbf"):
        text = text.replace(no_character, b"")
    text = _HUGE_TAG.sub(_tame, _EARLY_END.sub(b"", text))
    if not text.strip():
        return None
    parser = lxml_html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    parser.set_element_class_lookup(_CLASSES)
    try:
        tree = lxml_html.document_fromstring(text, parser=parser)
    except (etree.LxmlError, ValueError):
        return None
    _end_head(tree)
    _empty_sources(tree)
    return tree


def _end_head(tree: HtmlElement) -> None:
    """Put into the body what a head without an end has swallowed (WHATWG HTML 13.2.6.4.4): libxml2 does not know that
    `section`, `article` or an element of somebody's own end it.
    """
    head = tree.find("head")
    strays = [] if head is None else list(dropwhile(lambda child: child.tag in _OF_HEAD, head))
    if head is None or not strays:
        return
    body = tree.find("body")
    if body is None:
        body = tree.makeelement("body")
        head.addnext(body)
    text, body.text = body.text, None
    if text:
        strays[-1].tail = (strays[-1].tail or "") + text
    body[:0] = strays


def _empty_sources(tree: HtmlElement) -> None:
    """Put beside a `source` what follows it: it has no end tag (WHATWG HTML 13.1.2), which libxml2 does not know."""
    for source in list(tree.iter("source")):
        for child in reversed(source):
            source.addnext(child)


def _tame(tag: re.Match[bytes]) -> bytes:
    text = tag[0]
    return text if text.count(b"=") + text.count(b" ") < MAX_ATTRIBUTES * 8 else text[: text.find(b" ")]
