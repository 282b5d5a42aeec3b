"""HTML documents, parsed by libxml2 within limits, with corrections where libxml2 does not follow the HTML standard.

`start_tags` reads a document without a tree.
"""

from __future__ import annotations

import re
from collections import defaultdict
from copy import copy, deepcopy
from html import unescape
from itertools import chain, dropwhile, islice
from typing import TYPE_CHECKING, Final

from lxml import etree
from lxml import html as lxml_html

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml.html import HtmlElement

MAX_ATTRIBUTES = 500
MATH_TAGS = frozenset({
    "math", "merror", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded", "mphantom",
    "mprescripts", "mroot", "mrow", "ms", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd",
    "mtext", "mtr", "munder", "munderover", "none",
})  # fmt: skip
"""The elements of presentation MathML (https://www.w3.org/TR/mathml-core/)."""

NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""A character that no XML document may contain (XML 1.0 section 2.2)."""

_OF_HEAD = frozenset(
    {"base", "basefont", "bgsound", "link", "meta", "noscript", "script", "style", "template", "title"}
)
_GONE = "removed-element"
_UNSHOWN = frozenset({"link", "meta", "noscript", "script", "style", "template"})
_CONTROL = bytes({*range(0x20), 0x7F} - set(b"\t\n\r"))
_EARLY_END = re.compile(rb"</[bBhH](?:[oO][dD][yY]|[tT][mM][lL])\s*>")  # begins with characters, unlike with a flag
_NO_CHARACTERS = ("\ufffe".encode(), "\uffff".encode())
_SOURCE = re.compile(rb"<[sS][oO][uU][rR][cC][eE]")
# `<script/>` opens a script in HTML (13.2.6.4.4); libxml2 ends it there, and the code becomes text.
_OPEN_SCRIPT = re.compile(rb"(<s(cript|tyle)\b[^<>]*)/(>[^<]*+(?:<(?!/?s\2)[^<]*+)*+</s\2)")
_HUGE = 4096
_BLOCK = _HUGE // 2
_HUGE_TAG = re.compile(rb"<[a-zA-Z][^<>]{%d,}" % _HUGE)
_ATTRIBUTE = r"""[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\s>"'][^\s>]*+)?)?"""
_TOKEN = re.compile(
    r"<!--(?:-?>|.*?--!?>|.*\Z)"
    r"|<(?:[!?]|/(?![a-z]))[^>]*+(?:>|\Z)"
    rf"|<(?P<name>/?[a-z][^\s/>]*+)(?P<attributes>(?:[\s/]++|{_ATTRIBUTE})*+)(?:>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_NAMED = re.compile(_ATTRIBUTE, re.DOTALL)
_RAW_TEXT = frozenset({"script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes"})
_REFERENCE = re.compile(r"&(?:#\w{1,8}|\w{1,32});")
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


class Elements:
    """The elements of a tree by tag, in document order.

    Elements are read in one walk: libxml2 takes as long for a walk that looks for one tag. The answers are those of the
    latest `read`; whoever adds, removes or renames elements that later callers ask for reads the tree again.
    """

    def __init__(self, tree: HtmlElement, most: int | None = None) -> None:
        """Read a tree, or its first `most` elements."""
        self.tree = tree
        self.read(most)

    def read(self, most: int | None = None) -> None:
        """Read the tree again."""
        self.all = list(islice(self.tree.iter(), most))
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        for at, element in enumerate(self.all):
            self._places[element.tag].append(at)

    def of(self, *tags: str) -> list[HtmlElement]:
        """The elements with one of the tags."""
        places = [found for tag in tags if (found := self._places.get(tag))]
        return [self.all[at] for at in (places[0] if len(places) == 1 else sorted(chain.from_iterable(places)))]

    def copied(self) -> Elements:
        """The elements of a copy of the tree, which are at the same places."""
        twin = copy(self)
        twin.tree = deepcopy(self.tree)
        twin.all = list(twin.tree.iter())
        return twin


def drop(element: HtmlElement) -> None:
    """Remove an element with its content; the words before and after it stay apart. Nothing for a root."""
    if element.getparent() is not None:
        _part_words(element)
        element.drop_tree()


def drop_all(tree: HtmlElement, elements: Iterable[HtmlElement], *, apart: bool = True) -> None:
    """Remove elements of a tree, given in document order, as `drop` removes each; with `apart` off, the words before
    and after an element become neighbours.

    For each removed element lxml writes the text before it anew: thousands in one line would take minutes.
    """
    for element in elements:
        if element.getparent() is not None:
            if apart:
                _part_words(element)
            element.tag = _GONE
    etree.strip_elements(tree, _GONE, with_tail=False)


def _part_words(element: HtmlElement) -> None:
    """Put a space after an element that is to be removed between two words."""
    tail = element.tail
    if not tail or not tail[0].isalnum() or element.tag in _UNSHOWN:
        return
    before = element.getprevious()
    while before is not None and before.tag == _GONE and not before.tail:
        before = before.getprevious()
    text = element.getparent().text if before is None else before.tail
    if text[-1:].isalnum() if text else before is not None:
        element.tail = f" {tail}"


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


def start_tags(text: str, names: set[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Start tags with these names and their attributes, except inside elements that browsers read as raw text.

    A name with a slash (`/noscript`) stands for end tags. The tokens are those of browsers (WHATWG HTML section
    13.2.5), and the cost is linear at any depth of nesting.
    """
    position = 0
    while token := _TOKEN.search(text, position):
        position = token.end()
        name = (token["name"] or "").lower()
        if name in _RAW_TEXT:
            position = _raw_text_end(text, name, position)
        elif name in names:
            yield name, _attributes(token["attributes"])


def _raw_text_end(text: str, name: str, start: int) -> int:
    end = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(text, start)
    return end.start() if end else len(text)


def _attributes(text: str) -> dict[str, str]:
    """Attributes by lower-case name, the first of each name. Character references need their semicolon."""
    found: dict[str, str] = {}
    for attribute in _NAMED.findall(text):
        name, _, value = attribute.partition("=")
        value = value.strip()
        bare = value[1:].removesuffix(value[0]) if value[:1] in {'"', "'"} else value
        found.setdefault(name.strip().lower(), _REFERENCE.sub(lambda reference: unescape(reference[0]), bare))
    return found
