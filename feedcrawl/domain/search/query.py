"""Search queries: words that must all occur, "phrases in quotes", -excluded words and begin* of words.

All other characters belong to words: no text is a syntax error, and no part of it reaches an index as an operator.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.search.words import folded, phrase

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_CHARS: Final = 500
MAX_TERMS: Final = 32
PHRASE_COST: Final = 4
"""Cost of comparing the places of a phrase's words in a document; that of finding a word there is 1 (measured)."""
SHORT_COST: Final = 50
"""Cost of a beginning of one or two letters in a document: that of the places of all words with it (measured)."""
MIN_PREFIX: Final = 3
"""Letters of the beginning of a word from which on the words that begin so are few."""
COLUMNS: Final = ("title", "text", "people")
_QUOTES: Final = str.maketrans(dict.fromkeys('“”„‟«»\uff02"', '"'))
_TERM: Final = re.compile(r'(-?)"([^"]*)"?|([^\s"]+)')
_WORD: Final = re.compile(r"[^\W_]")
_WORDS: Final = re.compile(r"[^\s!-/:-@\[-`{-~]+")
"""Words of a phrase, as far as ASCII separates them."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word or a phrase. `excluded`: it must not occur; `prefix`: words that begin with its last word count too."""

    text: str
    excluded: bool = False
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """The terms of a query; at least one of them is not excluded."""

    terms: tuple[Term, ...]

    @property
    def required(self) -> tuple[Term, ...]:
        """The terms that must occur."""
        return tuple(term for term in self.terms if not term.excluded)

    @property
    def excluded(self) -> tuple[Term, ...]:
        """The terms that must not occur."""
        return tuple(term for term in self.terms if term.excluded)


def read(text: str) -> Query:
    """The query in a text.

    Raises Refusal: `search_empty` if no word must occur, `search_too_long`.
    """
    if len(text) > MAX_CHARS:
        raise Refusal("search_too_long", f"a search has at most {MAX_CHARS} characters, this one has {len(text)}")
    found = [_term(match) for match in _TERM.finditer(folded(text.translate(_QUOTES)))]
    terms = tuple(dict.fromkeys(term for term in found if _WORD.search(term.text)))
    if len(terms) > MAX_TERMS:
        raise Refusal("search_too_long", f"a search has at most {MAX_TERMS} words, this one has {len(terms)}")
    if all(term.excluded for term in terms):
        raise Refusal("search_empty", f"name a word that must occur: {text[:100]!r} has none")
    return Query(terms)


def _term(match: re.Match[str]) -> Term:
    minus, quoted, word = match.groups()
    if word is None:
        return Term(quoted.strip(), excluded=bool(minus))
    excluded = len(word) > 1 and word[0] == "-" and word[1] != "-"
    text = word[1:] if excluded else word
    return Term(text.rstrip("*"), excluded=excluded, prefix=text.endswith("*"))


def is_short(term: Term) -> bool:
    """True for a beginning of one or two letters, which thousands of words may have."""
    text, is_prefix = phrase(term.text)
    *_, last = _WORDS.findall(text) or [""]
    return term.prefix and not is_prefix and len(last) < MIN_PREFIX


def expression(query: Query, labels: Iterable[str] = ()) -> str:
    """The query as an expression of SQLite's FTS5 over the columns `COLUMNS` and `labels`.

    Each term is a string of FTS5, in which nothing but the quote has a meaning (https://sqlite.org/fts5.html, 3.1).
    "" if nothing must occur, and no label is given.
    """
    columns = _columns()
    required = [f"{columns} : ({' AND '.join(map(_string, query.required))})"] if query.required else []
    found = " AND ".join([*required, *(f'labels : "{label}"' for label in labels)])
    if not found:
        return ""
    if not query.excluded:
        return found
    return f"({found}) NOT {columns} : ({' OR '.join(map(_string, query.excluded))})"


@dataclass(frozen=True, slots=True)
class Part:
    """A term or a label of a query as an expression of FTS5 of its own.

    `read` is an expression for the documents that are read to count those of the part: the ones with all of its words;
    None for a short beginning of a word, for which thousands of words are read. `cost` is that of such a document, in
    words read. `ranks` is False for labels and excluded terms, `selects` for excluded terms.
    """

    text: str
    read: str | None
    cost: int = 1
    ranks: bool = True
    selects: bool = True


def parts(query: Query, labels: Iterable[str] = ()) -> tuple[Part, ...]:
    """Everything that bm25 counts when it ranks the matches of a query with these labels."""
    terms = (replace(_part(term), ranks=not term.excluded, selects=not term.excluded) for term in query.terms)
    return (*terms, *(Part(f'labels : "{label}"', f'labels : "{label}"', ranks=False) for label in labels))


def affordable(costs: Iterable[tuple[Part, float]], budget: float) -> list[Part]:
    """The parts that can be counted within a budget of words read, the rarest first, as they rank documents best."""
    found: list[Part] = []
    for part, cost in sorted(costs, key=lambda each: each[1]):
        budget -= cost
        if budget < 0:
            break
        found.append(part)
    return found


def ranking(found: Iterable[Part]) -> str | None:
    """An expression of the parts that select, by which matches are ranked; None if none of these parts ranks."""
    chosen = [part for part in found if part.selects]
    return " AND ".join(part.text for part in chosen) if any(part.ranks for part in chosen) else None


def _part(term: Term) -> Part:
    text, is_prefix = phrase(term.text)
    *words, last = _WORDS.findall(text) or [""]
    whole = f"{_columns()} : {_string(term)}"
    if is_short(term):
        return Part(whole, None, SHORT_COST)
    found = [f'"{word}"' for word in words] + [f'"{last}" *' if term.prefix or is_prefix else f'"{last}"']
    return Part(whole, f"{_columns()} : ({' AND '.join(found)})", PHRASE_COST if words else 1)


def _columns() -> str:
    return f"{{{' '.join(COLUMNS)}}}"


def _string(term: Term) -> str:
    words, is_prefix = phrase(term.text)
    return f'"{words.replace(chr(34), chr(34) * 2)}"{" *" if term.prefix or is_prefix else ""}'
