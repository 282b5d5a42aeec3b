"""Publication times within the week, the day and the hour: counts of arrivals, and the profile computed from them.

The profile of a time is the product of three factors: of its hour of the day, its day of the week, and its twelfth of
the hour (which shows the minutes at which a program publishes). Each factor has mean 1. Times are UTC; day 0 is the
day on which the Unix epoch began, a Thursday.
"""

from __future__ import annotations

import math
import string
from bisect import bisect
from dataclasses import dataclass
from functools import lru_cache
from operator import mul
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

HOUR, DAY = 3_600.0, 86_400.0
WEEK = 7 * DAY
HOURS, DAYS, PARTS = 24, 7, 12
CELLS = HOURS + DAYS + PARTS
CELLS_BEFORE = HOURS * DAYS
"""Cells of earlier versions: the hours of the week."""
DAY_0, PART_0 = HOURS, HOURS + DAYS
PART = HOUR / PARTS

DIGITS = string.digits + string.ascii_letters + "-_"
PER_OCTAVE, NEUTRAL = 5, 36
"""Digits of the profile are logarithms: five steps double the rate, and digit 36 is the feed's mean."""
FACTOR = {digit: 2 ** ((value - NEUTRAL) / PER_OCTAVE) for value, digit in enumerate(DIGITS)}
BETWEEN = [2 ** ((value + 0.5 - NEUTRAL) / PER_OCTAVE) for value in range(len(DIGITS) - 1)]

UNIT = 4
"""Increment of a cell for one arrival; the count of a cell survives two halvings."""
HALVED_EVERY = 16 * WEEK
MAX_SUM = 500 * UNIT
"""Sum of the counts of all hours at which all counts are halved, so that a busy feed's profile follows its changes."""

KERNEL = (1 / 9, 2 / 9, 3 / 9, 2 / 9, 1 / 9)
HOUR_STRENGTH, DAY_STRENGTH, PART_STRENGTH = 1.0, 4.0, 8.0
"""Weights of the priors, in arrivals: of the likely day, of the usual days, and of a flat hour for its parts.

Arrivals come in clusters, so that several of one day or of one part of an hour are hardly more evidence than one.
"""
WORKING_DAY = (
    *(0.5, 0.34, 0.22, 0.15, 0.13, 0.14, 0.18, 0.26, 0.39, 0.61, 1.0, 1.58),
    *(2.33, 2.87, 2.68, 2.16, 1.86, 1.63, 1.31, 1.02, 0.8, 0.64, 0.6, 0.6),
)
"""Arrivals by hour of a publisher's day, over their mean; the busiest hour is 13."""
EVEN = 0.13
ZONES = (
    *(0.025, 0.109, 0.078, 0.028, 0.052, 0.107, 0.039, 0.029, 0.032, 0.011, 0.009, 0.036),
    *(0.016, 0.019, 0.009, 0.011, 0.008, 0.017, 0.015, 0.02, 0.145, 0.077, 0.068, 0.04),
)
"""Share of publishers whose arrivals are even, and of the others by the hours that their busiest hour is after 13 UTC.

Both with WORKING_DAY by expectation maximization from the arrivals of 87 public projects.
"""
ZONE_TRUST = 0.4
"""Weight of an arrival as evidence of the zone: less than 1, since arrivals come in clusters."""
NEGLIGIBLE = 100
"""Zones this many times less likely than the likeliest are left out."""
USUAL_DAYS = (1.15, 1.0, 0.55, 0.5, 1.2, 1.3, 1.3)
"""The usual days: mean profile of 75 public projects (Thursday first)."""
DAYS_IN_ZONES = [[1.0] * HOURS, *[[WORKING_DAY[hour - zone] for hour in range(HOURS)] for zone in range(HOURS)]]
LOGARITHMS = [[math.log(factor) for factor in day] for day in DAYS_IN_ZONES]
SHARES = [math.log(EVEN), *[math.log((1 - EVEN) * share) for share in ZONES]]
"""The even day and the working day of each zone, by hour (UTC), their logarithms, and those of their shares."""


def likely_day(arrivals: Sequence[float]) -> list[float]:
    """The expected profile of a publisher's day, given the arrivals in each hour (UTC).

    It is the mean of an even day and of the working days of all zones, each weighed by how well it explains the
    arrivals (Bayes' rule).
    """
    some = [(hour, count) for hour, count in enumerate(arrivals) if count]  # most hours have none
    found = [
        share + ZONE_TRUST * sum([count * logs[hour] for hour, count in some])
        for share, logs in zip(SHARES, LOGARITHMS, strict=True)
    ]
    least = max(found) - math.log(NEGLIGIBLE)
    likely = [(math.exp(one - least), day) for one, day in zip(found, DAYS_IN_ZONES, strict=True) if one > least]
    weights, days = [weight for weight, _ in likely], [day for _, day in likely]
    total = sum(weights)
    return [sum(map(mul, weights, hours)) / total for hours in zip(*days, strict=True)]


def digits(factors: Sequence[float]) -> str:
    """The nearest digits of factors, brought to mean 1."""
    mean = sum(factors) / len(factors)
    return "".join([DIGITS[bisect(BETWEEN, factor / mean)] for factor in factors])


USUAL = digits(likely_day([0.0] * HOURS)) + digits(USUAL_DAYS) + digits([1.0] * PARTS)
"""The profile of a new feed."""


@dataclass(frozen=True, slots=True)
class Week:
    """Arrivals by hour, day and part of the hour.

    `counts` has a cell for each hour, day and part, in quarters of an arrival; `weeks` is the observed time up to
    `since` (Unix seconds), in weeks; both are halved from time to time. All time after `since` was observed. `shape` is
    the profile: one digit for each cell.
    """

    since: float
    weeks: float = 0.0
    counts: tuple[int, ...] = (0,) * CELLS
    shape: str = USUAL


