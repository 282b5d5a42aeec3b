"""The interface of every search index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from feedcrawl.domain.errors import FeedcrawlError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from feedcrawl.domain.search.documents import Filters, RawContentRecord
    from feedcrawl.domain.search.query import Query


DAMAGED: Final = "index_damaged"
MISSING: Final = "index_missing"
LOCKED: Final = "index_locked"


class IndexUnavailable(FeedcrawlError):
    """The index cannot answer or store now; the same call may succeed later.

    Codes: `index_missing` (none is complete yet), `index_damaged` (it is built again), `index_locked` (another process
    writes), `search_too_slow`, `search_server_away`, `search_server_busy`, or those of DiskUnavailable.
    """


@dataclass(frozen=True, slots=True)
class Changes:
    """Documents to store under their uid, and uids to remove, all at once."""

    stored: Sequence[RawContentRecord] = ()
    removed: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """A document that the index can never store, with the reason."""

    uid: str
    reason: str
    detail: str


class SearchIndex(Protocol):
    """An index of documents (`raw_content`) by uid."""

    def search(self, query: Query, filters: Filters, *, limit: int, offset: int = 0) -> list[RawContentRecord]:
        """The best matches; raises IndexUnavailable."""

    def count(self) -> int:
        """The number of documents; raises IndexUnavailable."""

    def cursor(self) -> str | None:
        """The stream id of the last event in the index; None if a consumer group has it. Raises IndexUnavailable."""
