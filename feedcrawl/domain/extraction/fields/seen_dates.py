"""Dates in visible lines and elements, and the decision whether a date is the day of a change."""

from __future__ import annotations

import re
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from feedcrawl.domain.dates import parse_date
from feedcrawl.domain.extraction.bodies.weights import in_names, names, remembered
from feedcrawl.domain.extraction.fields.carried_dates import in_path
from feedcrawl.domain.extraction.fields.headline import headline_at
from feedcrawl.domain.extraction.page import RIGHTS
from feedcrawl.domain.text import lowered, raw_text, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.labels import Label
    from feedcrawl.domain.extraction.page import Page

SPELT = re.compile(
    r"\d{4}-\d\d?-\d\d?(?:[T ]\d\d:\d\d(?::\d\d)?(?:[+-]\d\d:?\d\d|Z)?)?"
    r"|(?<!\d)\d{4}[./]\s?\d{1,2}[./]\s?\d{1,2}(?!\d)"
    r"|\d{1,2}[./]\d{1,2}[./](?:\d{4}|\d{2}(?!\d))(?:,?\s+\d{1,2}:\d\d)?"
    r"|(?<!\d)\d{1,2}-(?:\d{1,2}|[^\W\d_]{3,9})-\d{4}(?!\d)"
    r"|[^\W\d_]{3,}\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4}"
    r"|\d{1,2}(?:st|nd|rd|th|er|º)?\.?\s+(?:de\s+|of\s+)?[^\W\d_]{3,}\.?,?\s+(?:del?\s+)?\d{4}"
    r"|\d{4}\.\s+[^\W\d_]{3,}\s+\d{1,2}(?!\d)"
    r"|\d{1,2}\s\|\s\d{1,2}\s\|\s\d{4}"
    r"|\d{4}\s*[年년]\s*\d{1,2}\s*[月월]\s*\d{1,2}\s*[日일]"
)
_CHANGED = (
    "updated", "modified", "reviewed", r"r(?<!\wr)evised", "last (?:change|edit)", "aktualisier", "geändert",
    r"s(?<!\ws)tand:", "überarbeitet", "mis(?:e)? à jour", "modifié", "actualizad", "modificad", "aggiornat",
    "modificat", "ultima modifica", "última atualização", "atualizad", "bijgewerkt", "gewijzigd", "oppdatert",
    "endret", "uppdaterad", "ändrad", "opdateret", "ændret", "päivitetty", "muokattu", "zaktualizowan", "aktualizac",
    "zmodyfikowan", "aktualizován", "upraven", "frissít", "módosít", "actualizat", "güncelle", "обновлен", "изменен",
    "оновлен", "змінен", "ενημερώθηκε", "τελευταία ενημέρωση", "promijenjen", "ažuriran", "posodobljen", "uuendatud",
    "atnaujint", "atjaunin", "diperbarui", "dikemas kini", "cập nhật", "更新", "修改", "수정", "업데이트", "แก้ไข",
    "อัปเดต", "تحديث", "بروزرسانی", "עודכן", "עדכון",
)  # fmt: skip
"""Words that announce the day of a change, in some 35 languages; `r(?<!\\wr)` is `\\br` after its letter."""


def _any_of(words: Iterable[str]) -> str:
    """An expression for words, parted by their first letters: a search compares those, and fewer of the words."""
    by_letter = groupby(sorted(words, key=itemgetter(0)), key=itemgetter(0))
    return "|".join(f"{letter}(?:{'|'.join(word[1:] for word in group)})" for letter, group in by_letter)


