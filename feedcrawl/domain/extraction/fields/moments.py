"""The instants of an article's publication and of its last change."""

from __future__ import annotations

import re
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING

from feedcrawl.domain.dates import parse_date
from feedcrawl.domain.extraction.bodies.weights import in_names, names
from feedcrawl.domain.extraction.fields.carried_dates import in_attributes, in_broken_data, in_path, in_scripts
from feedcrawl.domain.extraction.fields.headline import headline_at
from feedcrawl.domain.extraction.fields.seen_dates import (
    LABELLED,
    MARGIN,
    MAX_DATED,
    MAX_SENTENCE,
    MAX_TEXT,
    SPELT,
    UPDATED,
    WRITTEN,
    date_in,
    exact,
    is_named_for_date,
    is_of_change,
    is_published_item,
    named_changes,
    stated_published,
    times_of_change,
    without,
)
from feedcrawl.domain.extraction.fields.sites import is_news
from feedcrawl.domain.extraction.kinds import THREADS, page_kind
from feedcrawl.domain.extraction.structured import text_at
from feedcrawl.domain.text import lowered, squeezed, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.page import Page
    from feedcrawl.domain.models import FeedContent

# Names of meta elements without punctuation, since sites write article:published_time with any.
_PUBLICATION_METAS = (
    "articlepublishedtime", "ogarticlepublishedtime", "ogpublishedtime", "datepublished", "parselypubdate",
    "sailthrudate", "publishdate", "publisheddate", "pubdate", "publicationdate", "published", "articlepublished",
    "dcdateissued", "dctermsissued", "cxenseparserecspublishtime", "citationpublicationdate",
)  # fmt: skip
_DATE_METAS = (
    "dctermscreated", "dcdatecreated", "dcdate", "dctermsdate", "articledate", "citationdate", "datecreated", "date",
    "created",
)  # fmt: skip
_MODIFIED_METAS = (
    "articlemodifiedtime", "ogupdatedtime", "ogarticlemodifiedtime", "datemodified", "dctermsmodified",
    "dcdatemodified", "articleupdated", "revised", "lastmodified", "modified",
)  # fmt: skip
# Sources whose dates nothing says to be of publication: not later than the change that the page shows.
_UNSAID = frozenset({"elements named for a date", "dated lines", "JSON in scripts", "JSON in attributes"})
_TIMED = re.compile(r"(?:^|\s)\d{1,2}[./]\d{1,2}[./]\d{2,4}\W{1,5}\d{1,2}:\d\d")
_NAMED = re.compile(r"\d{4}-\d\d|[^\W\d_]{3,}|\d\.\d\d?\.\d{4}")  # the month of 11/03/17 is ambiguous
_AWHILE = timedelta(days=1.5)  # zones apart
_DIGITS = re.compile(r"\d(?:\d{3}|[./]\d)")
_PARTS = re.compile(r"\s*[|•·●∙⋅◦▪]\s*")
_ELSEWHERE = frozenset({"nav", "aside", "footer", "figure", "figcaption", "form", "blockquote", "cite"})
_is_elsewhere_named = in_names(
    re.compile(
        r"comment|related|recommend|teaser|sidebar|footer|promo(?!ted)|popular|archive|reference|copyright",
        re.IGNORECASE,
    )
)
_MAX_PLACES = 200


def find_published(page: Page, feed: FeedContent | None) -> datetime | None:
    """The instant of publication: the first of the candidates."""
    return next((moment for _, moment in published_candidates(page, feed)), None)


def published_candidates(page: Page, feed: FeedContent | None) -> Iterator[tuple[str, datetime]]:
    """The possible instants of publication, the most trusted first, each with the name of its source."""
    structured = text_at(page.article, "datePublished", "dateCreated", "uploadDate")
    publication = _first((structured, *_metas(page, _PUBLICATION_METAS)))
    dated = publication or _first(_metas(page, _DATE_METAS))
    shown = _shown(dated, page) if dated else None
    if shown and (publication is None or shown < publication):
        yield "day under the headline, not as stated", shown
    if dated:
        yield "structured data, meta elements", dated
    if feed and feed.published:
        yield "feed", feed.published
    for source, texts in _sources(page):
        moment = _first(texts)
        if moment and not (dated is None and source in _UNSAID and _is_after_change(moment, page)):
            yield source, moment


def _sources(page: Page) -> Iterator[tuple[str, Iterable[str | None]]]:
    yield "broken structured data", in_broken_data(page)
    yield "lines that say publication", (exact(text, _machine_readable(page)) for text in stated_published(page))
    yield "elements with a date for programs", _machine_readable(page)
    yield "other structured data", (text_at(thing, "datePublished", "uploadDate") for thing in page.things)
    yield "lines near the headline", _near_headline(page)
    yield "elements named for a date", _visible(page)
    yield "URL", (day for url in (page.url, page.meta("og:url") or "") for day in in_path(url))
    yield "dated lines", _in_lines(page)
    yield "JSON in scripts", in_scripts(page)
    yield "JSON in attributes", in_attributes(page)
    yield "lines with the last change", _changed(page)
    yield "URL of the picture", in_path(page.meta("og:image") or "")


