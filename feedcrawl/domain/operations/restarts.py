"""Restarts of a process that should always run."""

from __future__ import annotations

from typing import Final

FIRST_WAIT_SEC: Final = 1.0
LONGEST_WAIT_SEC: Final = 60.0
STEADY_SEC: Final = 60.0
"""A process that ran for this long is restarted as if it had never failed."""


def wait_sec(ran_sec: float, last_wait_sec: float) -> float:
    """The wait before the next start of a process that ended after `ran_sec`: doubled from start to start, up to a
    minute; `last_wait_sec` is 0 before the first restart.
    """
    if ran_sec >= STEADY_SEC or last_wait_sec <= 0:
        return FIRST_WAIT_SEC
    return min(2 * last_wait_sec, LONGEST_WAIT_SEC)
