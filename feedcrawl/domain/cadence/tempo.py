"""The tempo by which a fleet keeps its budget of polls.

A wait of w seconds is one poll in w: the sum of 1/w over all feeds is the number of polls per second. Waits that a
policy chooses are proportional to the tempo, so tempo/w is what a feed asks for at tempo 1, whatever the tempo was
when its wait was chosen; the sum over the feeds is the fleet's demand, and demand over budget is the tempo that keeps
the budget. It follows from what feeds ask for and not from the polls that were done, so that it cannot swing. Of feeds
that a publisher's floor holds, tempo/w grows with the tempo: theirs is settled in a few of their polls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from feedcrawl.domain.cadence.arrivals import batch_size, rates
from feedcrawl.domain.cadence.week import DAY, HOUR

if TYPE_CHECKING:
    from collections.abc import Iterable

    from feedcrawl.domain.cadence.arrivals import Arrivals

SHORTEST, LONGEST = 0.2, 1_000.0
"""Bounds of the tempo: no budget makes the shortest interval of 300 s shorter than a minute."""
MIN_WAIT_SEC: Final = 1.0


class Foretold(NamedTuple):
    """What a budget buys: polls per hour, new entries per day, and their mean delay until found, in seconds."""

    polls_per_hour: float
    entries_per_day: float
    delay_sec: float


def demand(tempo: float, wait_sec: float) -> float:
    """What a feed asks for, in polls per second at tempo 1, given the wait that was chosen at this tempo."""
    return tempo / max(wait_sec, MIN_WAIT_SEC)


def tempo_for(demand_per_sec: float, polls_per_hour: float | None) -> float:
    """The tempo at which a fleet with this demand keeps its budget; 1 without one or before anything was polled."""
    if polls_per_hour is None or demand_per_sec <= 0:
        return 1.0
    if polls_per_hour <= 0:
        return LONGEST
    return min(max(demand_per_sec * HOUR / polls_per_hour, SHORTEST), LONGEST)


def foretold(feeds: Iterable[tuple[Arrivals | None, float]]) -> Foretold:
    """What the waits of feeds come to, given what is known of each and its wait in seconds.

    An entry comes at any moment of a wait alike, so it is found after half of it; regular publishers do better.
    """
    polls = entries = delays = 0.0
    for known, wait_sec in feeds:
        per_day = entries_per_day(known)
        polls += HOUR / max(wait_sec, MIN_WAIT_SEC)
        entries += per_day
        delays += per_day * wait_sec / 2
    return Foretold(polls, entries, delays / entries if entries else 0.0)


def entries_per_day(known: Arrivals | None) -> float:
    """New entries per day that a feed is expected to bring; 0 where nothing is known of it."""
    return rates(known)[0] * batch_size(known) * DAY if known is not None else 0.0
