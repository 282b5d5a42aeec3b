"""The chart of docs/cadence.md, drawn from the table under it: delays by number of polls, in logarithmic scales."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

WIDTH, HEIGHT = 720, 380
LEFT, RIGHT, TOP, BOTTOM = 56, 570, 20, 336
LEAST_MIN, MOST_MIN = 2, 250
MARKS_MIN = (2, 5, 10, 20, 50, 100, 200)
LABEL_HEIGHT = 14
GREY = "#8a8f98"
COLOURS = ("#7c3aed", "#2563eb", "#d97706", "#059669", "#dc2626", "#0891b2", "#9d174d", "#6b7280", "#65a30d")


class Curve(NamedTuple):
    """The mean delays of a policy in minutes, one for each number of polls; `bold` for those of feedcrawl."""

    name: str
    delays_min: tuple[float, ...]
    bold: bool


def chart(page: str) -> str:
    """The SVG of the first table of the page."""
    heading, _, *rows = re.search(r"(?m)(?:^\|.*\n)+", page)[0].splitlines()  # type: ignore[index]
    polls = [int(cell) for cell in _cells(heading)[1:]]
    curves = [_curve(row) for row in rows]
    across = [_along(count, polls[0], polls[-1], LEFT, RIGHT) for count in polls]
    parts = [_across(minutes) for minutes in MARKS_MIN]
    parts += [_mark(x, BOTTOM + 16, "middle", GREY, str(count)) for x, count in zip(across, polls, strict=True)]
    parts += [
        _mark((LEFT + RIGHT) / 2, HEIGHT - 10, "middle", GREY, "polls per feed and day"),
        _mark(LEFT - 44, TOP - 6, "start", GREY, "minutes"),
    ]
    label = float(HEIGHT)
    for curve, colour in sorted(zip(curves, COLOURS, strict=True), key=lambda pair: pair[0].delays_min[-1]):
        points = [(x, _height(delay)) for x, delay in zip(across, curve.delays_min, strict=True)]
        label = min(label - LABEL_HEIGHT, points[-1][1] + 4)
        parts += [*_line(points, colour, bold=curve.bold), _mark(RIGHT + 8, label, "start", colour, curve.name)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="system-ui, sans-serif"'
        ' font-size="12" role="img">\n<title>Mean delay of new entries at equal numbers of polls</title>'
        "<desc>Lines fall with the number of polls; learned lies lowest.</desc>\n" + "\n".join(parts) + "\n</svg>\n"
    )


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split("|")]


def _curve(row: str) -> Curve:
    name, *delays = _cells(row)
    return Curve(name.replace("**", ""), tuple(map(float, delays)), bold="**" in name)


def _along(value: float, least: float, most: float, begin: float, end: float) -> float:
    """The place of a value on a logarithmic scale."""
    return begin + (end - begin) * math.log(value / least) / math.log(most / least)


def _height(minutes: float) -> float:
    return _along(minutes, LEAST_MIN, MOST_MIN, BOTTOM, TOP)


def _across(minutes: int) -> str:
    y = _height(minutes)
    return f'<line x1="{LEFT}" y1="{y:.1f}" x2="{RIGHT}" y2="{y:.1f}" stroke="{GREY}44"/>\n' + _mark(
        LEFT - 6, y + 4, "end", GREY, str(minutes)
    )


def _mark(x: float, y: float, anchor: str, colour: str, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{text}</text>'


def _line(points: list[tuple[float, float]], colour: str, *, bold: bool) -> list[str]:
    drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    width, radius = (3, 3) if bold else (1.5, 1.5)
    circles = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}"/>' for x, y in points]
    return [f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="{width}"/>', *circles]