UPDATED = re.compile(_any_of(_CHANGED))
"""For lower-case text."""
_FIRST = (
    "originally published", "originally posted", "originally appeared", "first published", "first posted",
    "first appeared", "ursprünglich veröffentlicht", "ursprünglich erschienen", "zuerst veröffentlicht",
    "zuerst erschienen", "erstmals veröffentlicht", "erstmals erschienen", "publié initialement",
    "publié pour la première fois", "publicado originalmente", "publicado por primera vez",
    "oorspronkelijk gepubliceerd", "voor het eerst gepubliceerd", "pubblicato originariamente",
    "pubblicato per la prima volta",
)  # fmt: skip
_FIRST_PUBLISHED = re.compile(rf"\b(?:{'|'.join(_FIRST)})\b", re.IGNORECASE)
_PUBLISHED_LINE = re.compile(
    r"\W*(?:published|posted|publi(?:é|ée|cado|cat|cada)|pubblicato|veröffentlicht|erschienen|gepubliceerd|geplaatst|publicerad"
    r"|publisert|udgivet|julkaistu|opublikowano|publikováno|megjelent|опубликовано|опубліковано|objavljeno|diterbitkan"
    r"|公開日?|投稿日|掲載日|发布(?:时间|日期)?|發布|게시일?|입력|פורסם|نشر)(?![^\W\d_])",
    re.IGNORECASE,
)
"""The beginning of a line with the day of publication."""
LABELLED = re.compile(
    r"\W*(?:date|datum|published|posted|publi(?:é|cado|cat)|pubblicato|veröffentlicht|erschienen|fecha|data|stand"
    r"|gepubliceerd|publicerad|publisert|udgivet|julkaistu|opublikowano|publikováno|megjelent"
    r"|yay\u0131n(?:lanma)? tarihi|опубликовано|опубліковано|дата|δημοσίευση|objavljeno|diterbitkan|ngày đăng"
    r"|公開日?|投稿日|掲載日|发布(?:时间|日期)?"
    r"|發布|게시일?|입력|등록|نشر|تاريخ|פורסם)"
    r"(?:\s+(?:on|am|le|el|il|vom|em|op|den|w dniu))?\s*[:\uff1a]?\s*\W*(?:[^\W\d_]+,?\s+)?\d",
    re.IGNORECASE,
)
WRITTEN = re.compile(
    r"\b(?:am|on|le|el|il|vom|den|op)\s.{6,45}\b(?:geschrieben|veröffentlicht|verfasst|erstellt|gepostet|published|posted"
    r"|written|publié|publicado|pubblicato)\b"
    r"|\b(?:geschrieben|veröffentlicht|verfasst|erstellt|published|posted|publié|publicado)\b.{0,20}\b(?:am|on|le|el|vom)\s",
    re.IGNORECASE,
)
_PUBLISHED = re.compile(r"publish|datePublished|pubdate", re.IGNORECASE)
_TOUCHING = re.compile(r"^[^\W\d_]+[a-zß-ÿ](?=[A-ZÀ-Þ])")
_MAX_SECTION = 20  # letters
_SLASHED = re.compile(r"\b(\d\d?)/(\d\d?)/")
_YEAR_FIRST = re.compile(r"(\d{4})[./]\s?(\d{1,2})[./]\s?(\d{1,2})")
_LOCALE_IN_PATH = re.compile(r"/en[-_]([a-z]{2})(?:/|$)")
_DAY_FIRST = frozenset({"uk", "au", "nz", "ie", "in", "za", "sg", "hk", "my", "pk", "ng", "ke", "eu"})
_is_date_named = in_names(
    re.compile(
        r"(?<![A-Za-z])(?:pub|publi(?:sh(?:ed)?|cation|c|e)|post(?:ed)?|entry|article|time|date|datum|fecha|data|tarih|datetime"
        r"|timestamp|meta|byline|details|created)(?:[-_]*(?:date|time|on|info|meta|datum|header|outer))*(?![a-z])"
        r"|(?:Date|Time)(?![a-z])",
    ),
    *("pub", "post", "entry", "article", "time", "dat", "fecha", "tarih", "meta", "byline", "details", "created"),
)
_WITH_DATES = frozenset({"span", "div", "p", "h2", "h3", "h4", "a", "li", "abbr"})
_WITH_CHANGES = frozenset({"time", "span", "div", "p", "li", "abbr"})
MARGIN, MAX_DATED, MAX_TEXT, MAX_SENTENCE = 40, 70, 120, 600  # letters before a date; of its line, element, sentence


def date_in(text: str, page: Page) -> str | None:
    """The first date in a text that is not announced as the date of a change.

    In a date with slashes the day comes first, unless the page is in American English.
    """
    if RIGHTS.search(text):
        return None
    end, small = 0, lowered(text)
    for match in SPELT.finditer(text):
        if not UPDATED.search(small, end, match.start()):
            return _unslashed(_apart(match, text).replace(" | ", "."), page)
        end = match.end()
    return None


def _apart(date: re.Match[str], text: str) -> str:
    """A date without the last word of a section that touches it: "Public HealthMay 3, 2024".

    In items of lists, and after more words, the titles of other articles touch their dates.
    """
    is_of_section = date.start() <= _MAX_SECTION and not text.startswith("- ")
    return _TOUCHING.sub("", date[0]) if is_of_section else date[0]


