"""When an article was published and last changed."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

from feedcrawl.domain.dates import parse_date
from feedcrawl.domain.extraction.bodies.leads import squeezed
from feedcrawl.domain.extraction.bodies.weights import names
from feedcrawl.domain.extraction.page import text_of
from feedcrawl.domain.extraction.structured import text_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.page import Page
    from feedcrawl.domain.models import FeedContent

# Names of meta elements, without their punctuation: sites write article:published_time with every kind of it.
_PUBLISHED_METAS = (
    "articlepublishedtime", "ogarticlepublishedtime", "ogpublishedtime", "datepublished", "parselypubdate",
    "sailthrudate", "publishdate", "publisheddate", "pubdate", "publicationdate", "published", "articlepublished",
    "dcdateissued", "dctermsissued", "dctermscreated", "dcdatecreated", "dcdate", "dctermsdate", "articledate",
    "cxenseparserecspublishtime", "citationpublicationdate", "citationdate", "datecreated", "date", "created",
)  # fmt: skip
_MODIFIED_METAS = (
    "articlemodifiedtime", "ogupdatedtime", "ogarticlemodifiedtime", "datemodified", "dctermsmodified",
    "dcdatemodified", "articleupdated", "revised", "lastmodified", "modified",
)  # fmt: skip
_MARKED = re.compile(
    r"(?<![A-Za-z])(?:pub|publi(?:sh(?:ed)?|cation|c|e)|post(?:ed)?|entry|article|time|date|datum|fecha|data|tarih|datetime"
    r"|timestamp|meta|byline|details|created)(?:[-_]*(?:date|time|on|info|meta|datum|header|outer))*(?![a-z])"
    r"|(?:Date|Time)(?![a-z])",
)
_SPELT = re.compile(
    r"\d{4}-\d\d?-\d\d?(?:[T ]\d\d:\d\d(?::\d\d)?(?:[+-]\d\d:?\d\d|Z)?)?"
    r"|\d{1,2}[./]\d{1,2}[./](?:\d{4}|\d{2}(?!\d))(?:,?\s+\d{1,2}:\d\d)?"
    r"|[^\W\d_]{3,}\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4}"
    r"|\d{1,2}(?:st|nd|rd|th)?\.?\s+(?:de\s+)?[^\W\d_]{3,}\.?,?\s+(?:de\s+)?\d{4}"
    r"|\d{4}\s*[年년]\s*\d{1,2}\s*[月월]\s*\d{1,2}\s*[日일]"
)
_LABELLED = re.compile(
    r"\W*(?:date|datum|published|posted|publié|publicado|pubblicato|veröffentlicht|erschienen|fecha|data|stand)"
    r"(?:\s+(?:on|am|le|el|il|vom))?\s*:?\s+\W*(?:[^\W\d_]+,?\s+)?\d",
    re.IGNORECASE,
)
_TIMED = re.compile(r"(?:[^\W\d_]{2,10}\.?,?\s+)?\d{1,2}[./]\d{1,2}[./]\d{2,4}\W{1,5}\d{1,2}:\d\d")
_IN_PATH = re.compile(r"/((?:19|20)\d\d)[/-]?(0[1-9]|1[0-2]|[1-9](?=[/-]))[/-]?(0[1-9]|[12]\d|3[01])(?=[/_.-]|$)")
_ELSEWHERE = frozenset({"nav", "aside", "footer", "figure", "figcaption", "form", "blockquote", "cite"})
_ELSEWHERE_NAMES = re.compile(
    r"comment|related|recommend|teaser|sidebar|footer|promo|popular|archive|reference|copyright", re.IGNORECASE
)
_MAX_PLACES = 200
_MAX_TEXT = 120


def find_published(page: Page, feed: FeedContent | None) -> datetime | None:
    """The instant of publication: structured data, meta elements, marked elements, the feed, the URL's path."""
    stated = (text_at(page.article, "datePublished", "dateCreated", "uploadDate"), *_metas(page, _PUBLISHED_METAS))
    others = (text_at(thing, "datePublished", "uploadDate") for thing in page.things)
    return (
        _first(stated)
        or (feed.published if feed else None)
        or _first(_machine_readable(page))
        or _first(others)
        or _first(_visible(page))
        or _first(_in_lines(page))
        or _from_path(page.url)
    )


def find_modified(page: Page, feed: FeedContent | None) -> datetime | None:
    """The instant of the last change that the publisher states."""
    stated = (text_at(page.article, "dateModified"), *_metas(page, _MODIFIED_METAS))
    return _first(stated) or (feed.updated if feed else None)


def _first(texts: Iterable[str | None]) -> datetime | None:
    return next((moment for text in texts if text and (moment := parse_date(text))), None)


def _metas(page: Page, wanted: tuple[str, ...]) -> Iterator[str]:
    known = {squeezed(name).replace("_", ""): contents for name, contents in page.metas.items()}
    for name in wanted:
        yield from known.get(name, ())


def _machine_readable(page: Page) -> Iterator[str | None]:
    """What elements with a date for programs hold, those that are said to be of publication first."""
    for element in page.tree.iterfind(".//*[@itemprop='datePublished']"):
        yield element.get("datetime") or element.get("content") or _spelt(element)
    for element in (*page.tree.iterfind(".//time[@pubdate]"), *page.tree.iterfind(".//time[@datetime]")):
        if not _is_elsewhere(element):
            yield element.get("datetime") or _spelt(element)


def _visible(page: Page) -> Iterator[str | None]:
    """Dates that readers see in elements that are named for it."""
    places = (
        e for e in page.tree.iter("time", "span", "div", "p", "h2", "h3", "h4", "a", "li", "abbr") if _is_marked(e)
    )
    for element in islice(places, _MAX_PLACES):
        if not _is_elsewhere(element):
            yield _spelt(element)


def _in_lines(page: Page) -> Iterator[str | None]:
    """Dates in the short lines under the page's h1, and those that have a label."""
    headline = next((text for h1 in page.tree.iter("h1") if (text := text_of(h1))), None)
    lines = page.lines
    at = lines.index(headline) if headline in lines else len(lines)
    yield from (_date_in(line) for line in lines[at : at + 8] if len(line) <= _MAX_TEXT / 2)
    yield from (_date_in(line) for line in lines if len(line) <= _MAX_TEXT and _LABELLED.match(line))
    yield from (_date_in(line) for line in lines if len(line) <= _MAX_TEXT / 2 and _TIMED.match(line))


def _is_marked(element: HtmlElement) -> bool:
    return element.tag == "time" or (bool(element.attrib) and _MARKED.search(names(element)) is not None)


def _is_elsewhere(element: HtmlElement) -> bool:
    return any(
        kin.tag in _ELSEWHERE or (kin.tag != "body" and _ELSEWHERE_NAMES.search(names(kin)))
        for kin in (element, *element.iterancestors())
    )


def _spelt(element: HtmlElement) -> str | None:
    text = text_of(element) if len(element) < 10 else ""
    return _date_in(text) if len(text) <= _MAX_TEXT else None


def _date_in(text: str) -> str | None:
    match = _SPELT.search(text)
    return match[0] if match else None


def _from_path(url: str) -> datetime | None:
    match = _IN_PATH.search(url)
    if not match:
        return None
    year, month, day = map(int, match.groups())
    try:
        return datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None
