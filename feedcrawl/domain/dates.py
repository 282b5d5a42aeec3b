"""The instant of a date in a feed, sitemap or page, and our own timestamps."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from feedcrawl.domain.datewords import DAY_HALVES, FILLERS, MONTHS, WEEKDAYS, ZONES, fold, usual_form

EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)  # no feed is older than the web
LATEST = datetime(2100, 1, 1, tzinfo=UTC)
AHEAD = timedelta(hours=24)
MAX_LENGTH = 100

_KOREA = timezone(timedelta(hours=9))
_Clock = tuple[int, int, int]

_RFC822 = re.compile(
    r"(?:[A-Za-z]{3}, )?(\d\d?) ([A-Za-z]{3}) (\d{4}) (\d\d):(\d\d):(\d\d) (?:GMT|UTC|([+-]\d{4}))", re.ASCII
)
_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?\s?([Zz]|[+-]\d\d:?\d\d))?", re.ASCII
)
_COMPACT = re.compile(
    r"(\d{4})(\d\d)(\d\d)(?:[Tt ]?(\d\d):?(\d\d)(?::?(\d\d)(?:[.,]\d+)?)?([Zz]|[+-]\d\d:?\d\d)?)?", re.ASCII
)
_ORDINAL = re.compile(r"(\d{4}|\d\d)-?(\d{3})", re.ASCII)
_PARTIAL = re.compile(r"(\d{4})(?:-(\d\d))?", re.ASCII)
_SHORT_YEAR = re.compile(r"-?(\d\d)-?(\d\d)(?:-?(\d\d))?", re.ASCII)
_UNIX = re.compile(r"(\d{9,10})(?:\d{3})?(?:\.\d+)?", re.ASCII)

_LEADING_WORD = re.compile(r"^([^\W\d_]{2,20})\.?,\s*(?=[0-9])")
_EAST_ASIAN = re.compile(r"([0-9]{4})\s*[년年]\s*([0-9]{1,2})\s*[월月]\s*([0-9]{1,2})\s*[일日]")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_DAY_HALF = re.compile(r"(?<![^\W\d_])([ap])\.?\s?m\b\.?", re.IGNORECASE)
_TIME = re.compile(
    r"(?:(?<=\d)[Tt]|(?<![\d:.]))(\d{1,2})(?:[:h](\d\d?)(?::(\d\d?)(?:[.,]\d+|:00)?)?(?!\d|:\d)|(?=\s[ap]m\b))",
    re.ASCII | re.IGNORECASE,
)
_PLACE = re.compile(r"\b[A-Z][A-Za-z]+(?:/[A-Z][A-Za-z_+-]+){1,2}\d*")
_OFFSET = re.compile(  # three digits lack the first one (`+530`), or the last one after a 0 (`-040` is -04:00)
    r"(?:\b(?:gmt|utc?)\s?|:|\s|^)([+-])(\d\d?)(?::?(\d\d)|(?<=0\d)0)?(?::00)?z?(?![\w:/-])", re.ASCII | re.IGNORECASE
)
_COMMENT = re.compile(r"\([^()]*\)")  # "GMT+0100 (Central European Standard Time)"
_TOKEN = re.compile(r"[0-9]+|[^\W\d_]+(?:'[^\W\d_]+)?|[^\s\w,.;()\[\]/–-]")
_NUMERIC = re.compile(r"\d{1,4}([-/. ])\d{1,3}\1\d{1,4}", re.ASCII)


def rfc3339(at: datetime, precision: Literal["auto", "milliseconds", "seconds"] = "milliseconds") -> str:
    """A moment as RFC 3339 in UTC with `Z`; `auto` writes microseconds unless they are 0."""
    return f"{(at if at.tzinfo is UTC else at.astimezone(UTC)).isoformat(timespec=precision)[:-6]}Z"


def rfc3339_or_none(at: datetime | None) -> str | None:
    """A publisher's date to the second; None if it is None or cannot be expressed in UTC."""
    try:
        return None if at is None else rfc3339(at, "seconds")
    except (OverflowError, ValueError):
        return None


def moment(text: str | None) -> datetime | None:
    """The moment of a text that `rfc3339` wrote; None if there is no text."""
    return datetime.fromisoformat(text) if text else None


