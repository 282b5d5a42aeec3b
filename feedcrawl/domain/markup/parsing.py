"""HTML documents, parsed by libxml2 within limits, with corrections where libxml2 does not follow the HTML standard."""

from __future__ import annotations

import re
from itertools import dropwhile
from typing import TYPE_CHECKING

from lxml import etree
from lxml import html as lxml_html

from feedcrawl.domain.markup.end_tags import close_boxes

if TYPE_CHECKING:
    from lxml.html import HtmlElement

MAX_ATTRIBUTES = 500
_OF_HEAD = frozenset(
    {"base", "basefont", "bgsound", "link", "meta", "noscript", "script", "style", "template", "title"}
)
_CONTROL = bytes({*range(0x20), 0x7F} - set(b"\t\n\r"))
_EARLY_END = re.compile(rb"</[bBhH](?:[oO][dD][yY]|[tT][mM][lL])\s*>")  # begins with characters, unlike with a flag
_NO_CHARACTERS = ("\ufffe".encode(), "\uffff".encode())
_SOURCE = re.compile(rb"<[sS][oO][uU][rR][cC][eE]")
# `<script/>` opens a script in HTML (13.2.6.4.4); libxml2 ends it there, and the code becomes text.
_OPEN_SCRIPT = re.compile(rb"(<s(cript|tyle)\b[^<>]*)/(>[^<]*+(?:<(?!/?s\2)[^<]*+)*+</s\2)")
_HUGE = 4096
_BLOCK = _HUGE // 2
_HUGE_TAG = re.compile(rb"<[a-zA-Z][^<>]{%d,}" % _HUGE)
# One class for all elements: lxml.html calls a Python function to choose the class of each, a tenth of the parsing
# time.
_CLASSES = etree.ElementDefaultClassLookup(
    element=lxml_html.HtmlElement, comment=lxml_html.HtmlComment, pi=lxml_html.HtmlProcessingInstruction
)


def parse_html(html: str) -> HtmlElement | None:
    """The document of possibly hostile HTML, parsed within limits; None if nothing of it remains.

    Content after the end of the body belongs to the body (WHATWG HTML 13.2.6.4.22), and some elements end a head;
    libxml2 knows neither. Removed are control characters that HTML forbids, comments, processing instructions, and the
    attributes of tags that have thousands of them (libxml2 compares each attribute with each other).
    """
    text = html.encode(errors="ignore")
    for no_character in _NO_CHARACTERS:
        text = text.replace(no_character, b"")
    text = _EARLY_END.sub(b"", text.translate(None, _CONTROL))
    if _may_have_open_script(text):
        text = _OPEN_SCRIPT.sub(rb"\1\3", text)
    if _may_have_huge_tag(text):
        text = _HUGE_TAG.sub(_tame, text)
    text = close_boxes(text)
    if not text.strip():
        return None
    parser = lxml_html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False)
    parser.set_element_class_lookup(_CLASSES)
    try:
        tree = lxml_html.document_fromstring(text, parser=parser)
    except (etree.LxmlError, ValueError):
        return None
    _end_head(tree)
    if _SOURCE.search(text):
        _empty_sources(tree)
    return tree


def _may_have_open_script(text: bytes) -> bool:
    """True if a script or style closes itself: a search for the tags takes half of the time of the expression."""
    for tag in (b"<script", b"<style"):
        at = text.find(tag)
        while at >= 0:
            end = text.find(b">", at, at + _HUGE)
            if end > 0 and text[end - 1 : end] == b"/":
                return True
            at = text.find(tag, at + len(tag))
    return False


def _end_head(tree: HtmlElement) -> None:
    """Move the content that an unclosed head has swallowed into the body (WHATWG HTML 13.2.6.4.4).

    libxml2 does not know that `section`, `article` or a custom element ends the head.
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
    """Move the children of each `source` after it: it has no end tag (WHATWG HTML 13.1.2), which libxml2 ignores."""
    for source in list(tree.iter("source")):
        for child in reversed(source):
            source.addnext(child)


def _may_have_huge_tag(text: bytes) -> bool:
    """False only if the text has no huge tag.

    A huge tag covers a whole block without brackets, and begins before that block.
    """
    return any(
        text.find(b">", at, at + _BLOCK) < 0
        and text.find(b"<", at, at + _BLOCK) < 0
        and text.rfind(b"<", at - _BLOCK, at) > text.rfind(b">", at - _BLOCK, at)
        for at in range(_BLOCK, len(text) - _BLOCK + 1, _BLOCK)
    )


def _tame(tag: re.Match[bytes]) -> bytes:
    text = tag[0]
    return text if text.count(b"=") + text.count(b" ") < MAX_ATTRIBUTES * 8 else text[: text.find(b" ")]
