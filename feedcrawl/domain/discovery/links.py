"""The feeds that a page announces, and links that look like feeds for a page that announces none.

No tree is built: a `<link>` counts anywhere in the document except in comments, scripts and attributes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.discovery.feed_schemes import without_feed_scheme
from feedcrawl.domain.discovery.link_headers import HeaderLink, header_links
from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.http.encodings import decode_page
from feedcrawl.domain.markup import start_tags
from feedcrawl.domain.models import FeedLink
from feedcrawl.domain.urls import resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# Paths where sites keep feeds that they do not announce, the likeliest first.
COMMON_PATHS: Final = ("/feed", "/rss", "/atom.xml", "/feed.xml", "/rss.xml", "/index.xml", "/feed.json", "/index.rdf")
MAX_LINKS: Final = 200  # of one page
MAX_PAGE_LINKS: Final = 5000  # anchors of one page
MAX_TITLE: Final = 1000  # characters

_FEED_TYPE = re.compile(r"(?:application|text)/(?:x-)?(?:rss|atom|rdf)(?:\+xml)?|application/feed\+json")
_GENERIC_TYPES = frozenset({"application/xml", "text/xml", "application/json"})
# WordPress announces its API with the media type of JSON Feed 1.0; such a link leads to a record, not to a feed.
_API = re.compile(r"/wp-json/|[?&]rest_route=")
_FEED_LIKE = re.compile(
    r"/(?:feeds?|rss2?|atom)/?(?:\?|$)"
    r"|\.(?:rss|atom|rdf)(?:\?|$)"
    r"|/[\w.-]*(?:feed|rss|atom)[\w.-]*\.(?:xml|json|php)(?:\?|$)"
    r"|/feeds?/[\w./-]+\.xml(?:\?|$)"
    r"|[?&](?:feed|format|type)=(?:rss2?|atom|rdf)(?:&|$)",
    re.IGNORECASE,
)


def find_feeds(html: bytes, *, url: str, headers: Sequence[str] = ()) -> tuple[FeedLink, ...]:
    """The feeds that a page announces by `<link rel="alternate">` with a feed's type, or by `rel="feed"`.

    Absolute http(s) URLs without repeats, those of its Link `headers` (RFC 8288) first, then in document order,
    resolved against `<base>` (WHATWG HTML section 4.6.7.1, "rel alternate"; RSS Advisory Board, "RSS Autodiscovery").
    `type` is None if the page gives none.
    """
    base, tags = _page(html, url, "link")
    return _unique((*_feeds(map(_as_tag, header_links(headers)), url), *_feeds(tags, base)))


def feed_like_links(html: bytes, *, url: str) -> tuple[FeedLink, ...]:
    """Anchors whose type or path looks like a feed's: URLs to try if a page announces no feed."""
    base, tags = _page(html, url, "a")
    likely = ((tag, href) for tag in tags if (href := _href(tag, base)))
    return _unique(
        FeedLink(href, _type(tag), tag.get("title", "")[:MAX_TITLE].strip() or None)
        for tag, href in likely
        if _FEED_TYPE.fullmatch(_type(tag) or "") or _FEED_LIKE.search(href.partition("//")[2])
    )


def page_links(html: bytes, *, url: str) -> tuple[str, ...]:
    """The web URLs of a page's anchors, absolute, in document order, without repeats."""
    base, tags = _page(html, url, "a")
    return tuple(dict.fromkeys(href for tag in tags if (href := _href(tag, base))))[:MAX_PAGE_LINKS]


def _as_tag(link: HeaderLink) -> dict[str, str]:
    return {"href": link.target, "rel": " ".join(link.rels), "type": link.type, "title": link.title}


def _feeds(tags: Iterable[dict[str, str]], base: str) -> Iterator[FeedLink]:
    for tag in tags:
        href = _href(tag, base)
        if href and _names_a_feed(_rels(tag), _type(tag), href):
            yield FeedLink(href, _type(tag), tag.get("title", "")[:MAX_TITLE].strip() or None)


def _names_a_feed(rels: frozenset[str], kind: str | None, href: str) -> bool:
    if "feed" in rels:
        return True
    if "alternate" not in rels or "stylesheet" in rels or not kind:
        return False
    return bool(_FEED_TYPE.fullmatch(kind)) or (kind in _GENERIC_TYPES and not _API.search(href))


def _unique(links: Iterable[FeedLink]) -> tuple[FeedLink, ...]:
    found: dict[str, FeedLink] = {}
    for link in links:
        found.setdefault(link.url, link)
    return tuple(found.values())[:MAX_LINKS]


def _page(html: bytes, url: str, name: str) -> tuple[str, list[dict[str, str]]]:
    """The base URL of the page's links, and the attributes of each start tag with this name."""
    text = decode_page(html).text
    tags = list(start_tags(text, {name, "base"}))
    base = next((attributes["href"] for found, attributes in tags if found == "base" and "href" in attributes), "")
    return _resolved(base, url) or url, [attributes for found, attributes in tags if found == name]


def _rels(tag: dict[str, str]) -> frozenset[str]:
    return frozenset(tag.get("rel", "").lower().split())


def _type(tag: dict[str, str]) -> str | None:
    return tag.get("type", "").partition(";")[0].strip().lower()[:100] or None


def _href(tag: dict[str, str], base: str) -> str | None:
    return _resolved(tag.get("href", ""), base)


def _resolved(href: str, base: str) -> str | None:
    """The absolute web URL of an attribute; None if it is empty, has another scheme, or must not be fetched."""
    href = re.sub(r"[\t\r\n]", "", without_feed_scheme(href.strip()))
    try:
        return resolve(href, base) if href else None
    except InvalidUrl:
        return None
