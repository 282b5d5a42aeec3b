"""Order and pace of feeds that are due at the same time, after an outage, by accident, or by a run that polls all now.

If all were polled at once, they would be late for hours in a random order, and due together again later. They are
spread so that the fleet polls at most at twice its usual rate; feeds with the most expected new entries come first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from feedcrawl.domain.dates import moment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

HERD: Final = 60.0
"""Feeds due at once are spread if there are more of them than this many seconds of the usual rate."""


class Due(NamedTuple):
    """A feed that is due: its interval in seconds, and the number of new entries that a poll is expected to bring."""

    feed_id: str
    interval_sec: float
    expected: float


def usual_rate(intervals_sec: Iterable[float]) -> float:
    """Polls per second of feeds with these intervals."""
    return sum(1 / max(interval, 1.0) for interval in intervals_sec)


def spread(due: Sequence[Due], rate: float) -> Iterator[tuple[str, float]]:
    """Feeds with the seconds that each waits, given the usual `rate` of all feeds in polls per second.

    The feeds with the most expected entries come first, at the usual rate; together with the polls that become due
    meanwhile this is at most twice the usual rate. A few feeds do not wait at all.
    """
    if rate <= 0 or len(due) <= HERD * rate:
        return
    order = sorted(due, key=lambda each: (-each.expected, each.interval_sec, each.feed_id))
    yield from ((each.feed_id, place / rate) for place, each in enumerate(order))


def rests(last_fetch_at: str | None, next_at: str | None, since: datetime) -> bool:
    """True if a feed or sitemap was last polled before `since` and was not due then: nothing else polls it soon.

    The texts are RFC 3339. A feed that was never polled is due already.
    """
    last, due = moment(last_fetch_at), moment(next_at)
    return last is not None and last < since and not (due and due <= since)
