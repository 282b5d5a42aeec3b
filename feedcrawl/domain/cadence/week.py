"""Publication times by hour of the week: counts of 168 cells, and the profile computed from them.

Cell 0 is the hour in which the Unix epoch began (a Thursday, 00:00 UTC). Counts and profile are strings of 168 digits
in base 64, so that each takes 168 bytes in a feed's stored state.
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
"""Increment of a cell for one arrival; it survives two halvings."""
HALVED_EVERY = 16 * WEEK

PER_OCTAVE, NEUTRAL = 5, 36
"""Digits of the profile are logarithms: five steps double the rate, and digit 36 is the feed's mean."""
FACTOR = {digit: 2 ** ((value - NEUTRAL) / PER_OCTAVE) for digit, value in VALUE.items()}
ROOT = {digit: math.sqrt(factor) for digit, factor in FACTOR.items()}
FLAT = DIGITS[NEUTRAL] * CELLS

KERNEL = (1 / 9, 2 / 9, 3 / 9, 2 / 9, 1 / 9)
HOUR_STRENGTH, DAY_STRENGTH, CELL_STRENGTH = 2.0, 3.0, 3.0
"""Weights of the priors, in arrivals: of a flat week for hours and days, and of hour × day for cells."""


@dataclass(frozen=True, slots=True)
class Week:
    """Arrivals by hour of the week.

    `counts` are in quarters; `weeks` is the observed time up to `since` (Unix seconds), in weeks; both are halved from
    time to time. All time after `since` was observed. `shape` is the profile, computed at `drawn`.
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
    """The week with all past counts halved."""
    weeks = (week.weeks + max(now - week.since, 0.0) / WEEK) / 2
    return replace(week, since=max(now, week.since), weeks=weeks, counts=week.counts.translate(HALVED))


def watched(week: Week, now: float) -> list[float]:
    """Number of times that each hour of the week was observed; the first and last hour count in part."""
    whole, rest = divmod(max(now - week.since, 0.0), WEEK)
    times = [week.weeks + whole] * CELLS
    at, end = week.since, week.since + rest
    while at < end:
        until = min((at // HOUR + 1) * HOUR, end)
        times[cell_of(at)] += (until - at) / HOUR
        at = until
    return times


def drawn(week: Week, now: float) -> Week:
    """The week with a recomputed profile: arrivals divided by the arrivals of a flat week.

    Hours of the day and days of the week are shrunk towards 1, and each cell towards its hour × its day, since few
    arrivals are weak evidence. Neighbouring hours are smoothed.
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
    """Values on a circle, each averaged with its neighbours."""
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
    """Mean of the profile between two Unix times; whole weeks count as 1."""
    if end <= start or shape == FLAT:
        return 1.0
    whole, rest = divmod(end - start, WEEK)
    stop = start + rest
    first, last = int(start // HOUR), int(stop // HOUR)
    if first == last:
        part = rest * FACTOR[shape[first % CELLS]]
    else:
        between = (first + 1) % CELLS
        hours = (shape + shape)[between : between + last - first - 1]
        part = HOUR * sum(map(FACTOR.__getitem__, hours))
        part += ((first + 1) * HOUR - start) * FACTOR[shape[first % CELLS]]
        part += (stop - last * HOUR) * FACTOR[shape[last % CELLS]]
    return (whole * WEEK + part) / (end - start)
