"""Where a feed continues: archives and pages (RFC 5005), `next_url` (JSON Feed 1.1)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.urls import canonicalize, resolve

if TYPE_CHECKING:
    from collections.abc import Collection

    from feedcrawl.domain.models import Paging

MAX_DOCUMENTS: Final = 100  # of one walk
MAX_READINGS: Final = 5  # of one document that has more new entries than one reading may bring

Reason = Literal["prev_archive", "next", "complete", "end", "loop", "limit", "invalid_url", "overlap"]


@dataclass(frozen=True, slots=True)
class Step:
    """The document to fetch next, or None where the walk ends; `reason` says which relation led there, or why not."""

    url: str | None
    reason: Reason


@dataclass(frozen=True, slots=True)
class Walk:
    """How far a walk through a feed's archives has come, as JSON values, so that any worker can go on with it.

    `visited` are keys (`visit_key`) of the documents read, the current one first; `documents` and `new` count the
    archive documents that were read to their end and the entries that were new in them; `readings` is how often the
    document at hand was read without coming to its end. One that fills a `gap` ends at the first known entry.
    """

    visited: tuple[str, ...] = ()
    documents: int = 0
    new: int = 0
    readings: int = 0
    gap: bool = False

    def at(self, *urls: str) -> Walk:
        """The walk with these addresses of a document, as asked for and as found, among those visited."""
        return replace(self, visited=tuple(dict.fromkeys((*self.visited, *map(visit_key, urls)))))

    def read(self, new: int, *, whole: bool) -> Walk:
        """The walk after a document, or after a part of one that has more new entries than one reading may bring."""
        whole = whole or self.readings + 1 >= MAX_READINGS  # a document that is made up anew each time has no end
        readings = 0 if whole else self.readings + 1
        return replace(self, documents=self.documents + whole, new=self.new + new, readings=readings)

    def to_record(self) -> dict[str, Any]:
        """As a task's payload keeps it."""
        record = {**asdict(self), "visited": list(self.visited)}
        return record if self.gap else {name: value for name, value in record.items() if name != "gap"}


_COUNTS: Final = ("documents", "new", "readings")


def walk_from(record: dict[str, Any]) -> Walk:
    """The walk that `to_record` wrote."""
    counts = {name: int(record.get(name, 0)) for name in _COUNTS}
    return Walk(tuple(record.get("visited", ())), **counts, gap=bool(record.get("gap")))


def visit_key(url: str) -> str:
    """The form in which `next_document` knows a visited URL again; raises InvalidUrl."""
    return canonicalize(url, keep_trailing_slash=True)


def next_document(paging: Paging, *, url: str, visited: Collection[str], limit: int = MAX_DOCUMENTS) -> Step:
    """Where a walk goes on from the document at `url`.

    `visited`: keys (`visit_key`) of the documents read so far, this one among them. A complete feed has nothing more
    (section 2). Archives come before pages: they hold still while they are walked, and pages may shift (sections 3, 4).
    """
    if paging.complete:
        return Step(None, "complete")
    target = paging.prev_archive or (None if paging.archive else paging.next)
    if not target:
        return Step(None, "end")
    if len(visited) >= limit:
        return Step(None, "limit")
    try:
        found = resolve(target, url)
        seen = visit_key(found) in visited
    except InvalidUrl:
        return Step(None, "invalid_url")
    return Step(None, "loop") if seen else Step(found, "prev_archive" if paging.prev_archive else "next")
