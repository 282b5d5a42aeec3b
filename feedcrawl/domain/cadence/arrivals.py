"""The rate at which a feed publishes, estimated from its polls.

Entries that appear together are one arrival (a batch). Arrivals are counted with exponential forgetting on four time
scales; the rate of each scale is a Gamma–Poisson estimate whose prior is the rate of the next longer scale. A new feed
therefore starts from the average feed, a burst is noticed at once, and the rate of a feed that has ended fades.
"""

from __future__ import annotations

import math
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from feedcrawl.domain.cadence.timetable import MIN_ARRIVALS, find_period
from feedcrawl.domain.cadence.values import SCALES_SEC, SMALLEST_WINDOW, Arrivals
from feedcrawl.domain.cadence.week import DAY, DAYS, HOUR, HOURS, PART, WEEK, Week, after, factors_of, mean_factor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from feedcrawl.domain.cadence.values import Observation

STRENGTHS = (0.5, 1.0, 1.5, 1.0)
"""Weight of each scale's prior, in arrivals; the longest scale's prior is PRIOR_RATE."""
PRIOR_RATE = 0.25 / DAY
BATCH_GAP_SEC = 600.0
"""Entries that come within this time of each other are one arrival."""
RECENT = 16
"""Number of last arrivals whose times are kept."""
FADING = tuple(math.exp(-HOUR / scale) for scale in SCALES_SEC[1:])
"""Share of the excess rate of each shorter scale that is left after an hour."""
LULL = 0.8
"""Share of the shortest recent gap in which no arrival is expected."""
LONGEST_DOCUMENT = 500
"""Most entries of a document that are counted."""


def begun(seen: Observation, now: datetime) -> Arrivals:
    """The estimate of a new feed, observed since the oldest date of its first document, or since now."""
    origin = min(dates(seen, now), default=now.timestamp())
    return Arrivals(origin, newest=origin, week=Week(origin))


def dates(seen: Observation, now: datetime) -> list[float]:
    """The document's dates in ascending order, without future dates (Unix seconds)."""
    return sorted(date.timestamp() for date in seen.published if date <= now)


def learn(before: Arrivals | None, seen: Observation, now: datetime) -> Arrivals:
    """The estimate after a successful poll.

    All dates of a feed's first document count, except its oldest batch, with which the observation began.
    """
    known = before or begun(seen, now)
    starts, newest, entries = [], known.newest, 0
    for time in arrival_times(before, seen, now) if before else dates(seen, now)[-LONGEST_DOCUMENT:]:
        if time - newest > BATCH_GAP_SEC:
            starts.append(time)
        newest = max(newest, time)
        entries += bool(before or starts)
    at = max(now.timestamp(), known.at)
    keeps = [math.exp((known.at - at) / scale) for scale in SCALES_SEC]
    recent = (*known.recent, *starts)[-RECENT:] if starts else known.recent
    return Arrivals(
        at,
        faded(known.counts, keeps, starts, at),
        exposed(known, keeps, at),
        known.entries * keeps[0] + entries,
        newest,
        recent,
        find_period(recent) if starts else known.period,
        window_of(seen) or known.window,
        after(known.week, starts, at) if starts else known.week,
    )


def arrival_times(known: Arrivals, seen: Observation, now: datetime) -> list[float]:
    """Times at which the new entries of this poll became visible, in ascending order (Unix seconds).

    The time is the entry's date. A date before the last poll cannot be that time, since the last poll did not show the
    entry; then, and where the date is missing or in the future, the midpoint between the two polls is used.
    """
    count = min(seen.new_entries, LONGEST_DOCUMENT)
    if count <= 0:
        return []
    visible = [date for date in dates(seen, now)[-count:] if date >= known.at]
    halfway = (known.at + max(now.timestamp(), known.at)) / 2
    return sorted(visible + [halfway] * (count - len(visible)))


def window_of(seen: Observation) -> int:
    """Number of entries that the document shows at a time; 0 if no document was read. A short document may only be
    young.
    """
    size = seen.new_entries + seen.known_entries
    return max(size, SMALLEST_WINDOW) if size > 0 else 0