def cells_of(time: float) -> tuple[int, int, int]:
    """The cells of a Unix time: its hour, its day and its part of the hour."""
    return int(time // HOUR) % HOURS, DAY_0 + int(time // DAY) % DAYS, PART_0 + int(time // PART) % PARTS


def after(week: Week, times: Sequence[float], now: float) -> Week:
    """The week after new arrivals at these times (Unix seconds, ascending), with a recomputed profile."""
    counts, since, weeks = list(week.counts), week.since, week.weeks
    for time in times:
        for cell in cells_of(time):
            counts[cell] += UNIT
    if sum(counts[:DAY_0]) > MAX_SUM or now - since > HALVED_EVERY:
        counts = [count // 2 for count in counts]
        weeks, since = (weeks + max(now - since, 0.0) / WEEK) / 2, max(now, since)
    return Week(since, weeks, tuple(counts), profile(counts, since, weeks, now))


def of_hours_of_week(counts: Sequence[int], since: float, weeks: float, now: float) -> Week:
    """The week from the counts of earlier versions, which counted each hour of the week and no parts of the hour."""
    hours = [sum(counts[hour::HOURS]) for hour in range(HOURS)]
    days = [sum(counts[start : start + HOURS]) for start in range(0, CELLS_BEFORE, HOURS)]
    cells = (*hours, *days, *[0] * PARTS)
    return Week(since, weeks, cells, profile(cells, since, weeks, now))


def profile(counts: Sequence[int], since: float, weeks: float, now: float) -> str:
    """The profile: arrivals of each cell over the arrivals of an even week.

    Hours are shrunk towards the publisher's likely day, days towards the usual days and parts of an hour towards an
    even hour, since few arrivals are weak evidence. Neighbouring hours are smoothed.
    """
    arrivals = [count / UNIT for count in counts]
    total = sum(arrivals[:DAY_0])
    hours = even(total, watched(since, 7 * weeks, now, HOUR, HOURS))
    days = even(total, watched(since, weeks, now, DAY, DAYS))
    parts = [sum(arrivals[PART_0:]) / PARTS] * PARTS
    return (
        digits(shrunk(smooth(arrivals[:DAY_0]), smooth(hours), likely_day(arrivals[:DAY_0]), HOUR_STRENGTH))
        + digits(shrunk(arrivals[DAY_0:PART_0], days, USUAL_DAYS, DAY_STRENGTH))
        + digits(shrunk(arrivals[PART_0:], parts, [1.0] * PARTS, PART_STRENGTH))
    )


def watched(since: float, times: float, now: float, length: float, count: int) -> list[float]:
    """Number of times that each of `count` cells of `length` seconds was observed: `times` up to `since`, and all time
    until `now`. The first and last cell count in part.
    """
    whole, rest = divmod(max(now - since, 0.0), length * count)
    found = [times + whole] * count
    at, end = since, since + rest
    while at < end:
        until = min((at // length + 1) * length, end)
        found[int(at // length) % count] += (until - at) / length
        at = until
    return found


def even(total: float, times: list[float]) -> list[float]:
    """Arrivals expected in each cell if `total` arrivals come evenly in the observed time."""
    length = sum(times)
    return [time * total / length if length else 0.0 for time in times]


def smooth(values: list[float]) -> list[float]:
    """Values on a circle, each averaged with its neighbours."""
    a, b, c, _, _ = KERNEL
    size = len(values)
    return [
        a * (values[k - 2] + values[(k + 2) % size]) + b * (values[k - 1] + values[(k + 1) % size]) + c * values[k]
        for k in range(size)
    ]


def shrunk(counts: list[float], expected: list[float], prior: Sequence[float], strength: float) -> list[float]:
    """Counts over expected counts, with `strength` arrivals in favour of the prior (a Gamma–Poisson mean)."""
    rows = zip(counts, expected, prior, strict=True)
    return [(count + strength * before) / (due + strength) for count, due, before in rows]


class Factors(NamedTuple):
    """The factors of a profile: of the hours of the day, of the days of the week, and of the parts of an hour."""

    hours: list[float]
    days: list[float]
    parts: list[float]


@lru_cache(maxsize=1024)  # one decision needs them five times
def factors_of(shape: str) -> Factors:
    """The factors that the digits of a profile stand for."""
    found = list(map(FACTOR.__getitem__, shape))
    return Factors(found[:DAY_0], found[DAY_0:PART_0], found[PART_0:])


def mean_factor(shape: str, start: float, end: float) -> float:
    """Mean of the profile between two Unix times, by whole hours; whole weeks count as 1."""
    if end <= start:
        return 1.0
    whole, rest = divmod(end - start, WEEK)
    factors, begin = factors_of(shape), start % WEEK
    total = whole * WEEK - weighted(factors, begin) + weighted(factors, min(begin + rest, WEEK))
    if begin + rest > WEEK:
        total += weighted(factors, begin + rest - WEEK)
    return total / (end - start)


def weighted(factors: Factors, end: float) -> float:
    """Seconds from the begin of a week to `end` (at most WEEK), each weighted by the factors of its hour and day."""
    hours, days = factors.hours, factors.days
    day, time = divmod(end, DAY)
    hour, seconds = divmod(time, HOUR)
    whole_days = HOUR * sum(hours) * sum(days[: int(day)])
    return whole_days + (
        days[int(day)] * (HOUR * sum(hours[: int(hour)]) + seconds * hours[int(hour)]) if time else 0.0
    )