def parse_date(text: str) -> datetime | None:
    """The instant of a date text in UTC; None if the text is no date or the date is outside 1990 … 2099.

    Reads RFC 822, RFC 3339, W3CDTF, ISO 8601, asctime, Unix time in seconds or milliseconds, numeric dates, and month
    names in some two dozen languages. A wrong weekday is ignored, a missing zone means UTC, a day without time its
    midnight. Values out of range (31 June, 25:00) give None; they never overflow into the next unit.
    """
    text = usual_form(text) if len(text := text.strip()) <= MAX_LENGTH else ""
    if not text:
        return None
    try:
        found = _rfc822(text) or _iso(text) or _words(text)
    except (ValueError, OverflowError):
        return None
    return found if found is not None and EARLIEST <= found < LATEST else None


def believable(published: datetime | None, now: datetime) -> datetime | None:
    """The date; None if it is more than 24 h after `now`, because a clock or a year must be wrong."""
    return published if published is not None and published <= now + AHEAD else None


def _instant(date: tuple[int, int, int], clock: _Clock, zone: tzinfo) -> datetime:
    """The instant in UTC. A leap second is the second before (RFC 3339 section 5.7), 24:00 the next midnight."""
    hour, minute, second = clock
    midnight = clock == (24, 0, 0)
    local = datetime(*date, 0 if midnight else hour, minute, 59 if second == 60 else second, tzinfo=zone)
    return (local + timedelta(days=midnight)).astimezone(UTC)


def _offset(sign: str, hours: int, minutes: int) -> timezone:
    if hours > 15 or minutes > 59:
        raise ValueError("no such zone")
    return timezone(timedelta(hours=hours, minutes=minutes) * (-1 if sign == "-" else 1))


def _iso_zone(text: str | None) -> tzinfo:
    """The zone of `Z`, `+01:00`, `-0500`; UTC if empty."""
    return UTC if not text or text in "Zz" else _offset(text[0], int(text[1:3]), int(text[-2:]))


def _complete(match: re.Match[str]) -> datetime:
    """The instant of a match with the groups year, month, day, hour, minute, second, zone."""
    year, month, day, hour, minute, second = (int(group or 0) for group in match.groups()[:6])
    return _instant((year, month, day), (hour, minute, second), _iso_zone(match[7]))


def _rfc822(text: str) -> datetime | None:
    """The instant of the usual form of RFC 822 dates, which `_words` reads as well, but at ten times the cost."""
    match = _RFC822.fullmatch(text)
    month = MONTHS.get(match[2].lower()) if match else None
    if not match or not month:
        return None
    day, year, hour, minute, second = (int(match[group]) for group in (1, 3, 4, 5, 6))
    return _instant((year, month, day), (hour, minute, second), _iso_zone(match[7]))


def _iso(text: str) -> datetime | None:
    """The instant of an ISO 8601 date, also without separators or with missing parts, or of a Unix time."""
    if match := _ISO.fullmatch(text) or _COMPACT.fullmatch(text):
        return _complete(match)
    if match := _UNIX.fullmatch(text):
        return datetime.fromtimestamp(int(match[1]), UTC)
    if match := _PARTIAL.fullmatch(text):
        return datetime(int(match[1]), int(match[2] or 1), 1, tzinfo=UTC)
    if match := _ORDINAL.fullmatch(text):
        return _day_of_year(_iso_year(match[1]), int(match[2]))
    if match := _SHORT_YEAR.fullmatch(text):
        return datetime(_iso_year(match[1]), int(match[2]), int(match[3] or 1), tzinfo=UTC)
    return None


def _iso_year(digits: str) -> int:
    """The year; ISO 8601:2004 removed years of two digits, so that those can only mean 1990 … 2004."""
    year = _full_year(digits)
    if len(digits) == 2 and year > 2004:
        raise ValueError("a year of two digits after they were withdrawn")
    return year


def _full_year(digits: str) -> int:
    """The year: two or three digits by RFC 2822 section 4.3, four digits as written."""
    year = int(digits)
    return year + (0 if len(digits) > 3 else 2000 if len(digits) <= 2 and year < 50 else 1900)


def _day_of_year(year: int, day: int) -> datetime | None:
    found = datetime(year, 1, 1, tzinfo=UTC) + timedelta(days=day - 1)
    return found if found.year == year else None