def faded(counts: tuple[float, ...], keeps: list[float], starts: list[float], at: float) -> tuple[float, ...]:
    """Arrival counts of each scale after fading by the factors `keeps`, plus the new arrivals."""
    kept = tuple([count * keep for count, keep in zip(counts, keeps, strict=True)])
    if not starts:
        return kept
    new = [sum([math.exp((start - at) / scale) for start in starts]) for scale in SCALES_SEC]
    return tuple([count + more for count, more in zip(kept, new, strict=True)])


def exposed(known: Arrivals, keeps: list[float], at: float) -> tuple[float, ...]:
    """Observed seconds on each scale; an hour of the week counts as much as the profile expects of that hour."""
    mean = mean_factor(known.week.shape, known.at, at)
    rows = zip(known.exposure, SCALES_SEC, keeps, strict=True)
    return tuple([time * keep + mean * scale * (1 - keep) for time, scale, keep in rows])


def rates(known: Arrivals) -> list[float]:
    """Estimated arrivals per second on each scale, the longest scale first."""
    found, rate = [], PRIOR_RATE
    for count, time, strength in zip(known.counts, known.exposure, STRENGTHS, strict=True):
        rate = (count + strength) / (time + strength / rate)
        found.append(rate)
    return found


def expected(known: Arrivals, since: float, until: float) -> float:
    """Expected number of arrivals between two Unix times, by the long-term rate and the profile of the week."""
    return rates(known)[0] * mean_factor(known.week.shape, since, until) * max(until - since, 0.0)


def hourly(known: Arrivals, due: list[float]) -> Iterator[tuple[float, float]]:
    """Seconds and expected arrivals per second of each clock hour of the next week, the first hour from `known.at` on.

    `due` are the `rates`; the excess rate of a shorter scale fades with that scale's time constant.
    """
    hours, days, _ = factors_of(known.week.shape)
    hour = int(known.at // HOUR)
    length, end = HOUR * (hour + 1) - known.at, (known.at + WEEK) / HOUR
    long, first, second, third = due[0], due[1] - due[0], due[2] - due[1], due[3] - due[2]
    fade_1, fade_2, fade_3 = FADING
    while hour < end:
        yield length, (long + first + second + third) * (hours[hour % HOURS] * days[hour // HOURS % DAYS])
        hour += 1
        length = HOUR
        first, second, third = first * fade_1, second * fade_2, third * fade_3


def expected_by(known: Arrivals, due: list[float], step: float, count: int) -> list[float]:
    """Arrivals expected from `known.at` until 0, 1, … `count` steps of `step` seconds later; within a week."""
    parts = factors_of(known.week.shape).parts
    shares, factors = list(accumulate(parts, initial=0.0)), [*parts, 0.0]
    even = HOUR / shares[-1]
    hours = hourly(known, due)
    length, flow = next(hours)
    begin = length - HOUR  # of the hour, in seconds after `known.at`
    part = int(-begin / PART)
    before = -flow * even * (shares[part] - (begin / PART + part) * factors[part])
    found = []
    for moment in [step * k for k in range(count + 1)]:
        while moment > begin + HOUR:
            before += flow * HOUR
            begin += HOUR
            _, flow = next(hours)
        place = (moment - begin) / PART
        part = int(place)
        found.append(before + flow * even * (shares[part] + (place - part) * factors[part]))
    return found


def peak(known: Arrivals, due: list[float]) -> float:
    """An upper bound of the arrivals per second of `hourly`."""
    factors = factors_of(known.week.shape)
    return max(due) * max(max(factors.hours) * max(factors.days), 1.0)


def lull(known: Arrivals) -> float:
    """Seconds after an arrival in which no other is expected: most of the shortest gap between the last arrivals.

    0 if there are too few arrivals to know a shortest gap.
    """
    if len(known.recent) < MIN_ARRIVALS:
        return 0.0
    return LULL * min([later - earlier for earlier, later in pairwise(known.recent)])


def batch_size(known: Arrivals) -> float:
    """Entries per arrival, shrunk towards 1."""
    return (known.entries + 1) / (known.counts[0] + 1)
