"""The search for a site's feed and sitemaps, from a page of the site: the addresses to request, and the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, TypedDict

from feedcrawl.domain.schemas import About, Time, WebUrl, record
from feedcrawl.domain.urls import canonicalize, resolve

if TYPE_CHECKING:
    from collections.abc import Iterable

    from feedcrawl.domain.sites.sources import Source

SITEMAP_PATHS: Final = (
    "/sitemap.xml",
    "/news-sitemap.xml",
    "/sitemap_index.xml",
    "/sitemap-news.xml",
    "/wp-sitemap.xml",
)
"""Paths where sites keep sitemaps that their robots.txt does not name, the likeliest first."""
MAX_NAMED: Final = 100
"""The most sitemaps that are taken from one robots.txt."""


class Tried(TypedDict):
    """An address that was requested, and its result."""

    url: Annotated[str, About("Address that was requested")]
    result: Annotated[
        str, About("feed, sitemap, no_feed or no_sitemap (another document), or the reason code: http_404, …")
    ]


@record("source_searched", "source_searched")
class SourceSearchedRecord(TypedDict):
    """The site of a source without addresses of its own was searched. Event id: source_searched:<source>:<time>."""

    source: Annotated[str, About("Name of the source")]
    url: Annotated[WebUrl, About("Page from which the search began: base_url of the source")]
    at: Annotated[Time, About("End of the search")]
    feeds: Annotated[list[str], About("Feeds that were found and subscribed")]
    sitemaps: Annotated[list[str], About("Sitemaps that were found and are watched")]
    tried: Annotated[list[Tried], About("Addresses that were requested, in order")]


def is_searched(source: Source) -> bool:
    """True if a source is to be polled and names neither a feed nor a sitemap: its site is searched for both."""
    return source.polls and not source.feed_urls and not source.sitemap_urls


def sitemap_guesses(page: str) -> tuple[str, ...]:
    """Usual addresses of sitemaps at a page's host."""
    return tuple(resolve(path, page) for path in SITEMAP_PATHS)


def page_key(url: str) -> str:
    """The key that all spellings of a page's URL share."""
    return canonicalize(url).partition("://")[2]


def in_words(found: SourceSearchedRecord) -> str:
    """The result of a search in a sentence, with all that was tried if nothing was found."""
    if found["feeds"] or found["sitemaps"]:
        return f"found {', '.join((*found['feeds'], *found['sitemaps']))}"
    return f"no feed and no sitemap was found; tried: {tried_in_words(found['tried'])}"


def tried_in_words(tried: Iterable[Tried]) -> str:
    """Addresses with their results."""
    return ", ".join(f"{each['url']} ({each['result']})" for each in tried)
