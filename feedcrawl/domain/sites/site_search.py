"""The search for a site's feed and sitemaps, from a page of the site: the addresses to request, and the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal, TypedDict

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


Sought = Literal["feed", "sitemap"]
BOTH: Final[tuple[Sought, ...]] = ("feed", "sitemap")


class Tried(TypedDict):
    """An address that was requested, and its result."""

    url: Annotated[str, About("Address that was requested")]
    result: Annotated[
        str, About("feed, sitemap, no_feed or no_sitemap (another document), or the reason code: http_404, …")
    ]


@record("source_searched", "source_searched")
class SourceSearchedRecord(TypedDict):
    """The site of a source was searched for what it does not name. Event id: source_searched:<source>:<time>."""

    source: Annotated[str, About("Name of the source")]
    url: Annotated[WebUrl, About("Page from which the search began: base_url of the source")]
    at: Annotated[Time, About("End of the search")]
    sought: Annotated[list[Sought], About("What the site has been searched for, by this search and those before it")]
    feeds: Annotated[list[str], About("Feeds that were found and subscribed")]
    sitemaps: Annotated[list[str], About("Sitemaps that were found and are watched")]
    tried: Annotated[list[Tried], About("Addresses that were requested, in order")]


def lacking(source: Source) -> tuple[Sought, ...]:
    """What the site of a source is searched for: a feed, sitemaps, or both, where the source is polled and names none
    (with an empty list the source has none).
    """
    named: dict[Sought, object] = {"feed": source.feed_urls, "sitemap": source.sitemap_urls}
    return tuple(each for each in BOTH if source.polls and named[each] is None)


def is_empty(source: Source, found: SourceSearchedRecord | None) -> bool:
    """True if a source names neither a feed nor a sitemap, and none was found."""
    named = source.feed_urls or source.sitemap_urls
    return not named and (found is None or not (found["feeds"] or found["sitemaps"]))


def is_sought(kind: Sought, found: SourceSearchedRecord | None) -> bool:
    """True if a search for this has ended; records of earlier versions name nothing, and are of searches for both."""
    return found is not None and kind in found.get("sought", BOTH)


def joined(new: SourceSearchedRecord, before: SourceSearchedRecord | None) -> SourceSearchedRecord:
    """The result of a search together with that of an earlier search for the rest."""
    if before is None:
        return new
    kept = [each for each in BOTH if each not in new["sought"] and is_sought(each, before)]
    return {
        **new,
        "sought": [*new["sought"], *kept],
        "feeds": before["feeds"] if "feed" in kept else new["feeds"],
        "sitemaps": before["sitemaps"] if "sitemap" in kept else new["sitemaps"],
        "tried": [*(before["tried"] if kept else ()), *new["tried"]],
    }


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
    sought = " and ".join(f"no {each}" for each in BOTH if is_sought(each, found))
    return f"{sought} was found; tried: {tried_in_words(found['tried'])}"


def tried_in_words(tried: Iterable[Tried]) -> str:
    """Addresses with their results."""
    return ", ".join(f"{each['url']} ({each['result']})" for each in tried)
