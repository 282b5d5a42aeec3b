"""Whether the cost of a function grows with the size of its input: ratios of processor time, never seconds."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

TIMES = 8
MOST = 3 * TIMES  # a quadratic cost grows by TIMES ** 2 = 64
FLOOR_SEC = 0.04  # of the small run: below, the growth is that of noise
ATTEMPTS = 2


def assert_linear(run: Callable[[int], object], size: int) -> None:
    """Fails if `run` with TIMES the size takes more than MOST times as long, at both attempts.

    Choose the size so that a quadratic cost would take a second or more with TIMES the size.
    """
    assert any(_growth(run, size) <= MOST for _ in range(ATTEMPTS)), (
        f"{TIMES} times the input takes {MOST} times as long"
    )


def _growth(run: Callable[[int], object], size: int) -> float:
    small, large = _took_sec(run, size), _took_sec(run, TIMES * size)
    return large / max(small, FLOOR_SEC)


def _took_sec(run: Callable[[int], object], size: int) -> float:
    began = process_time()
    run(size)
    return process_time() - began
