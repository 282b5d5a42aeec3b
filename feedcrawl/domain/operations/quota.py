"""How much one caller may ask for: a virtual scheduling rule (GCRA) that keeps one number per caller, as `pacing` does.

The number is the caller's theoretical arrival time (TAT): when all that he has asked for is paid, at his rate.
"""

from __future__ import annotations

from typing import Final

BURST_SEC: Final = 10.0
"""What may be asked for at once: as much as these seconds bring."""


def admit(tat: float, now: float, per_minute: float) -> tuple[float, float]:
    """The TAT that a request leaves behind, and 0; or the TAT as it was, and in how many seconds to come again."""
    cost = 60.0 / per_minute
    wait = max(tat, now) + cost - now - max(BURST_SEC, cost)
    return (max(tat, now) + cost, 0.0) if wait <= 0 else (tat, wait)
