"""The learned policy: polls are spent where they find the most entries, at one price for all feeds.

For arrivals at rate r, a poll density proportional to √r gives the least total delay for a given number of polls:
evenly, the next poll is due when the integral of √r(t) × density reaches 1. This is the usual wait. The next poll is
the first one of the plan for twice the usual wait that costs least, at the rates of the hours and of their parts.
`tempo` is the price of a poll: at 1 a feed with one entry a day is polled about once an hour. `fairness` f weighs a
feed's entries by their rate to the power of −f.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from feedcrawl.domain.cadence.arrivals import batch_size, dates, expected_by, hourly, learn, lull, peak, rates
from feedcrawl.domain.cadence.baseline import step
from feedcrawl.domain.cadence.plan import first_poll
from feedcrawl.domain.cadence.timetable import Timetable, fitted, has_lapsed, next_slot
from feedcrawl.domain.cadence.values import Candidate, Proposal
from feedcrawl.domain.cadence.week import DAY, HOUR, WEEK

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from feedcrawl.domain.cadence.values import Arrivals, CadencePolicy, Observation, PollState

WINDOW_SHARE = 0.4
BURST_GAPS, BURST_SHARE = (2, 3, 4, 5), 0.5
"""Numbers of last gaps between entries that show the speed of a burst, and the share of the window that it may fill.

The first entries of a burst follow a silence, which hides the speed in a longer row of gaps.
"""
POINTS = 12
SPAN = 2.0
"""A plan has POINTS moments over SPAN usual waits; more points find entries no sooner."""
LONGEST_SEC = 3 * DAY
"""Longest usual wait for which a plan is made: its moments lie within the week of `hourly`."""
BUSY = 0.5
"""Largest share of the time that lulls are believed to take."""
LATE_SEC, LATE_SHARE = 30.0, 0.02
PLANNED_JITTER = 1 / 3
"""Share of the policy's jitter that a planned wait gets: more would move the poll away from its moment."""


class Worth(NamedTuple):
    """Value of a feed: `density` × √(arrivals per second) is its polls per second; `room` is the number of arrivals
    that may come between two polls before one is lost.
    """

    density: float
    room: float

    @property
    def price(self) -> float:
        """Cost of a poll, in seconds of delay of one arrival, at which a poll is due when the integral reaches 1."""
        return 0.5 / self.density**2


def propose(state: PollState, seen: Observation, now: datetime, policy: CadencePolicy) -> Proposal:
    """The wait after a successful poll."""
    known = learn(state.arrivals, seen, now)
    due = rates(known)
    worth = worth_of(known, due, policy)
    table = fitted(known.recent, known.period)
    if table and has_lapsed(table, known.recent, known.at):
        table = None
    candidates = timed(known, due, worth, table) if table else untimed(known, due, worth)
    candidates += cautions(state, seen, known, policy)
    if seen.new_entries:
        planned = min(one.wait_sec for one in candidates)
        candidates += in_burst(dates(seen, now), known.window, known.at, planned)
    earliest, latest = limits(policy)
    wait = min(max(min(one.wait_sec for one in candidates), earliest), latest)
    return Proposal(
        replace(state, arrivals=known, interval_sec=wait / policy.tempo),
        step(seen, policy)[0],
        wait,
        candidates,
        earliest_sec=earliest,
        latest_sec=latest,
        spread_sec=min(LATE_SEC, LATE_SHARE * wait) if table else wait * policy.jitter_ratio * PLANNED_JITTER,
        late_only=table is not None,
    )


def limits(policy: CadencePolicy) -> tuple[float, float]:
    """The shortest and the longest wait; a tempo other than 1 widens this range and never narrows it."""
    return policy.min_interval_sec * min(policy.tempo, 1.0), policy.max_interval_sec * max(policy.tempo, 1.0)


def cautions(state: PollState, seen: Observation, known: Arrivals, policy: CadencePolicy) -> tuple[Candidate, ...]:
    """Upper limits of the wait for feeds whose estimate is not reliable.

    A feed whose first document has no two dates apart starts with the initial interval. A document that shows no known
    entry may have lost some: the next wait is half as long.
    """
    before = state.arrivals
    if before is None:
        return () if known.counts[0] else (Candidate("initial", policy.initial_interval_sec * policy.tempo),)
    lost = seen.new_entries > 0 and seen.known_entries <= 0
    return (Candidate("overrun", (known.at - before.at) / 2),) if lost else ()


