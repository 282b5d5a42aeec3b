"""Repairs elements that were not closed, or were closed in the wrong place."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape

from feedcrawl.domain.feeds.formats.repair import NAME
from feedcrawl.domain.feeds.formats.vocabulary import ENTRIES, HOLDERS

_TOKEN = re.compile(
    rf"<!\[CDATA\[(?P<cdata>.*?)(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|<![A-Za-z][^<>]*>"
    rf"|</\s*(?P<end>{NAME})[^<>]*>|<(?P<start>{NAME})(?P<attributes>(?:[^<>\"']++|\"[^\"<]*\"|'[^'<]*')*+|[^<>]*+)>"
    rf"|(?P<text>[^<]++|<)",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(rf"({NAME})\s*=\s*(?:\"([^\"<]*)\"|'([^'<]*)'|([^\s\"'<>=]+))")
_NAMES_ENTRY = re.compile(r"<(?:[\w-]+:)?(?:link|guid|id)\b", re.IGNORECASE)
# Elements that contain text only: a start tag inside one shows that its end tag is missing.
_TEXT_ONLY = (
    "copyright docs generator guid id language lastbuilddate link managingeditor pubdate published ttl updated url"
)
_LEAVES = frozenset(_TEXT_ONLY.split())
_MAX_DEPTH = 200


def balance(text: str) -> tuple[str, list[str]]:
    """The text with every element closed, stray end tags removed, and no entry inside another entry; and the codes of
    faults.

    The text ends with the root element; anything after it (a second root, junk) is removed. Of an entry in which the
    text ends the element that is cut is removed, for half a title or link is none, and an entry that has neither link
    nor id by then; not if entries before it were not closed either.
    """
    writer = _Balancer()
    for match in _TOKEN.finditer(text):
        writer.take(match)
        if writer.closed:
            break
    return writer.finish(), list(writer.codes)


class _Balancer:
    """Writes tokens as well-formed XML; stores the names of the open elements."""

    def __init__(self) -> None:
        self.codes: dict[str, None] = {}
        self.closed = False
        self._open: list[str] = []
        self._begins: list[int] = []  # the places of the open elements in `_out`
        self._holders = 0  # open elements that contain entries
        self._left = False  # an entry was not closed before the next
        self._entry: tuple[int, int] | None = None  # the place of the open entry in `_open` and in `_out`
        self._out: list[str] = []

    def take(self, match: re.Match[str]) -> None:
        """Write one token."""
        if match["start"]:
            self._start(match["start"], match["attributes"])
        elif match["end"]:
            self._end(match["end"])
        elif match["cdata"] is not None and self._open:
            self._out.append(escape(match["cdata"]))
        elif match["text"] and self._open:
            self._out.append(match["text"].replace("<", "&lt;").replace("]]>", "]]&gt;"))

    def finish(self) -> str:
        """The written text, with all open elements closed."""
        if self._open:
            self.codes["truncated"] = None
        if self._entry and not self._left:
            self.codes["entry_cut_off"] = None
            self._cut_entry(*self._entry)
        while self._open:
            self._out.append(f"</{self._pop()}>")
        return "".join(self._out)

    def _start(self, name: str, attributes: str) -> None:
        if self._open and _local(self._open[-1]) in _LEAVES:
            self._close_to(self._open[-1])
            self.codes["unclosed_element"] = None
        if _local(name) in ENTRIES:
            self._leave_for_entry()
        if len(self._open) >= _MAX_DEPTH:
            self.codes["too_deep"] = None
            return
        empty = attributes.rstrip().endswith("/")
        if _local(name) in ENTRIES and self._open and not (empty or self._entry):
            self._entry = len(self._open), len(self._out)
        self._out.append(f"<{name}{_attributes(attributes)}{'/' * empty}>")
        if not empty:
            self._begins.append(len(self._out) - 1)
            self._open.append(name)
            self._holders += _local(name) in HOLDERS

    def _cut_entry(self, depth: int, begin: int) -> None:
        """Remove what the end of the text cuts: the open element of the entry, or the entry if nothing names it."""
        child = self._begins[depth + 1] if len(self._open) > depth + 1 else len(self._out)
        if _NAMES_ENTRY.search("".join(self._out[begin:child])):
            del self._open[depth + 1 :], self._out[child:]
        else:
            del self._open[depth:], self._out[begin:]

    def _pop(self) -> str:
        name = self._open.pop()
        del self._begins[len(self._open) :]
        if self._entry and len(self._open) == self._entry[0]:
            self._entry = None
        self._holders -= _local(name) in HOLDERS
        return name

    def _leave_for_entry(self) -> None:
        """Close the elements that are open inside the innermost holder of entries, before the next entry begins."""
        while self._holders and _local(self._open[-1]) not in HOLDERS:
            self._left = self._left or _local(self._open[-1]) in ENTRIES
            self._out.append(f"</{self._pop()}>")
            self.codes["unclosed_element"] = None

    def _end(self, name: str) -> None:
        if name in self._open:
            self._close_to(name)
            self.closed = not self._open
        else:
            self.codes["stray_end_tag"] = None

    def _close_to(self, name: str) -> None:
        """Close the innermost open element of this name and all elements inside it."""
        while (last := self._pop()) != name:
            self.codes["unclosed_element"] = None
            self._out.append(f"</{last}>")
        self._out.append(f"</{name}>")


def _local(name: str) -> str:
    return name.rpartition(":")[2].lower()


def _attributes(text: str) -> str:
    """The readable attributes, each once, in double quotes."""
    found: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(text):
        found.setdefault(match[1], next(group for group in match.groups()[1:] if group is not None))
    return "".join(f' {name}="{value.replace(chr(34), "&quot;")}"' for name, value in found.items())
