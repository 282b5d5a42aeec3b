"""What is new in a sitemap: which of its URLs or parts are worth asking for, given what was in it the last time.

What was seen is remembered as one record of twelve bytes for each URL of the document: the first eight bytes of the
SHA-256 of the URL as published, and the time of its last modification in Unix seconds (0 where none can be trusted). It
is as large as the document and no larger; what left the document and comes back is known to the frontier.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.sitemaps.documents import parse
from feedcrawl.domain.urls import hostname, origin, resolve, same_site

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from feedcrawl.domain.models import ParsedSitemap, SitemapRef, SitemapUrl

MAX_FOREIGN: Final = 10
"""Hosts of other sites whose robots.txt is asked on account of one poll."""
PARTS_AT_ONCE: Final = 1000
"""Parts of an index that are taken from one poll: each is a poll of its host, and polls go before articles."""
TOO_MANY_EDITS: Final = 10
"""From here on, a sitemap that says of most of its URLs that they have changed is not believed."""

_Numbered = tuple[int, "Found"]
_AHEAD = timedelta(days=1)  # clocks and time zones; what lies further in the future is no date of a change
_SEEN = struct.Struct(">QI")


@dataclass(frozen=True, slots=True)
class Terms:
    """By what the news are told: dates before `since` are old; `seen` is what the last reading left.

    `hosts` says of hosts of other sites whether their robots.txt names this sitemap; those not in it are not known.
    No more than `limit` URLs are taken at once, and no more than `parts` of an index ever.
    """

    now: datetime
    since: datetime
    limit: int
    parts: int
    seen: bytes = b""
    hosts: Mapping[str, bool] | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A URL worth asking for, absolute and as published, with what a news sitemap says of it.

    `edited` if it was there the last time and has changed since.
    """

    url: str
    date: datetime | None = None
    title: str | None = None
    published: datetime | None = None
    language: str | None = None
    edited: bool = False


@dataclass(frozen=True, slots=True)
class News:
    """What a document brings. `waiting` are left for the next time; parts beyond all that may be are `refused`.

    `foreign` are origins of other sites whose robots.txt has yet to be asked whether they name this sitemap.
    """

    kind: str
    found: tuple[Found, ...] = ()
    seen: bytes = b""
    urls: int = 0
    waiting: int = 0
    old: int = 0
    refused: int = 0
    foreign: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def read_news(body: bytes, *, url: str, terms: Terms) -> News:
    """Parses a sitemap and tells what is new in it; NotASitemap as `parse` raises it."""
    return tell_news(parse(body, url=url), url, terms)


def tell_news(parsed: ParsedSitemap, url: str, terms: Terms) -> News:
    """What is new in a sitemap that was served at `url`.

    New is what was not there the last time, unless it is dated before `since`; without a date the first sight decides.
    Dates in the future are none, and neither are those of a document in which all are the same (the time at which it
    was made, or a constant). What is found is sorted: the newest first, then the undated in their order.
    """
    return _Telling(url, terms).tell(parsed)


def remembered(seen: bytes) -> dict[int, int]:
    """What a reading left, as the time of the last modification by the URL's number; a torn record is left out."""
    whole = len(seen) - len(seen) % _SEEN.size
    return dict(_SEEN.iter_unpack(seen[:whole]))


def number_of(url: str) -> int:
    """The number by which a URL is remembered."""
    return int.from_bytes(sha256(url.encode("utf-8", "replace")).digest()[:8], "big")


