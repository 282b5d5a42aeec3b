"""Searches the index for people and programs: the best matches, each with the words that were found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.search import query as queries
from feedcrawl.domain.search.highlights import as_html, marked, passage

if TYPE_CHECKING:
    from feedcrawl.domain.search.documents import Filters, RawContentRecord
    from feedcrawl.domain.search.highlights import Piece
    from feedcrawl.store.search.interface import SearchIndex

MAX_OFFSET: Final = 1000
"""Matches that can be listed, a page at a time; a caller that needs more narrows the search."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A match: the document (`raw_content`), its title and the best passage of its text, with the words found."""

    document: RawContentRecord
    title: tuple[Piece, ...]
    passage: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """Matches, the best first; `next` is the offset of the next page, None if there are no more."""

    hits: tuple[Hit, ...]
    next: int | None


def highlights_of(hit: Hit) -> dict[str, str]:
    """The title and the passage as HTML: text escaped, the words found in `<mark>`."""
    return {"title": as_html(hit.title), "text": as_html(hit.passage)}


class Search:
    """Searches one index."""

    def __init__(self, index: SearchIndex | None) -> None:
        self._index = index

    def find(self, text: str, filters: Filters, *, limit: int = 20, offset: int = 0) -> Page:
        """The best matches of what a person wrote (`domain/search/query.py`).

        Raises Refusal (`search_empty` `search_too_long` `search_off`), IndexUnavailable.
        """
        query = queries.read(text)
        found = self._opened().search(query, filters, limit=limit + 1, offset=offset)
        hits = [Hit(each, marked(each["title"] or "", query), passage(each["text"], query)) for each in found[:limit]]
        is_more = len(found) > limit and offset + limit < MAX_OFFSET
        return Page(tuple(hits), offset + limit if is_more else None)

    def count(self) -> int:
        """The number of documents. Raises Refusal (`search_off`), IndexUnavailable."""
        return self._opened().count()

    def _opened(self) -> SearchIndex:
        if self._index is None:
            raise Refusal("search_off", "there is no search index: FEEDCRAWL_SEARCH is off")
        return self._index
