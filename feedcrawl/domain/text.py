"""Canonical text: the text of a piece of HTML that a reader sees, as plain lines.

Every block is a line of its own, white space is collapsed, invisible characters are removed. The same tree always gives
the same text.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from lxml import etree

from feedcrawl.domain.markup import MATH_TAGS, parse_html

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.etree import _Element

SENTENCE_ENDS = (".", "!", "?", "…", "»", "”", "“", '"', "。", "؟", "।")
BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr",
    "html", "legend", "li", "main", "nav", "ol", "p", "pre", "section", "summary", "table", "tbody", "tfoot",
    "thead", "tr", "ul",
})  # fmt: skip
UNSEEN = frozenset({
    "audio", "button", "canvas", "datalist", "embed", "head", "iframe", "input", "link", "map", "meta",
    "noscript", "object", "param", "script", "select", "source", "style", "svg", "template", "textarea",
    "title", "track", "video",
})  # fmt: skip
_KNOWN = BLOCKS | UNSEEN | {
    "a", "abbr", "acronym", "annotation", "b", "bdi", "bdo", "big", "blink", "br", "caption", "cite", "code", "col",
    "colgroup", "data", "del", "dfn", "em", "font", "i", "img", "ins", "kbd", "label", "mark", "nobr", "optgroup",
    "option", "output", "picture", "q", "rb", "rp", "rt", "rtc", "ruby", "s", "samp", "semantics", "slot", "small",
    "span", "strike", "strong", "sub", "sup", "td", "th", "time", "tt", "u", "var", "wbr", *MATH_TAGS,
}  # fmt: skip
QUOTED = "data-quotation"
"""The attribute of a frame with the words of a post (`domain.figures.posts`), line by line; empty for no words."""
_SHOWN_APART = frozenset({"audio", "button", "canvas", "embed", "iframe", "input", "object", "select", "video"})
_CELLS = frozenset({"td", "th"})
_PLAIN = frozenset({"a", "b", "em", "i", "span", "strong"})  # these neither end a line nor hide text

# Soft hyphen, zero-width space, word joiner, byte order mark; bidirectional overrides and isolates, which make text
# look different from its stored order (Unicode TR36 2.6); control characters. The joiners U+200C and U+200D have a
# meaning in several scripts and stay.
_INVISIBLE = re.compile(
    "[\u00ad\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]"
)
_WORD = re.compile(r"\w+")
_NO_WORD = re.compile(r"\W+")
_LOWERED = bytes(range(128)).lower() + bytes(range(128, 256))
_NO_WORD_BYTES = bytes(code for code in range(128) if not (chr(code).isalnum() or chr(code) == "_"))
_MARKS = re.compile("([\u0300-\u036f][\u0300-\u036f]{3})[\u0300-\u036f]+")  # a set, as no repetition, is searched fast


def fold(text: str) -> str:
    """The text as one line: white space collapsed to single spaces, invisible characters removed, NFC."""
    line = " ".join(text.split())
    is_visible = line.isprintable() or not _INVISIBLE.search(line)  # no invisible character is printable
    if is_visible and (line.isascii() or not (_MARKS.search(line) or not unicodedata.is_normalized("NFC", line))):
        return line
    return " ".join(unicodedata.normalize("NFC", _INVISIBLE.sub("", _MARKS.sub(r"\1", text))).split())


def lowered(text: str) -> str:
    """The text in lower case, with as many characters: of all letters only İ becomes two."""
    return text.replace("İ", "i").lower()


def squeezed(text: str, most: int | None = None) -> str:
    """The letters and digits of a text alone, in lower case, for comparing texts that differ in typography."""
    if most is None:
        # Bytes are translated forty times faster than characters are; those of letters beyond ASCII stay as they are.
        letters = text.encode(errors="surrogatepass").translate(_LOWERED, _NO_WORD_BYTES).decode(errors="surrogatepass")
        return letters if letters.isascii() else _NO_WORD.sub("", letters).lower()
    usual = most + most // 2  # characters of prose that have enough letters
    letters = squeezed(text[:usual])
    return (letters if len(letters) >= most or len(text) <= usual else squeezed(text[: 3 * most]))[:most]


def canonical_text(tree: _Element, *, captions: bool = True) -> str:
    """The readable text of an element, one line per block.

    List items begin with "- ", the cells of a table row are joined by " | ", preformatted text keeps its lines and
    their indentation. Scripts, styles, controls and media have no text; captions, picture figures and posts
    only with `captions`.
    """
    return "\n".join(_Writer(captions=captions).write(tree))


def text_of(element: _Element) -> str:
    """The text of an element as one line."""
    if element.tag in _PLAIN and not len(element):
        line = fold(element.text or "")
        return line if line.strip(" |") else ""
    return canonical_text(element).replace("\n", " ")


def raw_text(element: _Element) -> str:
    """All text in an element, as it is written."""
    # libxml2 writes a text in a fifth of the time that `itertext` takes.
    written = etree.tostring(element, encoding="unicode", method="text", with_tail=False) if len(element) else None
    return element.text or "" if written is None else written


def plain_text(html: str) -> str:
    """The canonical text of an HTML fragment; for plain text, its lines with white space collapsed."""
    if "<" not in html and "&" not in html:
        return "\n".join(filter(None, map(fold, html.splitlines())))
    tree = parse_html(f"<div>{html}</div>")
    return canonical_text(tree) if tree is not None else ""


def is_unknown(element: _Element) -> bool:
    """True for an element that HTML does not define, such as a site's own component."""
    return element.tag not in _KNOWN


