"""Charts as numbers, which the pages draw as SVG: bars in a plane of `WIDTH` by `HEIGHT`, points in per cent of a
plane.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")
WIDTH: Final = 720.0
HEIGHT: Final = 160.0
CELL_WIDE: Final = 2.5
CELL_HIGH: Final = 12.5
"""Size in per cent of the cells of a cloud: points of one cell are one dot, so that no dot covers another."""
FILLED: Final = 0.82
"""The share of its slot that a bar fills."""


@dataclass(frozen=True, slots=True)
class Rect:
    """One piece of a bar, of the series with this number."""

    series: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Stack:
    """Stacked bars; `top` is the value at the upper edge."""

    bars: tuple[tuple[Rect, ...], ...]
    top: float


@dataclass(frozen=True, slots=True)
class Dot:
    """The points of one cell of a plane: its place in per cent from left and below, and the number of points."""

    x: float
    y: float
    number: int

    @property
    def radius(self) -> float:
        """Radius in pixels: the area grows with the number of points, up to the size of a cell."""
        return round(min(3.5 * math.sqrt(self.number), 11.0), 1)


@dataclass(frozen=True, slots=True)
class Cloud:
    """Points in a plane of two logarithmic axes with marks (place, value); places in per cent, from left and below."""

    dots: tuple[Dot, ...]
    across: tuple[tuple[float, float], ...]
    upward: tuple[tuple[float, float], ...]


def stack(values: Sequence[Sequence[float]], tops: Sequence[float] = ()) -> Stack:
    """Each bar of its values, the first of them at the bottom; the axis ends at one of `tops` if one is high enough."""
    highest = max((sum(each) for each in values), default=0.0)
    top = next((each for each in tops if each >= highest), None) or round_up(highest)
    place = WIDTH / max(1, len(values))
    return Stack(tuple(_bar(each, number * place, place, HEIGHT / top) for number, each in enumerate(values)), top)


def _bar(values: Sequence[float], x: float, place: float, scale: float) -> tuple[Rect, ...]:
    pieces, y, gap = [], HEIGHT, place * (1 - FILLED) / 2
    for series, value in enumerate(values):
        if value > 0:
            height = value * scale
            y -= height
            pieces.append(Rect(series, round(x + gap, 2), round(y, 2), round(place * FILLED, 2), round(height, 2)))
    return tuple(pieces)


def round_up(value: float) -> float:
    """The end of an axis for values up to `value`: a round number whose half is a round number too, at least 1 and at
    most half as large again as the value.
    """
    if value <= 1:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    steps = (1, 2, 4, 6, 8, 10) if power == 1 else (1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10)
    return next(round(step * power, 6) for step in steps if step * power >= value * (1 - 1e-9))


def cloud(pairs: Sequence[tuple[float, float]], steps: Sequence[float]) -> Cloud:
    """Points of positive numbers; the marks across are powers of ten, those upward the `steps` that are needed."""
    xs, ys = [x for x, _ in pairs], [y for _, y in pairs]
    powers = range(_power(min(xs, default=1.0)), _power(max(xs, default=1.0)) + 2)
    across = [10.0**power for power in powers]
    low = max((step for step in steps[:-1] if step <= min(ys, default=steps[0])), default=steps[0])
    high = min((step for step in steps if step > low and step >= max(ys, default=low)), default=steps[-1])
    upward = [step for step in steps if low <= step <= high]
    places = Counter((_cell(_along(x, across), CELL_WIDE), _cell(_along(y, upward), CELL_HIGH)) for x, y in pairs)
    dots = tuple(Dot(x, y, number) for (x, y), number in sorted(places.items()))
    return Cloud(dots, _marks(across), _marks(upward))


def _cell(place: float, size: float) -> float:
    """The middle of the cell that contains a place."""
    return round(min(math.floor(place / size) + 0.5, 100 / size - 0.5) * size, 2)


def _power(value: float) -> int:
    return math.floor(math.log10(value))


def _along(value: float, marks: Sequence[float]) -> float:
    """The place of a value between the first mark and the last, in per cent; values beyond a mark are placed on
    it.
    """
    low, high = math.log10(marks[0]), math.log10(marks[-1])
    return round(min(max(100 * (math.log10(value) - low) / (high - low), 0.0), 100.0), 2)


def _marks(marks: Sequence[float]) -> tuple[tuple[float, float], ...]:
    return tuple((_along(mark, marks), mark) for mark in marks)


def with_data(bars: Sequence[T], totals: Sequence[float]) -> Sequence[T]:
    """The bars from the first with data on, but at least a quarter of them: an axis begins where the data does."""
    first = next((at for at, total in enumerate(totals) if total), 0)
    return bars[min(first, len(bars) * 3 // 4) :]


def bands(pairs: Sequence[tuple[float, float]]) -> list[tuple[float, float, int, float]]:
    """The points in bands, a power of ten of the first number each.

    A band: its lower and upper bound, the number of points, and the median of the second numbers.
    """
    by_power: dict[int, list[float]] = {}
    for x, y in pairs:
        by_power.setdefault(_power(x), []).append(y)
    return [(10.0**at, 10.0 ** (at + 1), len(found), median(found)) for at, found in sorted(by_power.items())]
