"""The further documents of a feed: archives and pages (RFC 5005), `next_url` (JSON Feed 1.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.urls import canonicalize, resolve

if TYPE_CHECKING:
    from collections.abc import Collection

    from feedcrawl.domain.frontier.payloads import Payload
    from feedcrawl.domain.models import Paging

MAX_READINGS: Final = 5  # of one document that has more new entries than one reading may store

Reason = Literal["prev_archive", "next", "complete", "end", "loop", "limit", "invalid_url", "overlap"]


@dataclass(frozen=True, slots=True)
class Step:
    """The URL of the next document, None if the walk ends; `reason`: the relation followed, or why the walk ends."""

    url: str | None
    reason: Reason


@dataclass(frozen=True, slots=True)
class Walk:
    """The progress of a walk through a feed's archives, as JSON values, so that any worker can continue the walk.

    `visited`: keys (`visit_key`) of the documents read, including the current one. `documents` and `new`: archive
    documents read to their end, and new entries in them. `readings`: how often the current document was read without
    reaching its end. `gap`: True if the walk fills a gap between two polls; such a walk ends at the first known entry.
    """

    visited: tuple[str, ...] = ()
    documents: int = 0
    new: int = 0
    readings: int = 0
    gap: bool = False

    def at(self, *urls: str) -> Walk:
        """The walk with these URLs of one document, as requested and after redirects, added to the visited ones."""
        return replace(self, visited=tuple(dict.fromkeys((*self.visited, *map(visit_key, urls)))))

    def read(self, new: int, *, whole: bool) -> Walk:
        """The walk after one reading of a document. `whole`: True if all its new entries fitted into the reading."""
        whole = whole or self.readings + 1 >= MAX_READINGS  # a document generated anew at each request never ends
        readings = 0 if whole else self.readings + 1
        return replace(self, documents=self.documents + whole, new=self.new + new, readings=readings)

    def to_record(self) -> Payload:
        """The walk as JSON values for a task's payload."""
        record: Payload = {
            "visited": list(self.visited),
            "documents": self.documents,
            "new": self.new,
            "readings": self.readings,
        }
        if self.gap:
            record["gap"] = True
        return record


def walk_from(record: Payload) -> Walk:
    """The walk that `to_record` wrote."""
    return Walk(
        visited=tuple(record.get("visited", ())),
        documents=record.get("documents", 0),
        new=record.get("new", 0),
        readings=record.get("readings", 0),
        gap=record.get("gap", False),
    )


def visit_key(url: str) -> str:
    """The form in which visited URLs are compared. Raises InvalidUrl."""
    return canonicalize(url, keep_trailing_slash=True)


def next_document(paging: Paging, *, url: str, visited: Collection[str], limit: int) -> Step:
    """The next step of a walk from the document at `url`.

    `visited`: keys (`visit_key`) of the documents read so far, including this one. A complete feed has no further
    documents (RFC 5005 section 2). Archives are preferred to pages: archives do not change while they are walked, pages
    may shift (sections 3 and 4).
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