def _unslashed(date: str, page: Page) -> str:
    """A date with its day and month in a known order: by the day in the page's URL, else by its language."""
    if _YEAR_FIRST.match(date):
        return _YEAR_FIRST.sub(r"\1-\2-\3", date)
    day_first = _SLASHED.sub(r"\1.\2.", date)
    in_url = {moment.date() for day in in_path(page.url) if day_first != date and (moment := parse_date(day))}
    named = (reading for reading in (date, day_first) if in_url and (at := parse_date(reading)) and at.date() in in_url)
    return next(named, date if _has_month_first(page) else day_first)


def _has_month_first(page: Page) -> bool:
    """True if a page is in American English: by its declared language, the locale in its URL, its country."""
    declared = page.tree.get("lang") or page.meta("og:locale", "content-language", "language") or "en"
    language = declared.lower().replace("_", "-")
    if language not in {"en", "en-us"}:
        return False
    parts = urlsplit(page.url)
    locale = _LOCALE_IN_PATH.match(parts.path.lower())
    if locale:
        return locale[1] == "us"
    return language == "en-us" or (parts.hostname or "").rpartition(".")[2] not in _DAY_FIRST


@remembered
def _says_change(named: str) -> bool:
    return UPDATED.search(lowered(named)) is not None


def _is_named_for_change(label: Label) -> bool:
    """True if the names of an element announce a change and not publication too."""
    named = f"{label.names} {label.itemprop}"
    return label.tag in _WITH_CHANGES and _says_change(named) and not _PUBLISHED.search(named)


def is_named_for_date(label: Label) -> bool:
    """True for a time element, and for the names of an element with text that announce a date."""
    return label.tag == "time" or (label.tag in _WITH_DATES and _is_date_named(label.names))


def is_published_item(label: Label) -> bool:
    """True if microdata state that an element has the day of publication."""
    return label.itemprop == "datePublished"


def is_of_change(element: HtmlElement) -> bool:
    """True if an element has the day of a change, by its names or by the words before it in its line."""
    named = f"{names(element)} {element.get('itemprop') or ''}"
    if _says_change(named):
        return not _PUBLISHED.search(named)
    before, parent = element.getprevious(), element.getparent()
    if before is None:
        text_before = (parent.text or "") if parent is not None else ""
    else:
        text_before = before.tail if (before.tail or "").strip() else raw_text(before)
    return UPDATED.search(lowered((text_before or "")[-MARGIN:])) is not None


def named_changes(page: Page) -> Iterator[str]:
    """Visible dates in elements that are named for the last change (`class="updated"`)."""
    for element in page.labelled(_is_named_for_change, UPDATED):
        if (text := text_of(element)) and len(text) <= MAX_DATED:
            yield text


def times_of_change(page: Page, near: Sequence[str]) -> Iterator[str | None]:
    """The machine-readable values of elements of a change whose text is in the lines `near`."""
    times = (time for time in page.elements.of("time") if "datetime" in time.attrib and is_of_change(time))
    yield from (time.get("datetime") for time in times if any(text_of(time) in line for line in near))


def without(line: str, parts: Iterable[str]) -> str:
    """A line without some of its parts."""
    for part in parts:
        line = line.replace(part, " ")
    return line


def exact(text: str | None, others: Iterable[str | None]) -> str | None:
    """The first of other dates on the same day, since it may have a time; else the text itself."""
    day = parse_date(text) if text else None
    moments = ((other, parse_date(other)) for other in others if other and day)
    return next((other for other, moment in moments if moment and day and moment.date() == day.date()), text)


def stated_published(page: Page) -> Iterator[str | None]:
    """Dates that a line states as those of the first publication; under the headline, of publication."""
    lines, at = page.lines, headline_at(page)
    sentences = [line for line in lines if len(line) <= MAX_SENTENCE]
    if any(map("\n".join(sentences).lower().__contains__, _FIRST)):
        first = (match for line in sentences if (match := _FIRST_PUBLISHED.search(line)))
        yield from (date_in(match.string[match.end() :][:MARGIN], page) for match in first)
    below = lines[at + 1 : at + 9] if at is not None else []
    yield from (date_in(line, page) for line in below if len(line) <= MAX_TEXT and _PUBLISHED_LINE.match(line))