def words(text: str) -> list[str]:
    """The words of a text in lower case, for comparisons."""
    return _WORD.findall(text.lower())


class _Writer:
    """Collects inline pieces and ends a line where a block begins or ends."""

    def __init__(self, *, captions: bool) -> None:
        self._captions = captions
        self.lines: list[str] = []
        self._pieces: list[str] = []
        self._blank = 0
        """The pieces at the beginning of the line that are known to have no visible text."""
        self._is_begun = False
        self._marker = ""
        self._verbatim = 0

    def write(self, tree: _Element) -> list[str]:
        """The lines of a tree; without recursion, because trees may be deeper than Python's limit."""
        pieces, unread = self._pieces, None
        walk = etree.iterwalk(tree, events=("start", "end"))
        for event, element in walk:
            tag = element.tag
            if event == "start":
                if tag not in _PLAIN and not self._open(element, tag):
                    unread = element
                    walk.skip_subtree()
                elif text := element.text:
                    pieces.append(text)
                continue
            if tag not in _PLAIN and element is not unread:
                self._close(element, tag)
            if element is not tree and (tail := element.tail):
                pieces.append(tail)
        self._end_line()
        return self.lines

    def _open(self, element: _Element, tag: str) -> bool:
        """Begin an element; False for an element whose text nobody reads."""
        if tag in BLOCKS:
            if not self._captions and (tag == "figcaption" or (tag == "figure" and _is_picture(element))):
                return False
            self._end_line()
            if tag == "li":
                self._marker = "- "
            elif tag == "pre":
                self._verbatim += 1
        elif tag in UNSEEN or not isinstance(tag, str):
            if self._captions and tag == "iframe" and (quoted := element.get(QUOTED)):
                self._end_line()
                self.lines += filter(None, map(fold, quoted.splitlines()))
            if tag in _SHOWN_APART:
                self._pieces.append(" ")
            return False
        elif tag in _CELLS:
            self._open_cell(element)
        elif tag == "br":
            self._end_line() if not self._verbatim else self._pieces.append("\n")
        return True

    def _open_cell(self, element: _Element) -> None:
        if _holds_blocks(element):
            self._end_line()
            return
        if not self._is_begun:  # each piece is looked at once, however many cells a line has
            self._is_begun = any(map(fold, self._pieces[self._blank :]))
            self._blank = len(self._pieces)
        if self._is_begun:
            self._pieces.append(" | ")

    def _close(self, element: _Element, tag: str) -> None:
        if tag in BLOCKS:
            self._end_line()
            if tag == "pre":
                self._verbatim -= 1
            elif tag == "li":
                self._marker = ""
        elif tag in _CELLS:
            if _holds_blocks(element):
                self._end_line()
        elif not element.tail and is_unknown(element):
            self._pieces.append(" ")  # words of components that stand side by side

    def _end_line(self) -> None:
        if not self._pieces:
            return
        text = "".join(self._pieces)
        self._pieces.clear()
        self._blank, self._is_begun = 0, False
        if text.isspace():
            return
        for line in _verbatim_lines(text) if self._verbatim else (fold(text),):
            if line.strip(" |"):
                self.lines.append(self._marker + line)
                self._marker = ""


def _is_picture(figure: _Element) -> bool:
    """True if a figure shows an image; False for code, tables and quotations, which are text."""
    return next(figure.iter("img"), None) is not None or next(figure.iter("pre", "table", "blockquote"), None) is None


def _holds_blocks(cell: _Element) -> bool:
    """True if a table cell is used for layout (has blocks), not for data."""
    return any(child.tag in BLOCKS for child in cell)


def _verbatim_lines(text: str) -> Iterator[str]:
    for line in text.strip("\r\n").splitlines():
        indent = line[: len(line) - len(line.lstrip())].replace("\t", "    ")
        yield indent + fold(line)
