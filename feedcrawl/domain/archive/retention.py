"""What may go because of its age, and what stays in spite of it."""

from __future__ import annotations

import heapq
from datetime import timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date, datetime

LAST_FETCHES: Final = 5
"""Of each feed, which stay however old they are: what was wrong with it can then still be seen."""


class Capture(NamedTuple):
    """One exchange in the archive; `refers_to` is the one that holds its bytes, where it has none of its own."""

    at: datetime
    fetch_id: str
    feed_id: str | None
    refers_to: str | None


def first_kept(today: date, keep_days: int) -> date:
    """The oldest day that is kept: whatever is of it was there for `keep_days` whole days at least."""
    return today - timedelta(days=keep_days)


def first_that_fits(day_bytes: Mapping[date, int], limit_bytes: int, today: date) -> date:
    """The oldest day that is kept where `limit_bytes` are: newest days first, today in any case."""
    kept, used = today, 0
    for day in sorted(day_bytes, reverse=True):
        used += day_bytes[day]
        if used > limit_bytes and day < today:
            break
        kept = min(kept, day)
    return kept


def needed(captures: Iterable[Capture], kept_since: date) -> set[str]:
    """The fetch ids that stay though they may be older: the last of each feed, and the bytes that kept ones refer to.

    Others among what is kept may be named too. In any order; memory grows with feeds and references alone.
    """
    ids: set[str] = set()
    newest: dict[str, list[Capture]] = {}
    for capture in captures:
        if capture.refers_to and capture.at.date() >= kept_since:
            ids.add(capture.refers_to)
        of_feed = newest.setdefault(capture.feed_id, []) if capture.feed_id else None
        if of_feed is not None and capture not in of_feed:  # one that stands twice is one
            put = heapq.heappush if len(of_feed) < LAST_FETCHES else heapq.heappushpop
            put(of_feed, capture)
    for capture in (each for of_feed in newest.values() for each in of_feed):
        ids |= {capture.fetch_id, capture.refers_to or capture.fetch_id}
    return ids
