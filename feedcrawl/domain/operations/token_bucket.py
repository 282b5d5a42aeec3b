"""The token bucket of one caller, as a virtual scheduling rule (GCRA) that stores one number per caller, as pace does.

The number is the caller's theoretical arrival time (TAT): the time at which all requests so far are paid for at the
caller's rate.
"""

from __future__ import annotations

from typing import Final

BURST_SEC: Final = 10.0
"""Size of a burst: as many requests as the rate allows in these seconds."""


def admit(tat: float, now: float, per_minute: float) -> tuple[float, float]:
    """The TAT after the request and 0 if it is admitted; else the unchanged TAT and the seconds to wait."""
    cost = 60.0 / per_minute
    wait = max(tat, now) + cost - now - max(BURST_SEC, cost)
    return (max(tat, now) + cost, 0.0) if wait <= 0 else (tat, wait)
