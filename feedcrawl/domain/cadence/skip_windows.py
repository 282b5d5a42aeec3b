"""Hours and days in which a publisher asks not to be polled (RSS 2.0 `skipHours`, `skipDays`; both in GMT)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from feedcrawl.domain.publisher_hints import PublisherHints

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
HOURS = range(24)


def after_skip_window(at: datetime, hints: PublisherHints) -> datetime:
    """The first time at or after `at` (UTC) outside all skip windows.

    A list of all hours or of all days is ignored, as are values that are no hour and no day.
    """
    if not hints.skip_hours and not hints.skip_days:
        return at
    hours, days = hints.skip_hours.intersection(HOURS), hints.skip_days.intersection(DAYS)
    skip_hours = hours if len(hours) < len(HOURS) else frozenset[int]()
    skip_days = days if len(days) < len(DAYS) else frozenset[str]()
    while True:
        if DAYS[at.weekday()] in skip_days:
            at = at.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        elif at.hour in skip_hours:
            at = at.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
        else:
            return at
