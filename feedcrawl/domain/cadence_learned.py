"""The learned policy: polls go where they find most, at one price for all feeds.

For arrivals at rate r a poll density of √r makes the sum of all delays least for a given number of polls; so the next
poll comes when the integral of √r(t) × price has reached one. `tempo` is the price: at 1 a feed with one entry a day is
polled once an hour. `fairness` f weighs a feed's entries by their rate to the power of −f.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from feedcrawl.domain.arrivals import SCALES, Arrivals, batch_size, learn, rates
from feedcrawl.domain.cadence_baseline import step
from feedcrawl.domain.cadence_values import Candidate, Proposal
from feedcrawl.domain.timetable import Timetable, fitted, next_slot
from feedcrawl.domain.week import DAY, FACTOR, HOUR, ROOT, WEEK, cell_of

if TYPE_CHECKING:
    from datetime import datetime

    from feedcrawl.domain.cadence_values import CadencePolicy, Observation, PollState

WINDOW_SHARE = 0.5
FADING = tuple(math.exp(-HOUR / scale) for scale in SCALES[1:])
LATE_SEC = 30.0


class Worth(NamedTuple):
    """What a feed is worth: `density` × √(arrivals per second) is its polls per second; `room` how many arrivals may be
    let come between two polls without losing one.
    """

    density: float
    room: float


def propose(state: PollState, seen: Observation, now: datetime, policy: CadencePolicy) -> Proposal:
    """The wait after a successful poll."""
    before = state.arrivals
    known = learn(before, seen, now)
    expected = rates(known)
    worth = worth_of(known, expected, policy)
    table = fitted(known.recent, known.period)
    wait, candidates = timed(known, expected, worth, table) if table else paced(known, expected, worth)
    if before is not None and seen.new_entries and not seen.known_entries:
        wait = min(wait, (known.at - before.at) / 2)
        candidates += (Candidate("overrun", wait),)
    earliest, latest = (
        policy.min_interval_sec * min(policy.tempo, 1.0),
        policy.max_interval_sec * max(policy.tempo, 1.0),
    )
    wait = min(max(wait, earliest), latest)
    return Proposal(
        replace(state, arrivals=known, interval_sec=wait / policy.tempo),
        step(seen, policy)[0],
        wait,
        candidates,
        earliest_sec=earliest,
        latest_sec=latest,
        spread_sec=min(LATE_SEC, 0.02 * wait) if table else wait * policy.jitter_ratio,
        late_only=table is not None,
    )


def worth_of(known: Arrivals, expected: list[float], policy: CadencePolicy) -> Worth:
    """The feed's part of the polls."""
    size = batch_size(known)
    weight = (expected[0] * size * DAY) ** -policy.fairness
    return Worth(math.sqrt(size * weight * DAY) / (policy.tempo * HOUR), WINDOW_SHARE * known.window / size)


def paced(
    known: Arrivals, expected: list[float], worth: Worth, share: float = 1.0
) -> tuple[float, tuple[Candidate, ...]]:
    """Seconds until the integral of the density reaches one, or expected arrivals fill the window's share."""
    time, shape = known.at, known.week.shape
    target, room = 1.0 / (worth.density * math.sqrt(share)), worth.room / share
    excess = [later - earlier for earlier, later in pairwise(expected)]
    length, passed = HOUR - time % HOUR, 0.0
    cell = cell_of(time)
    while passed < WEEK:
        level = expected[0] + sum(excess)
        slope, flow = math.sqrt(level) * ROOT[shape[cell]], level * FACTOR[shape[cell]]
        if slope * length >= target or flow * length >= room:
            wait = passed + min(target / slope, room / flow)
            return wait, (Candidate("rate" if target / slope <= room / flow else "window", wait),)
        target -= slope * length
        room -= flow * length
        passed += length
        excess = [part * fade for part, fade in zip(excess, FADING, strict=True)]
        cell, length = (cell + 1) % len(shape), HOUR
    return WEEK, (Candidate("rate", WEEK),)


def timed(
    known: Arrivals, expected: list[float], worth: Worth, table: Timetable
) -> tuple[float, tuple[Candidate, ...]]:
    """Seconds until just after the next arrival that the timetable promises, or until strays are worth a poll."""
    slot = next_slot(table, known.at, known.newest, price=0.5 / worth.density**2)
    stray, candidates = paced(known, expected, worth, 1.0 - table.trust)
    return min(slot, stray), (*candidates, Candidate("timetable", slot))