def in_burst(times: Sequence[float], window: int, now: float, within_sec: float) -> tuple[Candidate, ...]:
    """The wait until BURST_SHARE of the window is new, if entries go on coming as fast as the last gaps did.

    The fastest of the rows of BURST_GAPS counts. A burst has ended for a row of gaps when no entry came for as long as
    these gaps took together; entries of one date show no speed. Nothing if the wait is not shorter than `within_sec`.
    `times` are the document's dates in ascending order, up to `now` (Unix seconds).
    """
    wait = within_sec
    for gaps in BURST_GAPS:
        if gaps >= len(times):
            break
        took = times[-1] - times[-1 - gaps]
        if now - times[-1] < took:
            wait = min(wait, BURST_SHARE * window * took / gaps)
    return (Candidate("burst", wait),) if wait < within_sec else ()


def worth_of(known: Arrivals, due: list[float], policy: CadencePolicy) -> Worth:
    """The value of a feed, by its weight in the fleet's polls."""
    size = batch_size(known)
    weight = (due[0] * size * DAY) ** -policy.fairness
    return Worth(math.sqrt(size * weight * DAY) / (policy.tempo * HOUR), WINDOW_SHARE * known.window / size)


def untimed(known: Arrivals, due: list[float], worth: Worth) -> tuple[Candidate, ...]:
    """The wait of a feed without a timetable: the first poll of the cheapest plan, before its window is full."""
    step = SPAN * min(paced(known, due, worth.density), LONGEST_SEC) / POINTS
    counts, price, pause = expected_by(known, due, step, POINTS), worth.price, lull(known)
    if pause:
        counts = after_lull(counts, (known.recent[-1] + pause - known.at) / step)
        price *= 1 - min(due[0] * pause, BUSY)  # the arrivals come in the rest of the time, at a higher rate
    weights = [later - earlier for earlier, later in pairwise(counts)]
    wait = step * (1 + first_poll([step * k for k in range(POINTS)], weights, price))
    return (Candidate("rate", wait), *filled(known, due, worth.room, wait))


def after_lull(counts: list[float], end: float) -> list[float]:
    """The counts without arrivals before the end of a lull, given in steps."""
    if end <= 0:
        return counts
    whole = min(int(end), POINTS - 1)
    before = counts[whole] + min(end - whole, 1.0) * (counts[whole + 1] - counts[whole])
    return [max(count, before) for count in counts]


def timed(known: Arrivals, due: list[float], worth: Worth, table: Timetable) -> tuple[Candidate, ...]:
    """Waits until just after the next arrival of the timetable, and until irregular arrivals are worth a poll."""
    slot = next_slot(table, known.at, known.newest, worth.price)
    irregular = 1.0 - table.trust
    stray = paced(known, due, worth.density * math.sqrt(irregular))
    full = filled(known, due, worth.room / irregular, min(slot, stray))
    return (Candidate("timetable", slot), Candidate("rate", stray), *full)


def paced(known: Arrivals, due: list[float], density: float) -> float:
    """Seconds until the integral of `density` × √(arrivals per second) reaches 1; a week at most."""
    target, passed = 1.0 / density, 0.0
    for length, flow in hourly(known, due):
        root = math.sqrt(flow)
        if root * length >= target:
            return passed + target / root
        target -= root * length
        passed += length
    return WEEK


def filled(known: Arrivals, due: list[float], room: float, within_sec: float) -> tuple[Candidate, ...]:
    """The wait until the expected arrivals fill `room`, if that is shorter than `within_sec`.

    Hours that are usually quiet count like the mean hour: a burst may come at any time.
    """
    if peak(known, due) * within_sec < room:
        return ()
    passed = 0.0
    for length, flow in hourly(known, due):
        rate = max(flow, due[0])
        if rate * length >= room:
            wait = passed + room / rate
            return (Candidate("window", wait),) if wait < within_sec else ()
        room -= rate * length
        passed += length
        if passed >= within_sec:
            break
    return ()
