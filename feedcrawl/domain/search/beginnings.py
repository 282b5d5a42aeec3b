"""Beginnings of one or two letters in a query.

An index would merge the places of thousands of words for each. Since most of these words are in many documents, reading
the last documents finds matches sooner.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.search.query import Query, is_short
from feedcrawl.domain.search.words import folded

if TYPE_CHECKING:
    from collections.abc import Iterable


def without_short(query: Query) -> Query:
    """The terms of a query that an index looks up; there may be none."""
    return Query(tuple(term for term in query.terms if not is_short(term)))


def fits(query: Query, texts: Iterable[str]) -> bool:
    """True if a document with these texts has the short beginnings of a query, and none of those it excludes."""
    words = [_words(text) for text in texts]
    short = (term for term in query.terms if is_short(term))
    return all(any(_words(term.text) in each for each in words) is not term.excluded for term in short)


class _Splitting(dict[int, str]):
    """A space in place of each character that is none of a word; words are letters, marks, numbers and private use."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        category = unicodedata.category(letter)
        self[code] = kept = letter if category[0] in "LMN" or category == "Co" else " "
        return kept


_SPLITTING: Final = _Splitting()


def _words(text: str) -> str:
    """The words of a text, each after one space."""
    return f" {' '.join(folded(text).lower().translate(_SPLITTING).split())}"
