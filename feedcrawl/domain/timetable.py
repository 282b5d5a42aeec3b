"""Regular publishers: feeds whose arrivals share a phase of some period, so that polls can be put just behind them."""

from __future__ import annotations

import math
from typing import NamedTuple

MINUTE = 60
PERIODS = tuple(minutes * MINUTE for minutes in (10, 15, 20, 30, 60, 120, 180, 240, 360, 480, 720, 1_440, 10_080))
"""Periods that people and cron jobs choose, in seconds."""
ENOUGH, MANY = 5, 8
"""Arrivals from which a period may be told; below MANY they must all be on time, and closely."""
ARC = 0.2
ON_TIME = 0.7
DOUBT = 2
FEWEST_HITS, MOST_HITS = 0.4, 1.3


class Timetable(NamedTuple):
    """Arrivals at `anchor` + k × `period` + one of `offsets` (sorted; seconds), for a share `hits` of all k.

    `trust` is the share of arrivals that are on time, with two arrivals' worth of doubt.
    """

    period: int
    anchor: float
    offsets: tuple[float, ...]
    hits: float
    trust: float

    @property
    def spread(self) -> float:
        """How long the slot is, in seconds."""
        return self.offsets[-1] - self.offsets[0]


def find_period(recent: tuple[float, ...]) -> int:
    """The period in which the recent arrivals (sorted Unix seconds) are most regular; 0 if there is none."""
    found = [timetable for period in PERIODS if (timetable := fitted(recent, period))]
    best = min(found, key=lambda one: (one.spread + 1) / (one.period * one.hits), default=None)
    return best.period if best else 0


def fitted(recent: tuple[float, ...], period: int) -> Timetable | None:
    """The timetable of this period, if most recent arrivals lie in one short slot of it and most slots are hit."""
    count = len(recent)
    if count < ENOUGH or not period:
        return None
    cycles = (recent[-1] - recent[0]) / period
    if cycles < 2 or count - 1 < FEWEST_HITS * cycles:
        return None
    arc, on_time = (ARC, ON_TIME) if count >= MANY else (ARC / 2, 1.0)
    offsets = fullest_arc(sorted((time - recent[-1]) % period for time in recent), period, arc * period)
    hits = (len(offsets) - 1) / cycles
    if len(offsets) < on_time * count or not FEWEST_HITS <= hits <= MOST_HITS:
        return None
    return Timetable(period, recent[-1], offsets, min(hits, 1.0), len(offsets) / (count + DOUBT))


def fullest_arc(phases: list[float], period: int, width: float) -> tuple[float, ...]:
    """The phases (sorted) within the arc of this width that holds most of them; those past the period run on."""
    count, first, best = len(phases), 0, (0, 0)
    around = phases + [phase + period for phase in phases]
    for end in range(2 * count):
        while around[end] - around[first] > width:
            first += 1
        size = end - first + 1
        if best[0] < size <= count:
            best = (size, first)
    size, first = best
    return tuple(around[first : first + size])


def next_slot(table: Timetable, now: float, newest: float, usual: float) -> float:
    """Seconds until the next moment at which a poll finds what the timetable promises.

    `usual` is the interval that the feed is worth; the slot in which `newest` came has been served.
    """
    begin = table.anchor + table.offsets[0]
    cycle = math.floor((now - begin) / table.period)
    if usual > 0.75 * table.period:
        points = [0.85]
        cycle = max(cycle, round((now + usual - table.anchor - table.offsets[-1]) / table.period))
    else:
        number = min(4, round(table.period / usual))
        points = [(k + 0.7) / number for k in range(number)]
    if newest >= begin + (cycle - 0.1) * table.period:
        cycle += 1
    margin = 20.0 + 0.02 * table.spread
    count = len(table.offsets)
    behind = [table.offsets[min(count - 1, int(point * count))] + margin for point in points]
    while True:
        for offset in behind:
            at = table.anchor + cycle * table.period + offset
            if at > now + 1.0:
                return at - now
        cycle += 1
