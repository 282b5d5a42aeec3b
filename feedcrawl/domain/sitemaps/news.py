"""The news of a sitemap: URLs or parts to fetch, compared with the previous reading.

The previous reading is stored as one record of twelve bytes for each URL of the document: the first eight bytes of the
SHA-256 of the URL as published, and its last modification in Unix seconds (0 if no date can be trusted). The record of
a URL that has left the document is dropped; if the URL returns, the frontier still knows it.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.sitemaps.documents import parse
from feedcrawl.domain.urls import hostname, origin, resolve, same_site

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from feedcrawl.domain.models import ParsedSitemap, SitemapRef, SitemapUrl

MAX_FOREIGN: Final = 10
"""Hosts of other sites whose robots.txt is fetched because of one poll."""
PARTS_AT_ONCE: Final = 1000
"""Parts of an index taken from one poll: each part is a poll of its host, and polls precede articles."""
TOO_MANY_EDITS: Final = 10
"""A sitemap that reports more edits than this, for more than half of its URLs, is not believed."""

_Numbered = tuple[int, "Found"]
_AHEAD = timedelta(days=1)  # for wrong clocks and time zones; a date further in the future is ignored
_SEEN = struct.Struct(">QI")


@dataclass(frozen=True, slots=True)
class Terms:
    """The conditions of a reading: URLs dated before `since` are old; `seen` is the record of the previous reading.

    `hosts`: for hosts of other sites, True if their robots.txt names this sitemap; a missing host has not been checked
    yet. `limit`: most URLs taken at once. `parts`: most parts of an index that are ever taken.
    """

    now: datetime
    since: datetime
    limit: int
    parts: int
    seen: bytes = b""
    hosts: Mapping[str, bool] | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A URL to fetch, absolute and otherwise as published, with the fields of a news sitemap.

    `edited`: True if the previous reading had the URL and it has changed since.
    """

    url: str
    date: datetime | None = None
    title: str | None = None
    published: datetime | None = None
    language: str | None = None
    edited: bool = False


@dataclass(frozen=True, slots=True)
class News:
    """The result of a reading. `waiting`: URLs for the next poll; `refused` includes parts beyond `Terms.parts`.

    `foreign`: origins of other sites whose robots.txt must be checked for this sitemap. `parts`: the sitemaps that a
    urlset lists beside its URLs, against the schema, each time all of them.
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
    parts: tuple[Found, ...] = ()


def read_news(body: bytes, *, url: str, terms: Terms) -> News:
    """Parse a sitemap and find its news. Raises NotASitemap, as `parse` does."""
    return news_of(parse(body, url=url), url, terms)


def lists_anything(body: bytes, *, url: str) -> bool:
    """True if a sitemap has any URL or part. Raises NotASitemap, as `parse` does."""
    parsed = parse(body, url=url)
    return bool(parsed.urls or parsed.sitemaps)


def news_of(parsed: ParsedSitemap, url: str, terms: Terms) -> News:
    """The news of a sitemap that was fetched from `url`.

    A URL is new if the previous reading did not have it and it is undated or dated at or after `since`. Dates in the
    future are ignored, and so are the dates of a document in which all are equal (the time of its generation, or a
    constant). The result is sorted: the newest first, then the undated in document order.
    """
    return _Reading(url, terms).read(parsed)


def remembered(seen: bytes) -> dict[int, int]:
    """The last modification by the URL's number, from a stored record; an incomplete last entry is dropped."""
    whole = len(seen) - len(seen) % _SEEN.size
    return dict(_SEEN.iter_unpack(seen[:whole]))


def number_of(url: str) -> int:
    """The number under which a URL is stored."""
    return int.from_bytes(sha256(url.encode("utf-8", "replace")).digest()[:8], "big")


class _Reading:
    """The reading of one document."""

    def __init__(self, url: str, terms: Terms) -> None:
        self._url = url
        self._terms = terms
        self._home = origin(url) + "/"
        self._hosts: dict[str, bool | None] = dict(terms.hosts or {})
        self._foreign: dict[str, None] = {}
        self._refused = 0
        self._withheld = 0
        self._old = 0

    def read(self, parsed: ParsedSitemap) -> News:
        is_index = parsed.kind == "index"
        items: Sequence[SitemapUrl | SitemapRef] = parsed.sitemaps if is_index else parsed.urls
        before = remembered(self._terms.seen)
        new, edited, now = self._compare(items, before)
        if len(edited) > max(TOO_MANY_EDITS, len(before) // 2):
            edited = []
        room = self._terms.parts if is_index else len(new) + len(edited)
        taken, left = _first(new + edited, min(room, PARTS_AT_ONCE if is_index else self._terms.limit))
        waiting = min(len(left), room - len(taken))
        for number, _ in left:  # stored as if absent, or unchanged
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
            parts=() if is_index else self._stray(parsed.sitemaps),
        )

    def _stray(self, sitemaps: Sequence[SitemapRef]) -> tuple[Found, ...]:
        return tuple(Found(each.loc) for each in islice(self._admitted(sitemaps), self._terms.parts))

    def _compare(
        self, items: Sequence[SitemapUrl | SitemapRef], before: Mapping[int, int]
    ) -> tuple[list[_Numbered], list[_Numbered], dict[int, int]]:
        """The new URLs, the edited URLs, and the date of every URL by its number, for the next reading."""
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
        """The URLs that this sitemap may list (sitemaps.org, "Sitemaps & cross submits").

        These are URLs of its site (its registered domain, because `www.` and the bare name often list each other) and
        of hosts whose robots.txt names the sitemap.
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
        """True if this sitemap may list the URL, None if robots.txt must be checked first, else False."""
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
    """The dates of a document that can be trusted."""

    def __init__(self, items: Iterable[SitemapUrl | SitemapRef], now: datetime) -> None:
        self._latest = now + _AHEAD
        dates = [date for item in items if (date := _dated(item))]
        self._trusted = len(dates) < 2 or any(date != dates[0] for date in dates)

    def of(self, item: SitemapUrl | SitemapRef) -> datetime | None:
        date = _dated(item) if self._trusted else None
        return date if date is not None and date <= self._latest else None


def _dated(item: SitemapUrl | SitemapRef) -> datetime | None:
    """The date of the last change; for a news sitemap without one, the date of publication."""
    news = getattr(item, "news", None)
    return item.lastmod or (news.published if news else None)


def _found(item: SitemapUrl | SitemapRef, date: datetime | None, *, edited: bool = False) -> Found:
    news = getattr(item, "news", None)
    if news is None:
        return Found(item.loc, date, edited=edited)
    return Found(item.loc, date, news.title, news.published, news.language, edited)


def _first(candidates: list[_Numbered], limit: int) -> tuple[list[Found], list[_Numbered]]:
    """The first `limit` candidates, the newest first and the undated last, and the candidates that are left."""
    ranked = sorted(candidates, key=lambda each: each[1].date.timestamp() if each[1].date else -math.inf, reverse=True)
    return [found for _, found in ranked[:limit]], ranked[limit:]
