"""How often a feed brings something new, learnt from its polls.

Entries that come together are one arrival (a batch). Arrivals are counted with exponential forgetting on several
scales; each scale's rate is a Gamma–Poisson estimate whose prior is the next longer one. So a young feed leans on what
feeds are like, a burst is seen at once, and a feed that has ended fades.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from feedcrawl.domain.cadence.timetable import find_period
from feedcrawl.domain.cadence.week import DAY, HOUR, Week, counted, drawn, mean_factor

if TYPE_CHECKING:
    from datetime import datetime

    from feedcrawl.domain.cadence.values import Observation

SCALES = (60 * DAY, 10 * DAY, 1.5 * DAY, 3 * HOUR)
STRENGTHS = (0.5, 2.0, 3.0, 3.0)
"""Arrivals' worth of trust that each scale puts in the longer one, the longest in PRIOR_RATE."""
PRIOR_RATE = 0.25 / DAY
BATCH_GAP = 600.0
RECENT = 16
LONGEST_DOCUMENT = 500
SMALLEST_WINDOW = 10
NOTHING = (0.0,) * len(SCALES)


@dataclass(frozen=True, slots=True)
class Arrivals:
    """What is known of a feed's arrivals up to `at` (Unix seconds).

    `counts` and `exposure` (seconds, weighted by the profile) fade on each of SCALES; `entries` on the longest.
    `newest` is the newest entry's time, `recent` those of the last arrivals, `period` that of a regular publisher in
    seconds (0: none), `window` how many entries the document shows.
    """

    at: float
    counts: tuple[float, ...] = NOTHING
    exposure: tuple[float, ...] = NOTHING
    entries: float = 0.0
    newest: float = 0.0
    recent: tuple[float, ...] = ()
    period: int = 0
    window: int = SMALLEST_WINDOW
    week: Week = field(default_factory=lambda: Week(0.0))


def begun(seen: Observation, now: datetime) -> Arrivals:
    """A new feed, watched since the oldest date of its first document, or since now."""
    origin = min(dates(seen, now), default=now.timestamp())
    return Arrivals(origin, newest=origin, week=Week(origin))


def dates(seen: Observation, now: datetime) -> list[float]:
    """The document's dates in order, without those in the future (Unix seconds)."""
    return sorted(date.timestamp() for date in seen.published if date <= now)


def learn(before: Arrivals | None, seen: Observation, now: datetime) -> Arrivals:
    """What is known after a successful poll.

    Of a feed's first document all dates count, known entries or not; its oldest batch, with which watching began, does
    not.
    """
    known = before or begun(seen, now)
    starts, newest, entries = [], known.newest, 0
    for time in arrival_times(before, seen, now) if before else dates(seen, now)[-LONGEST_DOCUMENT:]:
        if time - newest > BATCH_GAP:
            starts.append(time)
        newest = max(newest, time)
        entries += bool(before or starts)
    at = max(now.timestamp(), known.at)
    keeps = [math.exp((known.at - at) / scale) for scale in SCALES]
    recent = (*known.recent, *starts)[-RECENT:]
    return Arrivals(
        at,
        faded(known.counts, keeps, starts, at),
        exposed(known, keeps, at),
        known.entries * keeps[0] + entries,
        newest,
        recent,
        find_period(recent) if starts else known.period,
        window_of(seen) or known.window,
        week_after(known.week, starts, at),
    )


def arrival_times(known: Arrivals, seen: Observation, now: datetime) -> list[float]:
    """When this poll's new entries became visible, in order, as far as it can be told (Unix seconds).

    It is their date; but a date before the last poll is not when they became visible, as that poll did not show them.
    Then, and where dates are missing or lie in the future, it is taken to be halfway between the two polls.
    """
    count = min(seen.new_entries, LONGEST_DOCUMENT)
    if count <= 0:
        return []
    visible = [date for date in dates(seen, now)[-count:] if date >= known.at]
    halfway = (known.at + max(now.timestamp(), known.at)) / 2
    return sorted(visible + [halfway] * (count - len(visible)))


def window_of(seen: Observation) -> int:
    """How many entries the document shows at a time; a short one may only be young. 0 if none was read."""
    size = seen.new_entries + seen.known_entries
    return max(size, SMALLEST_WINDOW) if size > 0 else 0


def faded(counts: tuple[float, ...], keeps: list[float], starts: list[float], at: float) -> tuple[float, ...]:
    """Counts of arrivals on each scale, of which `keeps` is left, with new ones."""
    kept = tuple(count * keep for count, keep in zip(counts, keeps, strict=True))
    if not starts:
        return kept
    new = (sum(math.exp((start - at) / scale) for start in starts) for scale in SCALES)
    return tuple(count + more for count, more in zip(kept, new, strict=True))


def exposed(known: Arrivals, keeps: list[float], at: float) -> tuple[float, ...]:
    """Seconds watched on each scale, an hour of the week weighing as much as the profile expects of it."""
    mean = mean_factor(known.week.shape, known.at, at)
    rows = zip(known.exposure, SCALES, keeps, strict=True)
    return tuple(time * keep + mean * scale * (1 - keep) for time, scale, keep in rows)


def week_after(week: Week, starts: list[float], at: float) -> Week:
    """The week with new arrivals; its profile is drawn anew once a day at most."""
    for start in starts:
        week = counted(week, start)
    return drawn(week, at) if starts and at - week.drawn > DAY else week


def rates(known: Arrivals) -> list[float]:
    """Arrivals per second as seen on each scale, the longest first."""
    found, rate = [], PRIOR_RATE
    for count, time, strength in zip(known.counts, known.exposure, STRENGTHS, strict=True):
        rate = (count + strength) / (time + strength / rate)
        found.append(rate)
    return found


def expected(known: Arrivals, since: float, until: float) -> float:
    """How many arrivals are foretold from one Unix time to another, by the long-term rate and the week's profile."""
    return rates(known)[0] * mean_factor(known.week.shape, since, until) * max(until - since, 0.0)


def batch_size(known: Arrivals) -> float:
    """Entries per arrival, drawn towards one."""
    return (known.entries + 1) / (known.counts[0] + 1)
