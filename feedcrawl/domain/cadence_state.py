"""PollState as a JSON string of at most 1 KB, in which it is kept between polls."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from feedcrawl.domain.cadence_values import PollState
from feedcrawl.domain.models import PublisherHints
from feedcrawl.domain.windows import DAYS, HOURS

if TYPE_CHECKING:
    from collections.abc import Mapping


def to_json(state: PollState) -> str:
    """The state as compact JSON; what is not known is left out."""
    hints = state.hints
    fields = {
        "interval": rounded(state.interval_sec),
        "ewma": rounded(state.ewma_sec),
        "last_arrival": rounded(state.last_arrival),
        "errors": state.errors,
        "max_age": rounded(state.max_age_sec),
        "ttl": hints.ttl_minutes,
        "skip_hours": sorted(hints.skip_hours.intersection(HOURS)),
        "skip_days": sorted(hints.skip_days.intersection(DAYS), key=DAYS.index),
        "period": hints.update_period_sec,
    }
    said = {name: value for name, value in fields.items() if value is not None and value != []}
    return json.dumps(said, separators=(",", ":"))


def from_json(text: str) -> PollState:
    """The state that `to_json` wrote, of this or another version.

    Unknown fields are ignored; what is missing or of another type gets its default. ValueError if it is no JSON.
    """
    loaded = json.loads(text)
    fields: dict[str, Any] = loaded if isinstance(loaded, dict) else {}
    return PollState(
        interval_sec=number(fields, "interval"),
        ewma_sec=number(fields, "ewma"),
        last_arrival=number(fields, "last_arrival"),
        errors=int(number(fields, "errors") or 0),
        hints=read_hints(fields),
        max_age_sec=number(fields, "max_age"),
    )


def read_hints(fields: Mapping[str, Any]) -> PublisherHints:
    """The publisher's hints among the fields."""
    ttl, period = number(fields, "ttl"), number(fields, "period")
    return PublisherHints(
        ttl_minutes=None if ttl is None else int(ttl),
        skip_hours=frozenset(hour for hour in listed(fields, "skip_hours") if hour in HOURS),
        skip_days=frozenset(day for day in listed(fields, "skip_days") if day in DAYS),
        update_period_sec=None if period is None else int(period),
    )


def number(fields: Mapping[str, Any], name: str) -> float | None:
    """A finite number, or None."""
    value = fields.get(name)
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def listed(fields: Mapping[str, Any], name: str) -> list[Any]:
    """A list, empty if there is none."""
    value = fields.get(name)
    return value if isinstance(value, list) else []


def rounded(value: float | None) -> float | None:
    """The value to the millisecond, which is all that a schedule needs; what is not finite is unknown."""
    return None if value is None or not math.isfinite(value) else round(value, 3)
