"""The check of linear costs, by a clock that the work itself moves."""

from __future__ import annotations

from collections.abc import Callable

import growth
import pytest


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    spent = [0.0]
    monkeypatch.setattr(growth, "process_time", lambda: spent[0])

    def take(sec: float) -> None:
        spent[0] += sec

    return take


def test_linear_costs_pass(work: Callable[[float], None]) -> None:
    growth.assert_linear(lambda size: work(size / 100), 10)


def test_costs_below_the_floor_pass(work: Callable[[float], None]) -> None:
    growth.assert_linear(lambda size: work(size**2 / 10_000), 10)


def test_quadratic_costs_fail(work: Callable[[float], None]) -> None:
    with pytest.raises(AssertionError, match="8 times the input takes 24 times as long"):
        growth.assert_linear(lambda size: work(size**2 / 1000), 10)


def test_a_slow_moment_of_the_machine_passes(work: Callable[[float], None]) -> None:
    slow = iter([1, 10, *[1] * 10])
    growth.assert_linear(lambda size: work(next(slow) * size / 100), 10)
