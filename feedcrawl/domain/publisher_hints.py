"""A publisher's hints about the time of the next poll; the cadence needs nothing else of a document."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PublisherHints:
    """A publisher's hints about the time of the next poll. `skip_hours` 0–23 GMT, `skip_days` "Mon" … "Sun"."""

    ttl_minutes: int | None = None
    skip_hours: frozenset[int] = frozenset()
    skip_days: frozenset[str] = frozenset()
    update_period_sec: int | None = None
