"""The tempo by which a fleet keeps its budget of polls.

A wait of w seconds means 1/w polls per second, so the sum of 1/w over all feeds is the fleet's poll rate. A policy's
waits are proportional to the tempo; tempo/w is therefore a feed's poll rate at tempo 1, whatever the tempo was when w
was chosen. The sum of tempo/w is the fleet's demand, and demand divided by budget is the tempo that keeps the budget.
The tempo follows from demand and not from polls that were made, so it does not oscillate. For feeds whose wait is a
publisher's floor, tempo/w grows with the tempo; it settles within a few of their polls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from feedcrawl.domain.cadence.arrivals import batch_size, rates
from feedcrawl.domain.cadence.week import DAY, HOUR

if TYPE_CHECKING:
    from collections.abc import Iterable

    from feedcrawl.domain.cadence.values import Arrivals

SHORTEST, LONGEST = 0.2, 1_000.0
"""Bounds of the tempo; at the lower bound the shortest interval of 300 s becomes a minute."""
MIN_WAIT_SEC: Final = 1.0


class Forecast(NamedTuple):
    """Effect of a budget: polls per hour, new entries per day, and their mean delay in seconds until they are found."""

    polls_per_hour: float
    entries_per_day: float
    delay_sec: float


def demand(tempo: float, wait_sec: float) -> float:
    """A feed's demand in polls per second at tempo 1, given the wait that was chosen at this tempo."""
    return tempo / max(wait_sec, MIN_WAIT_SEC)


def tempo_for(demand_per_sec: float, polls_per_hour: float | None) -> float:
    """The tempo at which a fleet with this demand keeps its budget; 1 without a budget or before the first poll."""
    if polls_per_hour is None or demand_per_sec <= 0:
        return 1.0
    if polls_per_hour <= 0:
        return LONGEST
    return min(max(demand_per_sec * HOUR / polls_per_hour, SHORTEST), LONGEST)


def forecast(feeds: Iterable[tuple[Arrivals | None, float]], each_for: float = 1.0) -> Forecast:
    """The effect of the feeds' waits, given the estimate of each feed and its wait in seconds.

    An entry is assumed to come at a random time within a wait, so it is found after half of the wait; the delay of
    regular publishers is shorter. Each feed of a random sample stands for several, `each_for`.
    """
    polls = entries = delays = 0.0
    for known, wait_sec in feeds:
        per_day = entries_per_day(known)
        polls += HOUR / max(wait_sec, MIN_WAIT_SEC)
        entries += per_day
        delays += per_day * wait_sec / 2
    return Forecast(each_for * polls, each_for * entries, delays / entries if entries else 0.0)


def entries_per_day(known: Arrivals | None) -> float:
    """Expected new entries per day of a feed; 0 without an estimate."""
    return rates(known)[0] * batch_size(known) * DAY if known is not None else 0.0
