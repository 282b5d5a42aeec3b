"""Metadata beside the text of a page: image, language, site, canonical URL, tags."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.extraction.fields.sites import is_front, site_names
from feedcrawl.domain.extraction.structured import text_at, values
from feedcrawl.domain.figures.images import image_source, is_pixel
from feedcrawl.domain.sanitize import safe_url
from feedcrawl.domain.text import fold
from feedcrawl.domain.urls import resolve, same_site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.page import Page
    from feedcrawl.domain.json_values import Json
    from feedcrawl.domain.models import FeedContent

MAX_TAGS = 50
_IMAGE_METAS = (
    "og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src", "parsely-image-url",
    "sailthru.image.full", "image", "thumbnail", "thumbnailurl",
)  # fmt: skip
_ICON = re.compile(
    r"(?<![a-z])(?:icons?|(?:site|print|head(?:er)?|top|main|new|page|web|mobile|share)?logos?|avatars?|sprites?|pixel|blank"
    r"|spacer|emoji|gravatar|placeholder|1x1|badge|captcha|ghost)(?![a-z])|\.svg(?:$|[?#])",
    re.IGNORECASE,
)
# Files of a site's design, empty pictures, and the icons of blogs, which publishing systems name on every page.
_DECORATION = re.compile(
    r"/themes/(?![^?#]*/20\d\d)[^?#]*\.(?:png|gif|svg|jpe?g|webp)|/(?:blank|spacer)\.\w+(?:$|[?#])|gravatar\.com/",
    re.IGNORECASE,
)
_VIDEO = re.compile(r"\.(?:mp4|webm|mov|m3u8)(?:$|\?)", re.IGNORECASE)
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*$")


def find_canonical(page: Page) -> str | None:
    """The URL that the page states as its own, else the URL from which it was fetched.

    og:url is "the permanent ID" of a page (https://ogp.me). rel=canonical is its preferred address (RFC 6596), but for
    a syndicated text it names the original on another site, and is then no statement about this page. A front page is
    never believed. The caller decides whether the URL may be an identity.
    """
    own = _resolved(page.meta("og:url"), page.base)
    if own and (not is_front(own) or is_front(page.url)):
        return own
    fetched = _resolved(page.url, page.base)
    for link in page.elements.of("link"):
        is_canonical = "canonical" in (link.get("rel") or "").lower().split()
        url = _resolved(link.get("href"), page.base) if is_canonical else None
        if url and fetched and _is_of_site(url, fetched) and (not is_front(url) or is_front(page.url)):
            return url
    return fetched


def find_language(page: Page, feed: FeedContent | None) -> str | None:
    """The language tag (BCP 47) of the page: html lang, meta elements, structured data, the feed."""
    declared = (page.tree.get("lang"), page.tree.get("xml:lang"))
    metas = (page.meta("content-language", "dc.language", "language"), page.meta("og:locale"))
    stated = (*declared, metas[0], text_at(page.article, "inLanguage"), metas[1], feed.language if feed else None)
    return next((tag.strip().replace("_", "-") for tag in stated if tag and _LANGUAGE.match(tag.strip())), None)


def find_site_name(page: Page) -> str | None:
    """The name of the site as the page states it, else its host."""
    return next(site_names(page), None) or None


def find_tags(page: Page, feed: FeedContent | None) -> tuple[str, ...]:
    """Keywords of the article: structured data, article:tag, meta keywords, the feed's categories."""
    texts = [*_texts(page.article.get("keywords")), *page.metas.get("article:tag", ())]
    texts = (
        texts
        or [*page.metas.get("keywords", ()), *page.metas.get("news_keywords", ())]
        or list(feed.categories if feed else ())
    )
    tags = (fold(tag) for text in texts for tag in re.split(r"[,;]", text))
    return tuple(dict.fromkeys(tag for tag in tags if 0 < len(tag) <= 100))[:MAX_TAGS]


def find_image(page: Page, content: HtmlElement | None, feed: FeedContent | None) -> str | None:
    """The URL of the article's picture: the one that the page names, else the first of its content, else the feed's.

    The picture that a page names for sharing is its lead picture, which often stands above the content.
    """
    posters = [video.get("poster") for video in page.elements.of("video")]
    stated = (url for text in _named_images(page) if text and (url := _image_url(text, page.base)))
    shown = _content_images(page, content) if content is not None else iter(())
    others = (url for text in (*posters, feed.image if feed else None) if text and (url := _image_url(text, page.base)))
    return next(chain(stated, shown, others), None)


def _is_of_site(url: str, fetched: str) -> bool:
    return urlsplit(url).hostname == urlsplit(fetched).hostname or same_site(url, fetched)


def _named_images(page: Page) -> Iterator[str | None]:
    yield from map(page.meta, _IMAGE_METAS)
    yield from _texts(page.article.get("image"))
    yield from _texts(page.article.get("thumbnailUrl"))
    yield from (link.get("href") for link in page.elements.of("link") if "image_src" in (link.get("rel") or "").split())


def _content_images(page: Page, content: HtmlElement) -> Iterator[str]:
    for image in content.iter("img"):
        source = image_source(image)
        if source and not (is_pixel(image) or _is_small(image) or _ICON.search(source)):
            url = _image_url(source, page.base)
            if url:
                yield url


def _is_small(image: HtmlElement) -> bool:
    sizes = [re.match(r"\d+", image.get(side) or "") for side in ("width", "height")]
    return any(size and int(size[0]) < 50 for size in sizes)


def _image_url(text: str, base: str) -> str | None:
    url = safe_url(text, base)
    is_picture = url and url.startswith("http") and not _VIDEO.search(url) and not _DECORATION.search(url)
    return url if is_picture else None


def _texts(value: Json) -> list[str]:
    found = []
    for node in values(value):
        text = node.get("url") or node.get("name") if isinstance(node, dict) else node
        if isinstance(text, str):
            found.append(text)
    return found


def _resolved(href: str | None, base: str) -> str | None:
    try:
        return resolve(href, base) if href else None
    except InvalidUrl:
        return None
