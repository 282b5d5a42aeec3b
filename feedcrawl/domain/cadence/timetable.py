"""Regular publishers: feeds whose arrivals share a phase of a period, so that a poll can follow just after each
arrival.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

from feedcrawl.domain.cadence.plan import first_poll

MINUTE = 60
PERIODS = tuple(minutes * MINUTE for minutes in (10, 15, 20, 30, 60, 120, 180, 240, 360, 480, 720, 1_440, 10_080))
"""Periods that people and cron jobs choose, in seconds."""
MIN_ARRIVALS, MANY_ARRIVALS = 5, 10
"""Least number of arrivals for a period; fewer than MANY_ARRIVALS must all be on time within a narrower slot."""
ARC, ON_TIME = 0.2, 0.7
"""Longest slot, as a share of the period, and least share of the recent arrivals that are in the slot."""
DOUBT = 2
"""Arrivals that are counted as late without having been observed."""
AHEAD = 24
"""Most moments that a plan of polls compares."""
MARGIN_SEC, MARGIN_SHARE = 20.0, 0.02
SERVED = 0.1
"""An arrival that comes earlier than its slot by at most this share of the period still belongs to the slot."""
FEWEST_HITS, MOST_HITS = 0.4, 1.3
LAPSED, LAPSED_GAPS = 24, 3
"""Expected arrivals that did not come, and longest recent gaps, after which a timetable is of the past."""


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
        """Length of the slot, in seconds."""
        return self.offsets[-1] - self.offsets[0]


def find_period(recent: tuple[float, ...]) -> int:
    """The period of the most regular fit to the recent arrivals (sorted Unix seconds); 0 if none fits."""
    found = [timetable for period in PERIODS if (timetable := fitted(recent, period))]
    best = min(found, key=lambda one: (one.spread + 1) / (one.period * one.hits), default=None)
    return best.period if best else 0


def fitted(recent: tuple[float, ...], period: int) -> Timetable | None:
    """The timetable for this period, if most recent arrivals lie in one short slot and most slots have an arrival."""
    count = len(recent)
    if count < MIN_ARRIVALS or not period:
        return None
    cycles = (recent[-1] - recent[0]) / period
    arc, on_time = (ARC, ON_TIME) if count >= MANY_ARRIVALS else (ARC / 2, 1.0)
    if cycles < 2 or count - 1 < FEWEST_HITS * cycles or on_time * count - 1 > MOST_HITS * cycles:
        return None
    offsets = fullest_arc(sorted((time - recent[-1]) % period for time in recent), period, arc * period)
    hits = (len(offsets) - 1) / cycles
    if len(offsets) < on_time * count or not FEWEST_HITS <= hits <= MOST_HITS:
        return None
    return Timetable(period, recent[-1], offsets, min(hits, 1.0), len(offsets) / (count + DOUBT))


def has_lapsed(table: Timetable, recent: tuple[float, ...], now: float) -> bool:
    """True if a timetable is of the past: the feed is silent for far longer than between its recent arrivals, and for
    LAPSED arrivals that the timetable expects.
    """
    longest = max(later - earlier for earlier, later in pairwise(recent))
    return now - recent[-1] > max(LAPSED_GAPS * longest, LAPSED * table.period / table.hits)


def fullest_arc(phases: list[float], period: int, width: float) -> tuple[float, ...]:
    """The sorted phases within the fullest arc of this width; phases beyond the period continue past it."""
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


def next_slot(table: Timetable, now: float, newest: float, price: float) -> float:
    """Seconds until the next poll, just after an expected arrival, in the cheapest plan of the next polls.

    `price` is the cost of a poll, in seconds of delay of one arrival.
    """
    moments, weight = expected(table, now, newest, price)
    return moments[first_poll(moments, [weight] * len(moments), price)] - now


def expected(table: Timetable, now: float, newest: float, price: float) -> tuple[list[float], float]:
    """Times (Unix seconds) just after the next expected arrivals, and the number of arrivals that each time stands for.

    The times cover twice the expected gap between polls. If that gap is long, one time stands for several arrivals, so
    that there are never more than AHEAD times. The slot in which `newest` arrived is left out.
    """
    apart = math.sqrt(2 * price * table.period / table.hits)
    cycles = 2 + math.ceil(2 * apart / table.period)
    stride = math.ceil(cycles / AHEAD)
    thin = math.ceil(len(table.offsets) * math.ceil(cycles / stride) / AHEAD)
    offsets = table.offsets[::-thin][::-1]
    begin = table.anchor + table.offsets[0]
    cycle = math.floor((now - begin) / table.period + SERVED)
    if newest >= begin + (cycle - SERVED) * table.period:
        cycle += 1
    margin = MARGIN_SEC + MARGIN_SHARE * table.spread
    starts = [
        table.anchor + margin + (cycle + k * stride) * table.period for k in range(math.ceil(cycles / stride) + 1)
    ]
    moments = [start + offset for start in starts for offset in offsets if start + offset > now + 1]
    return moments[:AHEAD], table.hits * stride / len(offsets)
