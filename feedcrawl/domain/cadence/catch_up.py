"""In which order, and how fast, feeds are polled that came due together: after an outage, or by accident.

Polled all at once they would be late for hours in the order in which they happened to be due, and then come due
together again. They are spread so that the fleet is asked for no more than twice its usual rate, those first whose
poll is expected to bring most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

HERD: Final = 60.0
"""Seconds' worth of the usual rate that may be due at once without being a herd."""


class Due(NamedTuple):
    """A feed that is due: its interval in seconds, and how many new entries a poll is expected to bring."""

    feed_id: str
    interval_sec: float
    expected: float


def usual_rate(intervals_sec: Iterable[float]) -> float:
    """Polls per second that feeds with these intervals come to."""
    return sum(1 / max(interval, 1.0) for interval in intervals_sec)


def spread(due: Sequence[Due], rate: float) -> Iterator[tuple[str, float]]:
    """The feeds with the seconds that each shall wait, given the usual `rate` of all feeds in polls per second.

    Best first, at the usual rate: together with the polls that come due meanwhile that is twice the usual rate at
    most. A handful waits for nothing.
    """
    if rate <= 0 or len(due) <= HERD * rate:
        return
    order = sorted(due, key=lambda each: (-each.expected, each.interval_sec, each.feed_id))
    yield from ((each.feed_id, place / rate) for place, each in enumerate(order))
