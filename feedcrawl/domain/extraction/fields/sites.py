"""The names of a site, and titles without them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from feedcrawl.domain.extraction.structured import text_at, values
from feedcrawl.domain.text import squeezed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.page import Page

# Spaced strokes, bars of any width, and hyphens where they join no words: between ideographs or syllables.
SEPARATOR = re.compile(
    r"\s+[|\-–—·•»\u203a:/~]+\s+|\s*[|_»\u2502\u3163\uff5c\uff1a]+\s*"
    r"|(?<=[\u3000-\ud7af])[-–—]+(?=[\u3000-\ud7af])"
)
_TRANSCRIBED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "o", "å": "a", "é": "e", "è": "e"})
_MIN_LABEL, _MIN_INITIALS = 5, 3  # letters; shorter words begin many hosts
_SMALL_WORDS = frozenset(
    {"of", "the", "and", "for", "a", "de", "la", "du", "des", "et", "und", "der", "die", "für", "y", "e"}
)
_OF_NEWS = {"news_keywords", "googlebot-news"}
_IN_BRACKETS = re.compile(r"\s+\(([^()]+)\)$")
_DATE = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{2,4}")


def site_names(page: Page) -> Iterator[str]:
    """The names of the site: those that it states, and its host."""
    for name in (*map(page.meta, ("og:site_name", "application-name", "apple-mobile-web-app-title")), _publisher(page)):
        if name and "://" not in name:
            yield name
    host = (urlsplit(page.url).hostname or "").removeprefix("www.")
    yield host
    yield from host.split(".")[:-1]


def site_keys(page: Page) -> set[str]:
    """The keys of the site's names, also of the names in its banners."""
    banners = (text for h1, text in page.headings if leads_home(h1))
    return {key(name) for name in (*site_names(page), *banners)} - {""}


def leads_home(heading: HtmlElement) -> bool:
    """True if a heading is a link to a front page: the name of the site, as a banner."""
    links = [*heading.iter("a"), *heading.iterancestors("a")]
    return any(link.get("href") and is_front(link.get("href")) for link in links)


def is_front(url: str) -> bool:
    """True if a URL, or a reference, is the front page of its host."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return False
    return bool(parts.netloc or parts.path) and parts.path in {"", "/"} and not parts.query


def host_labels(url: str) -> frozenset[str]:
    """The labels of a URL's host, without their punctuation."""
    return frozenset(key(label) for label in (urlsplit(url).hostname or "").split(".")[:-1]) - {"www"}


def is_of_host(name: str, hosts: frozenset[str]) -> bool:
    """True if the host shows that a name is the site's: the first word begins a label, or the initials are a label.

    "Harbour Internet Marketing" on harbouragency.example, "Mine Safety and Health Administration" on msha.example.
    """
    words = re.findall(r"\w+", name.lower())
    initials = {"".join(word[0] for word in words), "".join(word[0] for word in words if word not in _SMALL_WORDS)}
    is_begun = bool(words) and len(words[0]) >= _MIN_LABEL and any(host.startswith(words[0]) for host in hosts)
    return is_begun or any(len(each) >= _MIN_INITIALS and each in hosts for each in initials)


def is_news(page: Page) -> bool:
    """True if a page states that it is news: by its type in structured data, or to search engines of news."""
    kinds = map(str, values(page.article.get("@type")))
    return any("News" in kind or "Live" in kind for kind in kinds) or not _OF_NEWS.isdisjoint(page.metas)


def without_site(text: str, sites: set[str]) -> str:
    """A title without leading and trailing parts whose keys are among `sites`, and without dates there.

    The trailing part may be in brackets: "A story (The Daily)".
    """
    if text.endswith(")") and (last := _IN_BRACKETS.search(text)) and key(last[1]) in sites:
        text = text[: last.start()]
    for cut in SEPARATOR.finditer(text):
        rest, start = text[cut.end() :], text[: cut.start()]
        if key(rest) in sites or _DATE.fullmatch(rest):
            return without_site(start, sites) if start else text
        if key(start) in sites or _DATE.fullmatch(start):
            return without_site(rest, sites) if rest else text
    return text


@lru_cache(maxsize=1024)
def key(text: str) -> str:
    """A text in the spelling of a host name."""
    letters = squeezed(text)
    return letters if letters.isascii() else letters.translate(_TRANSCRIBED)


def _publisher(page: Page) -> str | None:
    nodes = (node for node in values(page.article.get("publisher")) if isinstance(node, dict))
    return next((name for node in nodes if (name := text_at(node, "name"))), None)
