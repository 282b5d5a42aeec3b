"""Where a feed continues: archives and pages (RFC 5005), `next_url` (JSON Feed 1.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.urls import canonicalize, resolve

if TYPE_CHECKING:
    from collections.abc import Collection

    from feedcrawl.domain.models import Paging

MAX_DOCUMENTS: Final = 100  # of one walk

Reason = Literal["prev_archive", "next", "complete", "end", "loop", "limit", "invalid_url"]


@dataclass(frozen=True, slots=True)
class Step:
    """The document to fetch next, or None where the walk ends; `reason` says which relation led there, or why not."""

    url: str | None
    reason: Reason


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
