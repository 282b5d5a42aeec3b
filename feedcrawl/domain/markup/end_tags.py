"""End tags by the rules of HTML, where libxml2 has others."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from feedcrawl.domain.markup.tokens import RAW_TEXT

_BOX: Final = b"div"
_CLOSING: Final = frozenset({
    b"address", b"article", b"aside", b"blockquote", b"center", b"details", b"dl", b"fieldset", b"figcaption",
    b"figure", b"footer", b"header", b"main", b"nav", b"noscript", b"ol", b"section", b"ul",
})  # fmt: skip
"""Elements whose end tag closes all that is open within them (WHATWG HTML, 13.2.6.4.7). A browser reads `noscript` as
text up to the end tag, and libxml2 its elements.
"""
_CELLS: Final = frozenset({b"td", b"th"})
_SCOPES: Final = _CELLS | {b"table", b"caption", b"object", b"template"}
"""Elements within which an end tag closes nothing outside of them (13.2.4.2)."""
_RAW_TEXT: Final = frozenset(name.encode() for name in RAW_TEXT)
_NAMES: Final = b"|".join(sorted({_BOX} | _CLOSING | _SCOPES | _RAW_TEXT))
_TAG: Final = re.compile(rb"<(?:!--|(/?)(" + _NAMES + rb")(?=[\s/>]))", re.IGNORECASE)
_ATTRIBUTES: Final = re.compile(rb"(?>=\s*+(?>\"[^\"]*+\"|'[^']*+')|[^>])*+>")
_END_OF: Final = {name: re.compile(rb"</" + name + rb"(?=[\s/>])", re.IGNORECASE) for name in _RAW_TEXT}


def close_boxes(html: bytes) -> bytes:
    """The document with an end tag for each `div` that the end tag of an element around the `div` closes.

    libxml2 ignores `</nav>` where a `div` in the `nav` has no end tag, so that what follows, the article perhaps, is
    within the `nav`. In HTML both end. The cost is linear at any depth of nesting, and documents with as many start
    tags of `div` as end tags are not searched.
    """
    if html.count(b"<div") == html.count(b"</div"):
        return html
    pieces: list[bytes] = []
    elements = _OpenElements()
    done = at = 0
    while match := _TAG.search(html, at):
        at = _end_of_tag(html, match)
        if match[2] is None:
            continue
        name = match[2].lower()
        if not match[1]:
            elements.begin(name)
        elif (unclosed := elements.end(name)) and name in _CLOSING:
            pieces += (html[done : match.start()], b"</div>" * unclosed)
            done = match.start()
    return b"".join((*pieces, html[done:])) if pieces else html


class _OpenElements:
    """The elements that are open at a place of a document, by the cells, tables and documents that bound them."""

    def __init__(self) -> None:
        self._scopes = [_Scope()]
        self._number: Counter[bytes] = Counter()

    def begin(self, name: bytes) -> None:
        """Open an element; a cell ends the cell before it."""
        if name not in _SCOPES:
            self._scopes[-1].begin(name)
            return
        if name in _CELLS and self._scopes[-1].name in _CELLS:
            self._leave()
        self._scopes.append(_Scope(name))
        self._number[name] += 1

    def end(self, name: bytes) -> int:
        """Close the innermost element of this name and all within it; returns the number of `div`s in its scope among
        these.
        """
        if name not in _SCOPES:
            return self._scopes[-1].end(name)
        while self._number[name] and self._leave() != name:
            pass
        return 0

    def _leave(self) -> bytes:
        left = self._scopes.pop().name
        self._number[left] -= 1
        return left


class _Scope:
    """The open elements within a cell, a table or the document, which an end tag outside of these does not close."""

    def __init__(self, name: bytes = b"") -> None:
        self.name = name
        self._open: list[bytes] = []
        self._number: Counter[bytes] = Counter()

    def begin(self, name: bytes) -> None:
        """Open an element."""
        self._open.append(name)
        self._number[name] += 1

    def end(self, name: bytes) -> int:
        """Close the innermost element of this name and all within it; returns the number of `div`s among these."""
        boxes = self._number[_BOX]
        while self._number[name]:
            closed = self._open.pop()
            self._number[closed] -= 1
            if closed == name:
                break
        return boxes - self._number[_BOX]


def _end_of_tag(html: bytes, tag: re.Match[bytes]) -> int:
    """The place after a tag, after a comment, or after the text of an element that has no markup within it."""
    if tag[2] is None:
        end = html.find(b"-->", tag.end())
        return end if end >= 0 else len(html)
    rest = _ATTRIBUTES.match(html, tag.end())
    if rest is None:
        return len(html)
    name = tag[2].lower()
    if tag[1] or name not in _RAW_TEXT:
        return rest.end()
    found = _END_OF[name].search(html, rest.end())
    return found.start() if found else len(html)
