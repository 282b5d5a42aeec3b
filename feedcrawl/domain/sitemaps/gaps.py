"""Gaps of a feed, filled from the sitemaps of its site: articles between two polls that no document of the feed lists.

Only sitemaps of the feed's own host are read, and of their URLs those below the folder that the feed's entries share.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, time
from itertools import takewhile
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, urlsplit

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.robots import parse as parse_robots
from feedcrawl.domain.sitemaps.documents import parse
from feedcrawl.domain.sites.site_search import sitemap_guesses
from feedcrawl.domain.urls import host_of, hostname, resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from feedcrawl.domain.models import ParsedSitemap, SitemapUrl

MAX_DOCUMENTS: Final = 10
MAX_FOUND: Final = 500
ROBOTS: Final = "/robots.txt"


@dataclass(frozen=True, slots=True)
class Gap:
    """The time between two polls, the folder of the feed's entries (`host/path/`), and the sitemaps still to read.

    `places`: sitemaps to read, the next first; `documents` and `found`: sitemaps read, and URLs taken from them.
    """

    since: datetime
    until: datetime
    below: str
    places: tuple[str, ...] = ()
    documents: int = 0
    found: int = 0

    def after(self, places: Iterable[str], found: int, *, sitemap: bool = True) -> Gap:
        """The gap after a document: `places` are the sitemaps that it names, `found` is the number of its URLs."""
        named = tuple(dict.fromkeys((*places, *self.places)))
        return replace(self, places=named, documents=self.documents + sitemap, found=self.found + found)

    @property
    def next(self) -> str | None:
        """The next sitemap; None if the walk ends."""
        return self.places[0] if self.places and self.documents < MAX_DOCUMENTS and self.found < MAX_FOUND else None


@dataclass(frozen=True, slots=True)
class Found:
    """A URL of the gap, with the publisher's date and title."""

    url: str
    at: datetime
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Covered:
    """The part of a document that concerns a gap: URLs, the newest first, and further sitemaps."""

    urls: tuple[Found, ...] = ()
    sitemaps: tuple[str, ...] = ()


def folder_of(links: Iterable[str | None]) -> str | None:
    """The folder (`host/path/`) that all links share; None for links of several hosts, and for none. Links without a
    valid host are ignored.
    """
    parts = [part for link in links if link and (part := _split(link)) is not None]
    if not parts or len({part.netloc for part in parts}) > 1:
        return None
    folders = [part.path.split("/")[:-1] for part in parts]
    shared = [names[0] for names in takewhile(lambda names: len(set(names)) == 1, zip(*folders, strict=False))]
    while shared and any(char.isdigit() for char in shared[-1]):  # folders of years and days divide one section
        shared.pop()
    return f"{parts[0].netloc}{'/'.join(shared)}/"


def _split(link: str) -> SplitResult | None:
    try:
        hostname(link)
        return urlsplit(link)
    except ValueError:  # InvalidUrl too
        return None


def read_document(body: bytes, *, url: str, gap: Gap) -> Covered:
    """The URLs of a gap, and the further sitemaps, that a robots.txt or a sitemap names. Raises NotASitemap."""
    if urlsplit(url).path == ROBOTS:
        named = [each for text in parse_robots(body).sitemaps if (each := _absolute(text, url))]
        return Covered(sitemaps=tuple(named[:MAX_DOCUMENTS]) or sitemap_guesses(url))
    parsed = parse(body, url=url)
    found = sorted(_urls(parsed, gap), key=lambda each: each.at, reverse=True)
    return Covered(tuple(found[: MAX_FOUND - gap.found]), tuple(_sitemaps(parsed, gap)))


def _urls(parsed: ParsedSitemap, gap: Gap) -> Iterator[Found]:
    for each in parsed.urls:
        at = _date(each)
        if at is not None and _begin(gap, at) <= at <= gap.until and each.loc.partition("//")[2].startswith(gap.below):
            yield Found(each.loc, at, each.news.title if each.news else None)


def _begin(gap: Gap, at: datetime) -> datetime:
    """The beginning of a gap in the precision of a date: dates of sitemaps have whole seconds, or name a day alone,
    which is read as its midnight.
    """
    begin = gap.since.replace(microsecond=0)
    return begin.replace(hour=0, minute=0, second=0) if at.time() == time() else begin


def _date(each: SitemapUrl) -> datetime | None:
    return (each.news.published if each.news else None) or each.lastmod


def _sitemaps(parsed: ParsedSitemap, gap: Gap) -> Iterator[str]:
    """The sitemaps of an index that may cover the gap: changed since it began, the last changed first."""
    host = gap.below.partition("/")[0].partition(":")[0]
    dated = sorted(parsed.sitemaps, key=lambda each: each.lastmod.timestamp() if each.lastmod else 0.0, reverse=True)
    for each in dated[: 10 * MAX_DOCUMENTS]:
        if (each.lastmod is None or each.lastmod >= _begin(gap, each.lastmod)) and host_of(each.loc) == host:
            yield each.loc


def _absolute(url: str, base: str) -> str | None:
    try:
        return resolve(url, base)
    except InvalidUrl:
        return None
