"""The archived days and exchanges that are deleted because of their age, and those that are kept in spite of it."""

from __future__ import annotations

import heapq
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date

LAST_FETCHES: Final = 5
"""Number of exchanges of each feed that are kept at any age, so that a feed's last fault can be examined."""


class Capture(NamedTuple):
    """One exchange in the archive; `refers_to`: fetch id of the exchange with its body, None if it has its own."""

    at: datetime
    fetch_id: str
    feed_id: str | None
    refers_to: str | None


def first_kept(today: date, keep_days: int) -> date:
    """The oldest day that is kept, so that every exchange is kept for at least `keep_days` whole days."""
    return today - timedelta(days=keep_days)


def kept_since(now: datetime, keep_days: int) -> datetime:
    """The beginning of the oldest day that is kept."""
    return datetime.combine(first_kept(now.date(), keep_days), time(), UTC)


def first_that_fits(day_bytes: Mapping[date, int], limit_bytes: int, today: date) -> date:
    """The oldest day that is kept within `limit_bytes`: newest days first, today in any case."""
    kept, used = today, 0
    for day in sorted(day_bytes, reverse=True):
        used += day_bytes[day]
        if used > limit_bytes and day < today:
            break
        kept = min(kept, day)
    return kept


def needed(captures: Iterable[Capture], kept_since: date) -> set[str]:
    """The fetch ids kept at any age: the last exchanges of each feed, and exchanges whose bodies kept ones refer to.

    Ids of exchanges that are recent enough to be kept anyway may be included. `captures` may be in any order; memory
    grows only with the number of feeds and references.
    """
    ids: set[str] = set()
    newest: dict[str, list[Capture]] = {}
    for capture in captures:
        if capture.refers_to and capture.at.date() >= kept_since:
            ids.add(capture.refers_to)
        of_feed = newest.setdefault(capture.feed_id, []) if capture.feed_id else None
        if of_feed is not None and capture not in of_feed:  # count a repeated line once
            put = heapq.heappush if len(of_feed) < LAST_FETCHES else heapq.heappushpop
            put(of_feed, capture)
    for capture in (each for of_feed in newest.values() for each in of_feed):
        ids |= {capture.fetch_id, capture.refers_to or capture.fetch_id}
    return ids
