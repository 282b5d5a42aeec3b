"""Publishers' hints about the time of the next poll, in their feeds and in HTTP headers.

This module only reads the values; the cadence decides how far each is obeyed.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DAY_SEC: Final = 86_400
OF_FRESHNESS: Final = ("Cache-Control", "Age", "Expires", "Date")
"""The headers that `max_age_sec` reads."""

_DIGITS = re.compile(r"[0-9]{1,10}")
_MINUTES = re.compile(r"([0-9]{1,7})(?:\.[0-9]{0,9})?(?: ?min[a-z]{0,4})?")

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH = "|".join(_MONTHS)
_CLOCK = r"(?P<H>\d\d):(?P<M>\d\d):(?P<S>\d\d)"
# RFC 9110 section 5.6.7: IMF-fixdate, and the two obsolete forms that a recipient must accept.
_HTTP_DATES = (
    re.compile(rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?P<d>\d\d) (?P<m>{_MONTH}) (?P<y>\d{{4}}) {_CLOCK} GMT", re.ASCII),
    re.compile(
        rf"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?P<d>\d\d)-(?P<m>{_MONTH})-(?P<y>\d\d) {_CLOCK} GMT", re.ASCII
    ),
    re.compile(rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?P<m>{_MONTH}) (?P<d>[ \d]\d) {_CLOCK} (?P<y>\d{{4}})", re.ASCII),
)

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_PERIODS = {
    "hour": 3_600,
    "dai": DAY_SEC,
    "day": DAY_SEC,
    "week": 7 * DAY_SEC,
    "month": 30 * DAY_SEC,
    "year": 365 * DAY_SEC,
}
_PERIODS |= {"minut": 60, "annual": 365 * DAY_SEC, "biweek": 14 * DAY_SEC, "fortnight": 14 * DAY_SEC}


def ttl_minutes(text: str | None) -> int | None:
    """RSS 2.0 `ttl` in minutes; None if it is no positive number or has more than seven digits."""
    match = _MINUTES.fullmatch((text or "").strip())
    return int(match[1]) or None if match else None


def skip_hours(texts: Iterable[str]) -> frozenset[int]:
    """RSS `skipHours` as hours 0 … 23 in GMT; 24 means midnight (RSS 0.91 counted from 1)."""
    numbers = (int(text) for text in texts if _DIGITS.fullmatch(text.strip()))
    return frozenset(number % 24 for number in numbers if number <= 24)


def skip_days(texts: Iterable[str]) -> frozenset[str]:
    """RSS `skipDays` as "Mon" … "Sun"."""
    return frozenset(day for text in texts if (day := text.strip()[:3].title()) in _DAYS)


def update_period_sec(period: str | None, frequency: str | None) -> int | None:
    """Seconds between updates by `sy:updatePeriod` and `sy:updateFrequency` (RSS 1.0 Syndication module).

    The period is recognised by its first letters, since publishers misspell it (`hourly`, `hour`, `Daily`, `dayly`). A
    missing period means a day; a missing or unusable frequency means once. None if both are missing or the period is
    unknown.
    """
    word = (period or "").strip().lower()
    if not word and not (frequency or "").strip():
        return None
    length = next((sec for stem, sec in _PERIODS.items() if word.startswith(stem)), None if word else DAY_SEC)
    if length is None:
        return None
    match = re.match(r"\s*([0-9]{1,6})(?![0-9])", frequency or "", re.ASCII)
    return max(1, length // max(1, int(match[1]) if match else 1))


def http_date(text: str) -> datetime | None:
    """The time of an HTTP-date (RFC 9110 section 5.6.7); None for any other text."""
    match = next((match for pattern in _HTTP_DATES if (match := pattern.fullmatch(text.strip()))), None)
    if match is None:
        return None
    year = int(match["y"])
    if len(match["y"]) == 2:
        year += 1900 if year >= 70 else 2000
    try:
        return datetime(
            year, _MONTHS.index(match["m"]) + 1, int(match["d"]),
            int(match["H"]), int(match["M"]), min(int(match["S"]), 59 if match["S"] == "60" else 99), tzinfo=UTC,
        )  # fmt: skip
    except ValueError:
        return None


def retry_after_sec(value: str | None, *, now: datetime) -> float | None:
    """Seconds to wait from `now`, 0 … 86 400, by a Retry-After header (RFC 9110 section 10.2.3).

    None if the value is neither ASCII digits nor an HTTP-date: signs, `1_000`, `1e9`, other digits, two values.
    """
    text = (value or "").strip(" \t")
    if text.isascii() and text.isdigit():
        return float(min(int(text[:10]), DAY_SEC))
    date = http_date(text)
    return None if date is None else min(max((date - now).total_seconds(), 0.0), float(DAY_SEC))


def max_age_sec(headers: Mapping[str, str]) -> float | None:
    """Seconds from now for which a response stays fresh by its headers; None if they do not state it (RFC 9111 section
    4.2).

    `max-age`, else `s-maxage`, minus `Age`; else `Expires` minus `Date`. A shared cache would prefer `s-maxage`; but
    publishers set it for caches that they purge themselves, so that it is no statement on when the feed changes.
    Invalid values, `no-cache` and `no-store` count as 0.
    """
    fields = {name.lower(): value for name, value in headers.items()}
    directives = _directives(fields.get("cache-control", ""))
    if directives.keys() & {"no-cache", "no-store"}:
        return 0.0
    stated = directives.get("max-age", directives.get("s-maxage"))
    if stated is not None:
        return max(0.0, _seconds(stated) - _seconds(fields.get("age", "")))
    return _expires_sec(fields) if "expires" in fields else None


def _directives(text: str) -> dict[str, str]:
    """Cache-Control directives by name; the first counts if a directive is repeated."""
    found: dict[str, str] = {}
    for directive in text.split(","):
        name, _, value = directive.partition("=")
        found.setdefault(name.strip().lower(), value.strip().strip('"'))
    return found


def _seconds(text: str) -> float:
    """Delta-seconds (RFC 9111 section 1.2.2); 0 for an invalid value, at most 2^31."""
    text = text.strip()
    return float(min(int(text[:11]), 2**31)) if text.isascii() and text.isdigit() else 0.0


def _expires_sec(fields: Mapping[str, str]) -> float | None:
    """`Expires` minus `Date` in seconds; an invalid Expires means "now" (RFC 9111 section 5.3), an invalid Date
    None.
    """
    expires, sent = http_date(fields["expires"]), http_date(fields.get("date", ""))
    if expires is None:
        return 0.0
    return None if sent is None else max(0.0, (expires - sent).total_seconds())