class _Telling:
    """One document being told."""

    def __init__(self, url: str, terms: Terms) -> None:
        self._url = url
        self._terms = terms
        self._home = origin(url) + "/"
        self._hosts: dict[str, bool | None] = dict(terms.hosts or {})
        self._foreign: dict[str, None] = {}
        self._refused = 0
        self._withheld = 0
        self._old = 0

    def tell(self, parsed: ParsedSitemap) -> News:
        is_index = parsed.kind == "index"
        items: Sequence[SitemapUrl | SitemapRef] = parsed.sitemaps if is_index else parsed.urls
        before = remembered(self._terms.seen)
        new, edited, now = self._compare(items, before)
        if len(edited) > max(TOO_MANY_EDITS, len(before) // 2):
            edited = []
        room = self._terms.parts if is_index else len(new) + len(edited)
        taken, left = _first(new + edited, min(room, PARTS_AT_ONCE if is_index else self._terms.limit))
        waiting = min(len(left), room - len(taken))
        for number, _ in left:  # as if they had not been there, or had not changed
            now[number] = before.get(number, -1)
        return News(
            kind=parsed.kind,
            found=tuple(taken),
            seen=b"".join(_SEEN.pack(*each) for each in now.items() if each[1] >= 0),
            urls=len(items),
            waiting=self._withheld + waiting,
            old=self._old,
            refused=self._refused + len(left) - waiting,
            foreign=tuple(self._foreign),
            notes=parsed.notes,
        )

    def _compare(
        self, items: Sequence[SitemapUrl | SitemapRef], before: Mapping[int, int]
    ) -> tuple[list[_Numbered], list[_Numbered], dict[int, int]]:
        """What is new, what is edited, and all that is there, as it shall be remembered."""
        dates = _Dates(items, self._terms.now)
        now: dict[int, int] = {}
        new: list[_Numbered] = []
        edited: list[_Numbered] = []
        for item in self._admitted(items):
            number, date = number_of(item.loc), dates.of(item)
            if number in now:
                continue
            now[number] = 0 if date is None else min(max(round(date.timestamp()), 0), 2**32 - 1)
            if number in before:
                if 0 < before[number] < now[number]:
                    edited.append((number, _found(item, date, edited=True)))
            elif date is None or date >= self._terms.since:
                new.append((number, _found(item, date)))
            else:
                self._old += 1
        return new, edited, now

    def _admitted(self, items: Iterable[SitemapUrl | SitemapRef]) -> Iterator[SitemapUrl | SitemapRef]:
        """Those of which this sitemap may speak (sitemaps.org, "Sitemaps & cross submits").

        They are of its site, a registered domain since `www.` and the bare name list each other everywhere, or of a
        host whose robots.txt names it.
        """
        for item in items:
            may = item.loc.startswith(self._home) or self._may_list(item.loc)
            if may:
                yield item
            elif may is None:
                self._withheld += 1
            else:
                self._refused += 1

    def _may_list(self, loc: str) -> bool | None:
        """None where it is not known yet; what cannot be asked for is never listed."""
        try:
            url = resolve(loc)
            host = hostname(url)
            if host not in self._hosts and not same_site(self._url, url):
                return self._ask(origin(url))
        except InvalidUrl:
            return False
        return self._hosts.get(host, True)

    def _ask(self, site: str) -> bool | None:
        if site not in self._foreign:
            if len(self._foreign) >= MAX_FOREIGN:
                return False
            self._foreign[site] = None
        return None


class _Dates:
    """The dates of a document that may be trusted."""

    def __init__(self, items: Iterable[SitemapUrl | SitemapRef], now: datetime) -> None:
        self._latest = now + _AHEAD
        dates = [date for item in items if (date := _dated(item))]
        self._trusted = len(dates) < 2 or any(date != dates[0] for date in dates)

    def of(self, item: SitemapUrl | SitemapRef) -> datetime | None:
        date = _dated(item) if self._trusted else None
        return date if date is not None and date <= self._latest else None


def _dated(item: SitemapUrl | SitemapRef) -> datetime | None:
    """When it last changed; a news sitemap may say only when it was published."""
    news = getattr(item, "news", None)
    return item.lastmod or (news.published if news else None)


def _found(item: SitemapUrl | SitemapRef, date: datetime | None, *, edited: bool = False) -> Found:
    news = getattr(item, "news", None)
    if news is None:
        return Found(item.loc, date, edited=edited)
    return Found(item.loc, date, news.title, news.published, news.language, edited)


def _first(candidates: list[_Numbered], limit: int) -> tuple[list[Found], list[_Numbered]]:
    """The first `limit` of them, the newest before the undated, and those that are left."""
    ranked = sorted(candidates, key=lambda each: each[1].date.timestamp() if each[1].date else -math.inf, reverse=True)
    return [found for _, found in ranked[:limit]], ranked[limit:]
