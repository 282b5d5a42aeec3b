"""Feeds that are quiet against their own last weeks: their polls succeed and bring no new entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from feedcrawl.domain.cadence.arrivals import expected, rates
from feedcrawl.domain.cadence.week import DAY, WEEK

if TYPE_CHECKING:
    from feedcrawl.domain.cadence.values import Arrivals, PollState

EXPECTED: Final = 8.0
"""Arrivals that a feed should have had meanwhile: without a fault, so many are missed once in 3 000 times (e⁻⁸)."""
SHORTEST_SEC: Final = DAY
HISTORY_SEC: Final = 14 * DAY
"""Least time for which a feed is known: younger feeds have no last weeks."""
_BUSIEST: Final = 8.0  # how far the profile of the week may exceed its mean: most feeds need no sum over its hours


def is_quiet(state: PollState, now: float) -> bool:
    """True if a feed should have brought EXPECTED arrivals since its newest entry (Unix seconds).

    The policy `learned` knows the rate of the last weeks and the profile of the week: the silence lasts a day or more.
    Without these only the mean gap between entries is known: the silence lasts a week or more, since that gap does not
    tell nights and weekends from silence.
    """
    if state.arrivals is not None:
        return _is_silent(state.arrivals, now)
    if state.last_arrival is None or not state.ewma_sec:
        return False
    return now - state.last_arrival >= max(EXPECTED * state.ewma_sec, WEEK)


def _is_silent(known: Arrivals, now: float) -> bool:
    if known.exposure[0] < HISTORY_SEC or now - known.newest < SHORTEST_SEC:
        return False
    if rates(known)[0] * (now - known.newest) * _BUSIEST < EXPECTED:
        return False
    return expected(known, known.newest, now) >= EXPECTED
