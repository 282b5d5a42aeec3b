"""The elements of a sitemap: `<url>` with Google's news and image extensions, and `<sitemap>`."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.dates import parse_date
from feedcrawl.domain.models import News, SitemapRef, SitemapUrl
from feedcrawl.domain.urls import MAX_URL_LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree

WEB: Final = ("http://", "https://")
MAX_IMAGES: Final = 1000  # of one URL (Google, "Image sitemaps")
MAX_TEXT: Final = 1000  # characters of a title or a name

_FREQUENCIES = frozenset({"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"})


def read_sitemap(element: etree._Element) -> SitemapRef:
    """The sitemap that a `<sitemap>` names."""
    texts = _texts(element)
    return SitemapRef(_loc(element, texts), parse_date(texts.get("lastmod", "")))


def read_url(element: etree._Element) -> SitemapUrl:
    """The page that a `<url>` names, with its news and images."""
    texts = _texts(element)
    changefreq = texts.get("changefreq", "").lower()
    return SitemapUrl(
        loc=_loc(element, texts),
        lastmod=parse_date(texts.get("lastmod", "")),
        changefreq=changefreq if changefreq in _FREQUENCIES else None,
        priority=_priority(texts.get("priority", "")),
        news=next((_news(child) for child in element if local_name(child) == "news"), None),
        images=tuple(islice(_images(element), MAX_IMAGES)),
    )


def _loc(element: etree._Element, texts: dict[str, str]) -> str:
    """The text of `loc`, else the web URL that stands in the element itself."""
    own = (element.text or "").strip()
    return texts.get("loc") or (own if own[:8].lower().startswith(WEB) else "")


def _news(element: etree._Element) -> News:
    texts = _texts(element)
    publication = next((_texts(child) for child in element if local_name(child) == "publication"), texts)
    return News(
        publication=publication.get("name", "")[:MAX_TEXT] or None,
        language=publication.get("language") or None,
        published=parse_date(texts.get("publication_date", "")),
        title=texts.get("title", "")[:MAX_TEXT] or None,
    )


def _images(element: etree._Element) -> Iterator[str]:
    for image in element:
        if local_name(image) == "image" and (loc := _texts(image).get("loc")):
            yield loc


def _priority(text: str) -> float | None:
    """A number from 0.0 to 1.0 in the protocol's form; None for any other text."""
    if not text.replace(".", "", 1).isdecimal() or not text.isascii():
        return None
    priority = float(text)
    return priority if priority <= 1 else None


def _texts(element: etree._Element) -> dict[str, str]:
    """The text of each child by local name; the first child of a name counts."""
    texts: dict[str, str] = {}
    for child in element:
        texts.setdefault(local_name(child), "".join(map(str, child.itertext())).strip()[: MAX_URL_LENGTH + 1])
    return texts


def local_name(element: etree._Element) -> str:
    """The lower-case name without namespace, or without its prefix if that is undeclared; "" for an entity."""
    tag = element.tag
    return tag.rpartition("}")[2].rpartition(":")[2].lower() if isinstance(tag, str) else ""
