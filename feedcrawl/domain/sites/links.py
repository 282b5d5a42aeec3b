"""Sorts the links of a listing page into articles, further listings, and links that are ignored."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from feedcrawl.domain.discovery import page_links
from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.urls import canonicalize, same_site

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from feedcrawl.domain.sites.sources import Source

MIN_WORDS: Final = 3
MIN_SLUG: Final = 15  # characters

_FILE = re.compile(
    r"\.(?:jpe?g|png|gif|webp|avif|svg|ico|bmp|css|js|mjs|json|xml|rss|atom|rdf|txt|pdf|docx?|xlsx?|pptx?|odt|csv|zip"
    r"|gz|tgz|rar|7z|exe|dmg|apk|mp[34]|m4[av]|ogg|wav|webm|avi|mov|woff2?|ttf|ics|vcf)$",
    re.IGNORECASE,
)
_DATED = re.compile(
    r"/(?:19|20)\d\d[/-]?(?:0?[1-9]|1[0-2])[/-]?(?:0?[1-9]|[12]\d|3[01])(?=[/._-]|$)|/(?:19|20)\d\d/\d\d/"
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_NUMBER = re.compile(r"\d{4,}")
_ID = re.compile(r"\d+$")
_SECTION = re.compile(
    r"tags?|topics?|categor(?:y|ies)|cat|authors?|profiles?|users?|members?|people|staff|contributors?|pages?|search"
    r"|labels?"
)
"""Names of folders whose pages are listings: a URL in them is no article, even with a long name."""
_CLOSED = re.compile(
    r"log-?in|log-?out|sign-?(?:in|out|up)|register|(?:my-)?account|password|subscri(?:be|ption)|newsletters?|cart|basket"
    r"|checkout|admin|wp-(?:admin|login\.php|json)|cgi-bin|feeds?|rss|print|share|comments|privacy|terms|impressum"
    r"|imprint|cookies|about(?:-us)?|contact(?:-us)?|help|faq|jobs|advertise"
)
"""Names of folders and pages that are no articles and lead to none."""
_ARTICLE_IDS = frozenset({"id", "aid", "nid", "pid", "sid", "artid", "articleid", "article_id", "article", "story",
                          "storyid", "story_id", "newsid", "news_id", "postid", "post_id", "itemid"})  # fmt: skip


@dataclass(frozen=True, slots=True)
class SiteLinks:
    """Absolute URLs as published, without repeats, in the order of the page."""

    articles: tuple[str, ...] = ()
    listings: tuple[str, ...] = ()
    external: tuple[str, ...] = ()


def read_links(html: bytes, *, url: str, source: Source) -> SiteLinks:
    """The links of a listing page. `external`: articles of other sites; empty unless the source submits them."""
    return sort_links(page_links(html, url=url), source)


def sort_links(links: Iterable[str], source: Source) -> SiteLinks:
    """The links by kind. The source's patterns decide; a source without patterns is sorted by the form of the URL.

    A source is a registered domain: a link to another registered domain is external.
    """
    articles: list[str] = []
    listings: list[str] = []
    external: list[str] = []
    for link in _unique(links, source):
        inside = same_site(link, source.base_url)
        if not inside:
            if source.external_links == "submit" and looks_like_article(link):
                external.append(link)
        elif is_article(link, source):
            articles.append(link)
        elif is_listing(link, source):
            listings.append(link)
    return SiteLinks(tuple(articles), tuple(listings), tuple(external))


def is_article(url: str, source: Source) -> bool:
    """True if a URL of the source is an article."""
    if source.article_patterns:
        return _matches(url, source.article_patterns)
    return not _matches(url, source.listing_patterns) and looks_like_article(url)


def is_listing(url: str, source: Source) -> bool:
    """True if a URL of the source is a listing, to be followed for the articles that it may list."""
    if source.listing_patterns:
        return _matches(url, source.listing_patterns)
    return not _is_closed(url) and not looks_like_article(url)


def looks_like_article(url: str) -> bool:
    """True if the URL has the form of an article's: a date or a long name in its path, or an article's number.

    `/2026/11/28/title`, `/news/some-long-title`, `/news/123/title`, `/title-123456.html`, `/?p=123`,
    `/story.php?id=123`; never a file, or a page below tags, authors, categories and similar folders.
    """
    parts = urlsplit(url)
    path = unquote(parts.path)
    folders = [folder.lower() for folder in path.split("/") if folder]
    if _is_closed(url) or any(map(_SECTION.fullmatch, folders[:-1] or folders)):
        return False
    if not folders or path.endswith((".php", ".asp", ".aspx", ".jsp", ".cgi")):
        return _names_by_query(parts.query, is_root=not folders)
    if _DATED.search(path) and not _ID.fullmatch(folders[-1]):
        return True
    slug = folders[-1].rpartition(".")[0] or folders[-1]
    words = len(_WORD.findall(slug))
    if words >= MIN_WORDS and len(slug) >= MIN_SLUG:
        return True
    numbered = _NUMBER.search(slug) or (len(folders) > 1 and _ID.fullmatch(folders[-2]))
    return bool(numbered and words)


def _names_by_query(query: str, *, is_root: bool) -> bool:
    """True if the query has `?p=` on a front page (WordPress), or a parameter for the number of an article."""
    pairs = {name.lower(): value for name, value in parse_qsl(query)}
    if is_root and pairs.get("p", "").isdecimal():
        return True
    return any(value.isdecimal() and name in _ARTICLE_IDS for name, value in pairs.items())


def _is_closed(url: str) -> bool:
    path = unquote(urlsplit(url).path).lower()
    return bool(_FILE.search(path)) or any(map(_CLOSED.fullmatch, path.split("/")))


def _matches(url: str, patterns: Sequence[str]) -> bool:
    return any(re.search(pattern, url) for pattern in patterns)


def _unique(links: Iterable[str], source: Source) -> list[str]:
    """The links without repeats: URLs that differ only in fragment, tracking or order of parameters are the same."""
    found: dict[str, str] = {}
    for link in links:
        try:
            found.setdefault(canonicalize(link, keep_trailing_slash=source.keep_trailing_slash), link)
        except InvalidUrl:
            continue
    return list(found.values())
