"""The title of an article, without the name of its site."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from feedcrawl.domain.extraction.page import text_of
from feedcrawl.domain.extraction.structured import text_at, values
from feedcrawl.domain.text import fold, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from feedcrawl.domain.extraction.page import Page
    from feedcrawl.domain.models import FeedContent

MAX_LENGTH = 500
_TRANSCRIBED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "o", "å": "a", "é": "e", "è": "e"})
_SEPARATOR = re.compile(r"\s+[|\-–—·•»\u203a:/]+\s+|\s*[|_»]\s*|\s+::\s+")


_DATE = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{2,4}")


def find_title(page: Page, feed: FeedContent | None) -> str | None:
    """The headline that most of the page's statements agree upon; the more trusted of equals.

    Structured data, OpenGraph, the feed, the h1, the title element and the Twitter card each have a weight. A
    statement counts without the site's name, and for another that differs from it in typography only.
    """
    sites = [_key(name) for name in site_names(page)]
    said = [(without_site(text, sites), weight) for text, weight in _statements(page, feed, sites) if text]
    votes: dict[str, float] = {}
    for text, weight in said:
        votes[_key(text)] = votes.get(_key(text), 0) + weight
    best = max((text for text, _ in said if text), key=lambda text: votes[_key(text)], default=None)
    return best[:MAX_LENGTH] if best else None


def site_names(page: Page) -> Iterator[str]:
    """The names that the site goes by: as it says itself, and its host."""
    for name in (*map(page.meta, ("og:site_name", "application-name", "apple-mobile-web-app-title")), _publisher(page)):
        if name:
            yield name
    host = (urlsplit(page.url).hostname or "").removeprefix("www.")
    yield host
    yield from host.split(".")[:-1]


def without_site(text: str, sites: list[str]) -> str:
    """A title without leading and trailing parts that are the site's name."""
    while True:
        cuts = list(_SEPARATOR.finditer(text))
        if not cuts:
            return text
        first, last = cuts[0], cuts[-1]
        if _key(text[last.end() :]) in sites or _DATE.fullmatch(text[last.end() :]):
            text = text[: last.start()]
        elif _key(text[: first.start()]) in sites:
            text = text[first.end() :]
        else:
            return text


def _statements(page: Page, feed: FeedContent | None, sites: list[str]) -> Iterator[tuple[str | None, float]]:
    structured, graph, whole = text_at(page.article, "headline"), page.meta("og:title"), title_element(page)
    card = page.meta("twitter:title", "parsely-title", "dc.title", "dc:title", "dcterms.title", "title")
    carried = feed.title if feed else None
    headline = _own_heading(page, " ".join(filter(None, (structured, graph, whole, card, carried))), sites)
    yield structured, 1.0
    yield graph, 1.0
    yield carried, 0.8
    yield headline, 0.6
    yield card, 0.1 if structured or graph else 0.7
    editors = _unlike(structured, graph, whole, sites)
    if editors:
        yield editors, 1.2
        return
    yield whole, 0.5
    for text in {_key(text): text for text in (headline, graph, structured) if text}.values():
        # "Headline, section, site" says the headline too.
        if (
            len(_key(text)) > 10
            and _key(whole).startswith(_key(text))
            and _key(text) != _key(without_site(whole, sites))
        ):
            yield text, 0.5


def _unlike(structured: str | None, graph: str | None, whole: str, sites: list[str]) -> str | None:
    """Of two differing headlines the one that the title element does not repeat.

    Title elements are written for search engines; the headline that keeps clear of them is the editors' own.
    """
    left, right, searched = (_key(without_site(text or "", sites)) for text in (structured, graph, whole))
    if not left or not right or left == right or searched not in {left, right}:
        return None
    return graph if searched == left else structured


def _own_heading(page: Page, stated: str, sites: list[str]) -> str | None:
    """The h1 that the page's statements speak of: sites put their own name, or another article, into h1 too."""
    headings = [text for h1 in page.tree.iter("h1") if (text := text_of(h1)) and _key(text) not in sites]
    about = set(words(stated))
    if about:
        headings = [text for text in headings if _shared(text, about) >= 0.5]
    return max(headings, key=lambda text: _key(text) in _key(stated), default=None)


def _shared(text: str, about: set[str]) -> float:
    own = set(words(text))
    return len(own & about) / len(own) if own else 0.0


def title_element(page: Page) -> str:
    """The text of the title element (that of the head: drawings have titles too)."""
    title = page.tree.find(".//head/title")
    if title is None:
        title = page.tree.find(".//title")
    return fold(title.text or "") if title is not None else ""


def _publisher(page: Page) -> str | None:
    return next((name for node in values(page.article.get("publisher")) if (name := _name(node))), None)


def _name(node: object) -> str | None:
    return text_at(node, "name") if isinstance(node, dict) else None


def _key(text: str) -> str:
    """A text as a host name would spell it."""
    return re.sub(r"\W", "", text).lower().translate(_TRANSCRIBED)