def _words(text: str) -> datetime | None:
    """The instant of words and numbers in any order: day, month and year must remain without clock and zone."""
    zone: tzinfo = _KOREA if _HANGUL.search(text) else UTC
    text = _DAY_HALF.sub(r" \1m ", _EAST_ASIAN.sub(r"\1-\2-\3 ", _LEADING_WORD.sub(_unless_month, text)))
    clock, before, after = _take_clock(text)
    stated, after = _take_zone(after)
    words, named = _named_zone(_tokens(after))
    half, tokens = _day_half(_tokens(before) + words)
    date = _named_date(tokens) or _numeric_date(f"{before} {after}", tokens)
    if date is None:
        return None
    if half is not None and clock[0] <= 12:
        clock = (clock[0] % 12 + half, *clock[1:])
    return _instant(date, clock, stated or named or zone)


def _unless_month(match: re.Match[str]) -> str:
    """The replacement of a word before a comma and a digit: the word if it is a month, else nothing (a weekday)."""
    return match[0] if fold(match[1]) in MONTHS else ""


def _take_clock(text: str) -> tuple[_Clock, str, str]:
    """The time of day, and the text before and after it (all of it after, if there is none)."""
    match = _TIME.search(text)
    if not match:
        return (0, 0, 0), "", text
    hour, minute, second = (int(group or 0) for group in match.groups())
    return (hour, minute, second), text[: match.start()], text[match.end() :]


def _take_zone(text: str) -> tuple[tzinfo | None, str]:
    """The zone as a numeric offset or a place of the tz database, and the text without it."""
    if match := _PLACE.search(text):
        zone: tzinfo | None = _place(match[0])
    elif match := _OFFSET.search(text):
        zone = _offset(match[1], int(match[2]), int(match[3] or 0))
    else:
        return None, text
    return zone, f"{text[: match.start()]} {_COMMENT.sub('', text[match.end() :])}"


def _place(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError) as error:
        raise ValueError(f"no zone {name}") from error


def _tokens(text: str) -> list[str]:
    """The folded words, numbers and odd characters, without weekdays."""
    return [word for word in map(fold, _TOKEN.findall(text)) if word not in WEEKDAYS]


def _named_zone(tokens: list[str]) -> tuple[list[str], tzinfo | None]:
    """The tokens that are no zone, and the first zone among the tokens."""
    names = [token for token in tokens if token in ZONES]
    zone = timezone(timedelta(minutes=ZONES[names[0]])) if names else None
    return [token for token in tokens if token not in ZONES], zone


def _day_half(tokens: list[str]) -> tuple[int | None, list[str]]:
    """The hours to add for the half of the day (0 or 12), and the tokens that can be parts of a date."""
    half = next((DAY_HALVES[token] for token in tokens if token in DAY_HALVES), None)
    return half, [token for token in tokens if token not in DAY_HALVES and token not in FILLERS]


def _named_date(tokens: list[str]) -> tuple[int, int, int] | None:
    """Year, month and day of a date with a month name; the year has four digits, else it is last."""
    if len(tokens) == 4 and tokens[0] in MONTHS:
        tokens = tokens[1:]  # a weekday whose abbreviation is also that of a month: "mar." is mardi and mars
    months = [MONTHS[token] for token in tokens if token in MONTHS]
    numbers = [token for token in tokens if token.isdigit()]
    if len(tokens) == 2 and months and len(numbers) == 1 and len(numbers[0]) == 4:
        return int(numbers[0]), months[0], 1
    if len(tokens) != 3 or len(months) != 1 or len(numbers) != 2:
        return None
    day, year = reversed(numbers) if len(numbers[0]) == 4 else numbers
    return _full_year(year), months[0], int(day)


def _numeric_date(text: str, tokens: list[str]) -> tuple[int, int, int] | None:
    """Year, month and day of a date in numbers: 2006/09/15, 15.9.2006, 15-09-2006, American order with slashes."""
    match = _NUMERIC.search(text)
    if not match or len(tokens) != 3 or not all(map(str.isdigit, tokens)):
        return None
    first, second, third = tokens
    if len(first) == 4:
        return int(first), int(second), int(third)
    if match[1] == "/" and int(first) <= 12:
        first, second = second, first
    return _full_year(third), int(second), int(first)
