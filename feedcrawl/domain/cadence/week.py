"""In which hours of the week a feed publishes: counts of 168 cells, and the profile drawn from them.

Cell 0 is the hour in which the Unix epoch began (a Thursday, 00:00 UTC). Counts and profile are strings of 168 digits
to base 64, so that they cost a sixth of a kilobyte each wherever a feed's state is kept.
"""

from __future__ import annotations

import math
import string
from dataclasses import dataclass, replace

HOUR, DAY = 3_600.0, 86_400.0
CELLS = 168
WEEK = CELLS * HOUR

DIGITS = string.digits + string.ascii_letters + "-_"
VALUE = {digit: value for value, digit in enumerate(DIGITS)}
HALVED = str.maketrans({digit: DIGITS[value // 2] for value, digit in enumerate(DIGITS)})

UNIT = 4
"""What one arrival adds to its cell: it outlives two halvings."""
HALVED_EVERY = 16 * WEEK

PER_OCTAVE, NEUTRAL = 5, 36
"""The profile's digits are logarithms: five steps double the rate, digit 36 is the feed's mean."""
FACTOR = {digit: 2 ** ((value - NEUTRAL) / PER_OCTAVE) for digit, value in VALUE.items()}
ROOT = {digit: math.sqrt(factor) for digit, factor in FACTOR.items()}
FLAT = DIGITS[NEUTRAL] * CELLS

KERNEL = (1 / 9, 2 / 9, 3 / 9, 2 / 9, 1 / 9)
HOUR_STRENGTH, DAY_STRENGTH, CELL_STRENGTH = 2.0, 3.0, 3.0
"""Arrivals' worth of trust that the hours and the days put in a flat week, and the cells in hour × day."""


@dataclass(frozen=True, slots=True)
class Week:
    """Arrivals by hour of the week.

    `counts` in quarters; `weeks` of watching up to `since` (Unix seconds), both halved from time to time; all of the
    time after `since` has been watched. `shape` is the profile, drawn at `drawn`.
    """

    since: float
    weeks: float = 0.0
    counts: str = DIGITS[0] * CELLS
    shape: str = FLAT
    drawn: float = 0.0


def cell_of(time: float) -> int:
    """The hour of the week of a Unix time."""
    return int(time // HOUR) % CELLS


def counted(week: Week, time: float) -> Week:
    """The week with one more arrival."""
    cell = cell_of(time)
    if time - week.since > HALVED_EVERY or VALUE[week.counts[cell]] + UNIT >= len(DIGITS):
        week = halved(week, time)
    digit = DIGITS[VALUE[week.counts[cell]] + UNIT]
    return replace(week, counts=week.counts[:cell] + digit + week.counts[cell + 1 :])


def halved(week: Week, now: float) -> Week:
    """The week with what is past weighing half as much."""
    weeks = (week.weeks + max(now - week.since, 0.0) / WEEK) / 2
    return replace(week, since=max(now, week.since), weeks=weeks, counts=week.counts.translate(HALVED))


def watched(week: Week, now: float) -> list[float]:
    """How many times each hour of the week has been watched, in part where it began or ended within the hour."""
    whole, rest = divmod(max(now - week.since, 0.0), WEEK)
    times = [week.weeks + whole] * CELLS
    at, end = week.since, week.since + rest
    while at < end:
        until = min((at // HOUR + 1) * HOUR, end)
        times[cell_of(at)] += (until - at) / HOUR
        at = until
    return times


def drawn(week: Week, now: float) -> Week:
    """The week with its profile drawn anew: arrivals over what a flat week would have brought.

    Hours of the day and days of the week are shrunk to 1, and each cell to its hour × its day, as few arrivals tell
    little. Neighbouring hours are smoothed.
    """
    counts = [VALUE[digit] / UNIT for digit in week.counts]
    times = watched(week, now)
    total, length = sum(counts), sum(times)
    if not total or not length:
        return replace(week, drawn=now)
    expected = [time * total / length for time in times]
    by_hour = [sum(counts[hour::24]) for hour in range(24)]
    hours = shrunk(smooth(by_hour), smooth([sum(expected[hour::24]) for hour in range(24)]), [1.0] * 24, HOUR_STRENGTH)
    by_day = [sum(counts[cell : cell + 24]) for cell in range(0, CELLS, 24)]
    days = shrunk(by_day, [sum(expected[cell : cell + 24]) for cell in range(0, CELLS, 24)], [1.0] * 7, DAY_STRENGTH)
    prior = [day * hour for day in days for hour in hours]
    cells = shrunk(smooth(counts), smooth(expected), prior, CELL_STRENGTH)
    mean = sum(cells) / CELLS
    return replace(week, shape="".join(digit_of(cell / mean) for cell in cells), drawn=now)


def smooth(values: list[float]) -> list[float]:
    """A circle of values, each averaged with its neighbours."""
    a, b, c, _, _ = KERNEL
    size = len(values)
    return [
        a * (values[k - 2] + values[(k + 2) % size]) + b * (values[k - 1] + values[(k + 1) % size]) + c * values[k]
        for k in range(size)
    ]


def shrunk(counts: list[float], expected: list[float], prior: list[float], strength: float) -> list[float]:
    """Counts over expected counts, with `strength` arrivals in favour of the prior (a Gamma–Poisson mean)."""
    rows = zip(counts, expected, prior, strict=True)
    return [(count + strength * before) / (due + strength) for count, due, before in rows]


def digit_of(factor: float) -> str:
    """The digit nearest to a factor of the profile."""
    value = NEUTRAL + round(PER_OCTAVE * math.log2(max(factor, 1e-9)))
    return DIGITS[min(max(value, 0), len(DIGITS) - 1)]


def mean_factor(shape: str, start: float, end: float) -> float:
    """The profile's mean from one Unix time to another; whole weeks count as 1."""
    whole, rest = divmod(max(end - start, 0.0), WEEK)
    total, at, stop = whole * WEEK, start, start + rest
    while at < stop:
        until = min((at // HOUR + 1) * HOUR, stop)
        total += (until - at) * FACTOR[shape[cell_of(at)]]
        at = until
    return total / (end - start) if end > start else 1.0
