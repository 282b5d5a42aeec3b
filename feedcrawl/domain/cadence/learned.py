"""The learned policy: polls are spent where they find the most entries, at one price for all feeds.

For arrivals at rate r, a poll density proportional to √r gives the least total delay for a given number of polls. The
next poll is therefore due when the integral of √r(t) × price reaches 1. `tempo` is the price: at 1 a feed with one
entry a day is polled once an hour. `fairness` f weighs a feed's entries by their rate to the power of −f.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from feedcrawl.domain.cadence.arrivals import SCALES, Arrivals, batch_size, learn, rates
from feedcrawl.domain.cadence.baseline import step
from feedcrawl.domain.cadence.timetable import Timetable, fitted, next_slot
from feedcrawl.domain.cadence.values import Candidate, Proposal
from feedcrawl.domain.cadence.week import DAY, FACTOR, HOUR, ROOT, WEEK, cell_of

if TYPE_CHECKING:
    from datetime import datetime

    from feedcrawl.domain.cadence.values import CadencePolicy, Observation, PollState

WINDOW_SHARE = 0.5
FADING = tuple(math.exp(-HOUR / scale) for scale in SCALES[1:])
LATE_SEC, LATE_SHARE = 30.0, 0.02


class Worth(NamedTuple):
    """Value of a feed: `density` × √(arrivals per second) is its polls per second; `room` is the number of arrivals
    that may come between two polls before one is lost.
    """

    density: float
    room: float


def propose(state: PollState, seen: Observation, now: datetime, policy: CadencePolicy) -> Proposal:
    """The wait after a successful poll."""
    known = learn(state.arrivals, seen, now)
    due = rates(known)
    worth = worth_of(known, due, policy)
    table = fitted(known.recent, known.period)
    candidates = timed(known, due, worth, table) if table else paced(known, due, worth)
    candidates += cautions(state, seen, known, policy)
    earliest, latest = limits(policy)
    wait = min(max(min(one.wait_sec for one in candidates), earliest), latest)
    return Proposal(
        replace(state, arrivals=known, interval_sec=wait / policy.tempo),
        step(seen, policy)[0],
        wait,
        candidates,
        earliest_sec=earliest,
        latest_sec=latest,
        spread_sec=min(LATE_SEC, LATE_SHARE * wait) if table else wait * policy.jitter_ratio,
        late_only=table is not None,
    )


def limits(policy: CadencePolicy) -> tuple[float, float]:
    """The shortest and the longest wait; a tempo other than 1 widens this range and never narrows it."""
    return policy.min_interval_sec * min(policy.tempo, 1.0), policy.max_interval_sec * max(policy.tempo, 1.0)


def cautions(state: PollState, seen: Observation, known: Arrivals, policy: CadencePolicy) -> tuple[Candidate, ...]:
    """Upper limits of the wait for feeds whose estimate is not reliable.

    A feed without any dated entry starts with the initial interval. A document that shows no known entry may have lost
    some: the next wait is half as long.
    """
    before = state.arrivals
    if before is None:
        return () if known.counts[0] else (Candidate("initial", policy.initial_interval_sec * policy.tempo),)
    lost = seen.new_entries > 0 and seen.known_entries <= 0
    return (Candidate("overrun", (known.at - before.at) / 2),) if lost else ()


def worth_of(known: Arrivals, due: list[float], policy: CadencePolicy) -> Worth:
    """The value of a feed, by its weight in the fleet's polls."""
    size = batch_size(known)
    weight = (due[0] * size * DAY) ** -policy.fairness
    return Worth(math.sqrt(size * weight * DAY) / (policy.tempo * HOUR), WINDOW_SHARE * known.window / size)


def paced(known: Arrivals, due: list[float], worth: Worth, share: float = 1.0) -> tuple[Candidate, ...]:
    """Seconds until the integral of the density reaches 1, or until the expected arrivals fill the window's share.

    Only `share` of the arrivals count. The excess rate of a shorter scale fades with that scale's time constant.
    """
    shape, cell = known.week.shape, cell_of(known.at)
    target, room = 1.0 / (worth.density * math.sqrt(share)), worth.room / share
    excess = [later - earlier for earlier, later in pairwise(due)]
    length, passed = HOUR - known.at % HOUR, 0.0
    while passed < WEEK:
        level = due[0] + sum(excess)
        slope, flow = math.sqrt(level) * ROOT[shape[cell]], level * FACTOR[shape[cell]]
        if slope * length >= target or flow * length >= room:
            rule = "rate" if target * flow <= room * slope else "window"
            return (Candidate(rule, passed + min(target / slope, room / flow)),)
        target -= slope * length
        room -= flow * length
        passed += length
        excess = [part * fade for part, fade in zip(excess, FADING, strict=True)]
        cell, length = (cell + 1) % len(shape), HOUR
    return (Candidate("rate", WEEK),)


def timed(known: Arrivals, due: list[float], worth: Worth, table: Timetable) -> tuple[Candidate, ...]:
    """Seconds until just after the next arrival of the timetable, or until irregular arrivals are worth a poll."""
    slot = next_slot(table, known.at, known.newest, price=0.5 / worth.density**2)
    return (Candidate("timetable", slot), *paced(known, due, worth, 1.0 - table.trust))
