"""PollState as a JSON string of at most 600 bytes, as stored between polls."""

from __future__ import annotations

import base64
import math
import re
import struct
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from feedcrawl.domain.cadence.skip_windows import DAYS, HOURS
from feedcrawl.domain.cadence.values import SMALLEST_WINDOW, Arrivals, PollState
from feedcrawl.domain.cadence.week import CELLS, CELLS_BEFORE, DIGITS, Week, of_hours_of_week
from feedcrawl.domain.json_values import compact_json, from_json_text
from feedcrawl.domain.publisher_hints import PublisherHints

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from feedcrawl.domain.json_values import JsonObject

T = TypeVar("T")

_SHAPE = re.compile(f"[{re.escape(DIGITS)}]{{{CELLS}}}")
_CELLS = struct.Struct(f"<{CELLS}H")
_OLD_WEEK = re.compile(f"[{re.escape(DIGITS)}]{{{CELLS_BEFORE}}}")


def to_json(state: PollState) -> str:
    """The state as compact JSON; unknown values are left out."""
    hints = state.hints
    fields = {
        "interval": rounded(state.interval_sec),
        "ewma": rounded(state.ewma_sec),
        "last_arrival": rounded(state.last_arrival),
        "errors": state.errors,
        "max_age": rounded(state.max_age_sec),
        "ttl": hints.ttl_minutes,
        "skip_hours": mask(HOURS, hints.skip_hours),
        "skip_days": mask(DAYS, hints.skip_days),
        "period": hints.update_period_sec,
        "arrivals": None if state.arrivals is None else written(state.arrivals),
    }
    return compact_json({name: value for name, value in fields.items() if value is not None})


@lru_cache(maxsize=256)  # one poll reads its feed's state three times: for the request, the decision and the record
def from_json(text: str) -> PollState:
    """The state that this or another version of `to_json` wrote.

    Unknown fields are ignored; missing fields and fields of another type get their default. Raises ValueError for text
    that is not JSON.
    """
    loaded = from_json_text(text)
    fields: JsonObject = loaded if isinstance(loaded, dict) else {}
    return PollState(
        interval_sec=number(fields, "interval"),
        ewma_sec=number(fields, "ewma"),
        last_arrival=number(fields, "last_arrival"),
        errors=int(number(fields, "errors") or 0),
        hints=read_hints(fields),
        max_age_sec=number(fields, "max_age"),
        arrivals=read_arrivals(fields.get("arrivals")),
    )


def written(known: Arrivals) -> dict[str, object]:
    """The estimate of a feed's arrivals, under short names."""
    week = known.week
    return {
        "at": round(known.at),
        "n": [round(count, 4) for count in known.counts],
        "t": [round(time) for time in known.exposure],
        "e": round(known.entries, 4),
        "new": round(known.newest),
        "ago": [round(known.newest - time) for time in known.recent],
        "per": known.period,
        "win": known.window,
        "cells": base64.b64encode(_CELLS.pack(*week.counts)).decode(),
        "shape": week.shape,
        "since": round(week.since),
        "weeks": round(week.weeks, 4),
    }


def read_arrivals(fields: object) -> Arrivals | None:
    """The estimate that `written` wrote; None, as for a new feed, if a part is missing or invalid."""
    if not isinstance(fields, dict):
        return None
    at, newest, since = number(fields, "at"), number(fields, "new"), number(fields, "since")
    counts, exposure, ago = numbers(fields, "n"), numbers(fields, "t"), numbers(fields, "ago")
    if at is None or newest is None or since is None or not len(counts) == len(exposure) == 4:
        return None
    week = read_week(fields, since, at)
    if week is None:
        return None
    return Arrivals(
        at=at,
        counts=counts,
        exposure=exposure,
        entries=number(fields, "e") or 0.0,
        newest=newest,
        recent=tuple(newest - one for one in ago),
        period=int(number(fields, "per") or 0),
        window=int(number(fields, "win") or SMALLEST_WINDOW),
        week=week,
    )


def read_week(fields: Mapping[str, object], since: float, at: float) -> Week | None:
    """The counts and the profile of the week; None if they are missing or invalid.

    Earlier versions counted each hour of the week (`week`: 168 digits), and no parts of the hour.
    """
    weeks = number(fields, "weeks") or 0.0
    cells, shape, old = fields.get("cells"), fields.get("shape"), fields.get("week")
    if isinstance(cells, str) and isinstance(shape, str) and _SHAPE.fullmatch(shape):
        try:
            return Week(since, weeks, _CELLS.unpack(base64.b64decode(cells, validate=True)), shape)
        except (ValueError, struct.error):
            return None
    if not isinstance(old, str) or not _OLD_WEEK.fullmatch(old):
        return None
    return of_hours_of_week([DIGITS.index(digit) for digit in old], since, weeks, at)


def read_hints(fields: Mapping[str, object]) -> PublisherHints:
    """The publisher's hints among the fields."""
    ttl, period = number(fields, "ttl"), number(fields, "period")
    return PublisherHints(
        ttl_minutes=None if ttl is None else int(ttl),
        skip_hours=unmasked(HOURS, number(fields, "skip_hours")),
        skip_days=unmasked(DAYS, number(fields, "skip_days")),
        update_period_sec=None if period is None else int(period),
    )


def number(fields: Mapping[str, object], name: str) -> float | None:
    """A finite number, or None."""
    return finite(fields.get(name))


def finite(value: object) -> float | None:
    """The value if it is a finite number, or None."""
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None


def mask(every: Sequence[T], chosen: frozenset[T]) -> int | None:
    """The chosen values as bits, the first in the lowest bit; None if none is chosen."""
    return sum(1 << place for place, one in enumerate(every) if one in chosen) or None if chosen else None


def unmasked(every: Sequence[T], bits: float | None) -> frozenset[T]:
    """The values of a bit mask that `mask` made."""
    return frozenset(one for place, one in enumerate(every) if int(bits) >> place & 1) if bits else frozenset()


def numbers(fields: Mapping[str, object], name: str) -> tuple[float, ...]:
    """A list of finite numbers; empty if it holds any other value."""
    values = [finite(value) for value in listed(fields, name)]
    found = tuple(value for value in values if value is not None)
    return found if len(found) == len(values) else ()


def listed(fields: Mapping[str, object], name: str) -> list[object]:
    """The value if it is a list, else an empty list."""
    value = fields.get(name)
    return value if isinstance(value, list) else []


def rounded(value: float | None) -> float | None:
    """The value rounded to milliseconds, enough for a schedule; None if it is not finite."""
    return None if value is None or not math.isfinite(value) else round(value, 3)
