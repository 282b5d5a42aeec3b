"""The part of a text in which the terms of a query occur, with each occurrence marked."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.search.words import UNSPACED, folded, without_marks
from feedcrawl.domain.text import lowered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from feedcrawl.domain.search.query import Query, Term

PASSAGE_CHARS: Final = 240
_MARKS: Final = "\u0300-\u036f"
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_WORDS: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text; `found` if a term of the query occurs there."""

    text: str
    found: bool = False


def marked(text: str, query: Query) -> tuple[Piece, ...]:
    """The whole text with the occurrences of the terms that must occur."""
    return tuple(_pieces(text, _spans(text, query)))


def passage(text: str, query: Query, size: int = PASSAGE_CHARS) -> tuple[Piece, ...]:
    """About `size` characters of the text on one line, with most different terms; its beginning if none occurs."""
    text = " ".join(text.split())
    spans = _spans(text, query)
    start = _word_start(text, _best(spans, size) - size // 6, size) if spans else 0
    end = _word_end(text, start + size, size)
    inside = [(first - start, last - start, term) for first, last, term in spans if start <= first and last <= end]
    before, after = (Piece("… "),) if start else (), (Piece(" …"),) if end < len(text) else ()
    return (*before, *_pieces(text[start:end], inside), *after)


def as_html(pieces: Iterable[Piece]) -> str:
    """The pieces as HTML: text escaped, occurrences in `<mark>`."""
    return "".join(
        f"<mark>{html.escape(each.text)}</mark>" if each.found else html.escape(each.text) for each in pieces
    )


def _spans(text: str, query: Query) -> list[tuple[int, int, int]]:
    """Start, end and number of the term of each occurrence, in order, without overlaps."""
    lower = lowered(without_marks(text))
    found = [
        (match.start(), match.end(), number)
        for number, term in enumerate(query.required)
        for match in _pattern(term).finditer(lower)
    ]
    spans: list[tuple[int, int, int]] = []
    for span in sorted(found, key=lambda each: (each[0], -each[1])):
        if not spans or span[0] >= spans[-1][1]:
            spans.append(span)
    return spans


def _pattern(term: Term) -> re.Pattern[str]:
    words = _WORDS.findall(lowered(folded(term.text)))
    if not words:
        return re.compile("(?!)")
    inner = rf"[\W_{_MARKS}]+".join(rf"[{_MARKS}]*".join(map(re.escape, word)) for word in words)
    first = "" if _UNSPACED.match(words[0]) else r"(?<![^\W_])"
    last = "" if _UNSPACED.match(words[-1][-1]) else r"[^\W_]*" if term.prefix else r"(?![^\W_])"
    return re.compile(rf"{first}{inner}[{_MARKS}]*{last}")


def _best(spans: list[tuple[int, int, int]], size: int) -> int:
    """The start of the first occurrence after which most different terms follow within `size` characters."""
    best, most = spans[0][0], 0
    for at, (start, _, _) in enumerate(spans):
        within = {number for first, last, number in spans[at : at + 50] if last - start <= size * 5 // 6}
        if len(within) > most:
            best, most = start, len(within)
    return best


def _word_start(text: str, at: int, size: int) -> int:
    """The start of a word at or soon after a place; the place itself in a text without spaces."""
    space = text.find(" ", at, at + size // 8)
    return max(at, 0) if at <= 0 or space < 0 else space + 1


def _word_end(text: str, at: int, size: int) -> int:
    """The end of a word at or soon before a place; the place itself in a text without spaces."""
    space = text.rfind(" ", at - size // 8, at + 1)
    return at if at >= len(text) or space < 0 else space


def _pieces(text: str, spans: list[tuple[int, int, int]]) -> Iterator[Piece]:
    at = 0
    for start, end, _ in spans:
        if start > at:
            yield Piece(text[at:start])
        yield Piece(text[start:end], found=True)
        at = end
    if at < len(text):
        yield Piece(text[at:])