def _shown(stated: datetime, page: Page) -> datetime | None:
    """A day under the headline that differs from the stated day, unless it is the day of a change.

    A publishing system may date an article by its migration or its last revision. Under the headline of a thread is the
    day on which its author registered.
    """
    if is_news(page) or page_kind(page) in THREADS:
        return None
    lines, at = page.lines, headline_at(page)
    near = lines[at + 1 : at + 7] if at is not None else []
    dates = (
        date_in(line, page)
        for before, line in zip(["", *near], near, strict=False)
        if len(line) <= MARGIN and not UPDATED.search(lowered(before[-MARGIN:]))
    )
    shown = _first(date for date in dates if date and _NAMED.search(date))
    if shown is None or abs(stated - shown) <= _AWHILE:
        return None
    changed = _first((text_at(page.article, "dateModified"), *_metas(page, _MODIFIED_METAS)))
    return None if changed is not None and abs(changed - shown) <= _AWHILE else shown


def find_modified(page: Page, feed: FeedContent | None) -> datetime | None:
    """The instant of the last change: stated by the publisher, else by the feed, else visible to readers."""
    stated = (text_at(page.article, "dateModified"), *_metas(page, _MODIFIED_METAS))
    return _first(stated) or (feed.updated if feed else None) or _first(_shown_changed(page))


def _is_after_change(moment: datetime, page: Page) -> bool:
    changed = _first(_shown_changed(page))
    return changed is not None and moment > changed + _AWHILE


def _first(texts: Iterable[str | None]) -> datetime | None:
    return next((moment for text in texts if text and (moment := parse_date(text))), None)


def _metas(page: Page, names: tuple[str, ...]) -> Iterator[str]:
    known = {squeezed(name).replace("_", ""): contents for name, contents in page.metas.items()}
    for name in names:
        yield from known.get(name, ())


def _machine_readable(page: Page) -> Iterator[str | None]:
    """The values of elements with a machine-readable date, those of publication first."""
    for element in page.labelled(is_published_item):
        yield element.get("datetime") or element.get("content") or _spelt(element, page)
    around = page.around_headline
    times = page.elements.of("time")
    for element in (time for name in ("pubdate", "datetime") for time in times if name in time.attrib):
        if not _is_elsewhere(element, around) and not is_of_change(element):
            yield element.get("datetime") or _spelt(element, page)


def _visible(page: Page) -> Iterator[str | None]:
    """Visible dates in elements whose names announce a date."""
    around = page.around_headline
    for element in page.labelled(is_named_for_date)[:_MAX_PLACES]:
        if not _is_elsewhere(element, around) and not is_of_change(element):
            yield _spelt(element, page)


def _near_headline(page: Page) -> Iterator[str | None]:
    """Dates in short lines, and in parts of lines, under the page's headline, then above it."""
    lines, at = page.lines, headline_at(page)
    if at is None:
        return
    near = [line for line in (*lines[at : at + 9], *reversed(lines[max(0, at - 4) : at])) if len(line) <= MAX_TEXT]
    changes = list(named_changes(page))
    others = [without(line, changes) for line in near] if changes else []
    parts = (part for line in (*others, *near) for part in _PARTS.split(line))
    yield from (
        date_in(part, page) for part in parts if len(part) <= MAX_TEXT / 2 and not UPDATED.search(lowered(part))
    )


def _in_lines(page: Page) -> Iterator[str | None]:
    """Dates in lines with a label, in lines that state when the text was written, and in lines with little else."""
    dated = (line for line in page.lines if len(line) <= MAX_SENTENCE and _DIGITS.search(line))
    lines = list(islice(dated, _MAX_PLACES))
    short = [line for line in lines if len(line) <= MAX_TEXT]
    yield from (date_in(line, page) for line in short if LABELLED.match(line))
    yield from (date_in(line, page) for line in lines if WRITTEN.search(line))
    yield from (date_in(line, page) for line in short if _TIMED.search(line))
    for line in lines:
        match = SPELT.search(line)
        if match and match.start() < MARGIN and (len(line) < MAX_DATED or line.startswith("(")):
            yield date_in(line, page)


def _changed(page: Page) -> Iterator[str | None]:
    """The visible days of the last change: without another day, the article is at least as old."""
    lines = (line for line in page.lines if len(line) <= MAX_TEXT and UPDATED.search(lowered(line)))
    yield from (date_in(UPDATED.sub("", lowered(line)), page) for line in lines)
    yield from (time.get("datetime") or text_of(time) for time in page.elements.of("time") if is_of_change(time))


def _shown_changed(page: Page) -> Iterator[str | None]:
    """The days of change in the lines around the headline."""
    lines, at = page.lines, headline_at(page)
    near = lines[max(0, at - 2) : at + 7] if at is not None else []
    yield from (date_in(line[label.end() :], page) for line in near if (label := UPDATED.search(lowered(line))))
    changes = list(named_changes(page))
    is_dated = any(date_in(without(line, changes), page) for line in near if len(line) <= MAX_TEXT)
    if is_dated:
        yield from (date_in(text, page) for text in changes if any(text in line for line in near))
    if is_dated or next(_machine_readable(page), None):  # a lone `updated` of hAtom is the day of publication
        yield from times_of_change(page, near)


def _is_elsewhere(element: HtmlElement, around: set[HtmlElement]) -> bool:
    """True if an element is in a part of the page that is not the article's; elements `around` an h1 are."""
    return any(
        kin not in around and (kin.tag in _ELSEWHERE or (kin.tag != "body" and _is_elsewhere_named(names(kin))))
        for kin in (element, *element.iterancestors())
    )


def _spelt(element: HtmlElement, page: Page) -> str | None:
    text = text_of(element) if len(element) < 10 else ""
    return date_in(text, page) if len(text) <= MAX_TEXT else None
