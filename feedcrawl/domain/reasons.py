"""The codes of a cadence decision in words, and durations as people say them."""

from __future__ import annotations

from typing import Final

RULES: Final = {
    "interval": "the interval so far",
    "not-modified": "nothing changed (304): a longer interval",
    "no-new-entries": "no new entries: a longer interval",
    "new-entries": "new entries: a shorter interval",
    "ewma": "the mean gap between its entries",
    "blend": "interval and mean gap blended",
    "tempo": "the tempo that is set for all feeds",
    "initial": "nothing dated is known yet: the initial interval",
    "overrun": "no known entry was left in the document: some may have been lost",
    "rate": "the rate at which it publishes",
    "window": "before its window of entries is full",
    "timetable": "the time at which it publishes",
    "ttl": "the feed asks for it (ttl)",
    "update-period": "the feed asks for it (sy:updatePeriod)",
    "max-age": "its server asks for it (Cache-Control, Expires)",
    "skip-window": "the feed asks not to be polled sooner (skipHours, skipDays)",
    "jitter": "spread by chance, so that feeds do not come all at once",
    "retry-after": "its server asks for it (Retry-After)",
    "error-backoff": "the poll failed: back-off",
}
"""Rules that speak in a decision; `reason` is one of them, or two joined by `+`."""

_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"))


def in_words(reason: str) -> str:
    """A rule or reason in words; one that is not known as it stands."""
    return ", then ".join(RULES.get(rule, rule) for rule in reason.split("+"))


def duration(seconds: float) -> str:
    """Seconds as `45 s`, `12 min`, `1 h 30 min`, `2 d 4 h`: at most two units."""
    left = round(seconds)
    if left < 60:
        return f"{left} s"
    left = 60 * round(left / 60)
    parts = []
    for size, name in _UNITS:
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts[:2])
