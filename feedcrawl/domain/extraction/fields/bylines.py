"""Bylines in lines of text, as readers see them: under the headline, beside a date, under the text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from feedcrawl.domain.extraction.fields.headline import headline_at
from feedcrawl.domain.extraction.fields.marked import AUTHOR_PAGE, MAX_BYLINE_LENGTH
from feedcrawl.domain.extraction.fields.persons import is_agency, is_organization, is_person, is_role, split_names
from feedcrawl.domain.extraction.fields.seen_dates import SPELT
from feedcrawl.domain.extraction.fields.signing_words import (
    LABELLED,
    REPORTER_AFTER,
    SIGNED,
    SIGNED_AFTER_DATE,
    TITLED,
    TOUCHING_END,
    is_label,
    may_be_signed,
    unglued,
)
from feedcrawl.domain.extraction.page import RIGHTS
from feedcrawl.domain.text import lowered, text_of

if TYPE_CHECKING:
    from feedcrawl.domain.extraction.page import Page

_MAX_BELOW = 4
MAX_LINES = 8  # under the headline; below them other articles have their bylines
_MONTH = r"(?:jan|feb|mär|mar|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-z]*\.?\s\d"
_SIGNATURE_ENDS = re.compile(
    rf"\s*[@(]|\s\d|\s(?:at|on|am|in|under|unter)(?:\s|$)|\s{_MONTH}|\s(?:last )?updated|\spublished"
    r"|\s(?:posted|veröffentlicht|aktualisiert|erschienen|publié|publicado|pubblicato)(?:\W|$)",
    re.IGNORECASE,
)
_OTHERS_WORK = re.compile(
    r"(?<=\S)\W+(?:(?:medically |expert )?reviewed|edited|fact[- ]checked|translated|photo\w*|illustrat\w+) by\b"
    r"|(?<=\S)\W+(?:fotos?|bild(?:er)?|illustration(?:en)?|photos?) (?:von|par|di|por)\b",
    re.IGNORECASE,
)
_RECENT = re.compile(r"\b(?:199[5-9]|20\d\d)\b")
_READ = re.compile(r"\bmin(?:ute)?s?\.? read\b", re.IGNORECASE)
_NOTE = re.compile(
    r"(?: is| was| has| writes| works|,| ist| schreibt| arbeitet| est| es| è| é) .{0,200}\b(?:author|writ\w+|edit\w+"
    r"|journalist\w*|founder|head of|manager|director|engineer|developer|\w+ist|expert|consultant|marketer|teacher"
    r"|professor|autor\w*|redakteur\w*|s?he|her|his|sie|er|ihre?|elle|ella)\b",
    re.IGNORECASE,
)
_GLUED = re.compile(r"[a-z]{3,}[A-Z]")  # words of several links
_NO_ACCOUNTS = frozenset({
    "email", "mail", "phone", "post", "default", "date", "name", "topic", "category", "type", "design", "hand",
    "us", "me", "bis", "hier", "ici", "ejemplo", "esempio",
})  # fmt: skip
_MAX_ALONE = 3  # words; longer lines are headings of rubrics as often as names
_MAX_BESIDE, _MAX_LATE, _MIN_PROSE, _MAX_STANDFIRST = 60, 100, 100, 250
_MAX_PREPOSITION = 8  # letters
_PARTS = re.compile(r"\s*[|•·●∙⋅◦▪]\s*")
_BETWEEN = " ,-\u2013\u2014/"
_IN_SECTION = re.compile(r"\s(?:in|en|dans)\s(?=[^\W\d_a-z])")  # "Ann Lee in Harbours"
_LISTED = re.compile(r"\s*(?:,\s+(?:and|und|et|y|e)\s|,\s|\s&\s|\s(?:and|und|et|y)\s)\s*")
_SIGNATURES = (SIGNED, SIGNED_AFTER_DATE)


def plain_byline(page: Page) -> list[str]:
    """The names in the first line under the headline that is "By Ann Lee" or has links to authors' pages."""
    lines = _lines_under_headline(page)
    links = (link for link in page.elements.of("a") if lines and AUTHOR_PAGE.search(link.get("href", "").lower()))
    authors = dict.fromkeys(name for link in links for name in split_names(text_of(link)) if is_person(name))
    for whole, after in zip(lines, [*lines[1:], ""], strict=False):
        line = _OTHERS_WORK.split(whole)[0]
        linked = [name for name in authors if name in line]
        signed = _signatories(line, after)
        if linked or signed:
            return linked if len(linked) >= len(signed) else signed
    return []


def account_byline(page: Page) -> list[str]:
    """The account or team in the first signed line under the headline: "by annlee", "By Ann"."""
    for line in _lines_under_headline(page):
        signed = next((match for pattern in _SIGNATURES if (match := pattern.match(lowered(line)))), None)
        rest = line[signed.end() :] if signed and len(line) <= _MAX_BESIDE else ""
        text = _SIGNATURE_ENDS.split(rest)[0].strip()
        if text and not SPELT.match(rest) and _may_sign(text):
            return list(split_names(text))
    return []


def _may_sign(text: str) -> bool:
    words = text.split()
    if is_agency(text):
        return False
    if len(words) == 1:
        return words[0].lower() not in _NO_ACCOUNTS
    return len(words) <= _MAX_ALONE and all(word[:1].isupper() for word in words)


def late_byline(page: Page) -> list[str]:
    """The names in the first line anywhere on the page that names the author: "Author: Ann Lee"."""
    lines = [line for line in _joined(page.lines) if len(line) < _MAX_LATE and may_be_signed(line)]
    signed = (_signatories(unglued(_OTHERS_WORK.split(line)[0]), "", LABELLED) or _titled(line) for line in lines)
    return next(filter(None, signed), None) or _labelled(page)


def _labelled(page: Page) -> list[str]:
    """The names in the lines "By: Ann Lee" after the first prose, if all such lines agree: those of teasers differ.

    Before the prose are menus and filters.
    """
    start = next((at for at, line in enumerate(page.lines) if len(line) > _MIN_PROSE), len(page.lines))
    lines = (line for line in _joined(page.lines[start:]) if ":" in line[:_MAX_PREPOSITION] and len(line) < _MAX_LATE)
    found = {tuple(names) for line in lines if (names := _signatories(line))}
    names = list(found.pop()) if len(found) == 1 else []
    return names if all(_is_name_alone(name, page) for name in names) else []


def _titled(line: str) -> list[str]:
    """The names in a line that consists of "Autoren Ann Lee und Bo Ek", without a colon."""
    title = TITLED.match(lowered(line))
    names = _listed(line[title.end() :]) if title else []
    return names if all(map(is_person, names)) else []


def dated_byline(page: Page) -> list[str]:
    """The names that are alone in a line under the headline, or in a part of a line, beside a date or a role."""
    at = headline_at(page)
    lines = page.lines[at + 1 : at + 1 + _MAX_BELOW] if at is not None else []
    parts = [part for line in lines for part in _PARTS.split(line.removeprefix("- ")) if part]
    beside: list[str] = []
    for before, part, after in zip(["", *parts], parts, [*parts[1:], ""], strict=False):
        beside += _around_date(part)
        if any(map(_is_beside_name, (before, after))):
            beside.append(_IN_SECTION.split(part)[0])
    lists = (names for names in map(_listed, beside) if all(_is_name_alone(name, page) for name in names))
    return next(lists, [])


def _listed(piece: str) -> list[str]:
    """The names in a text that consists of a list of names: "Ann Lee, Bo Ek"."""
    return [part.strip() for part in _LISTED.split(piece)]


def _around_date(part: str) -> list[str]:
    """The text before and the text after the date in a short part of a line."""
    date = SPELT.search(part) if len(part) <= _MAX_BESIDE else None
    return [part[: date.start()].strip(_BETWEEN), part[date.end() :].strip(_BETWEEN)] if date else []


def _is_name_alone(line: str, page: Page) -> bool:
    """True if a line is a person's name; none of its words is a common word of the page ("Full Bio", "Find Care")."""
    names = line.split()
    if not is_person(line) or len(names) > _MAX_ALONE or is_organization(line) or _GLUED.search(line):
        return False
    return page.common_words.isdisjoint(name.lower() for name in names)


def _is_beside_name(line: str) -> bool:
    return len(line) <= _MAX_BESIDE and (_is_dated(line) or _READ.search(line) is not None or is_role(line))


def _is_dated(line: str) -> bool:
    return len(line) <= _MAX_BESIDE and _RECENT.search(line) is not None and SPELT.search(line) is not None


def noted_byline(page: Page) -> list[str]:
    """The only person with a note under the text ("Ann Lee", "Ann Lee is a writer")."""
    lines = page.lines
    prose = [len(line) if len(line) > _MIN_PROSE else 0 for line in lines]
    above, whole = 0, sum(prose)
    noted: set[str] = set()
    for name, note, size in zip(lines, lines[1:], prose, strict=False):
        above += size
        if note.startswith(name) and 2 * above > whole and _NOTE.match(note[len(name) :]):
            noted.update({name} if _is_name_alone(name, page) else ())
    return list(noted) if len(noted) == 1 else []


def met_byline(page: Page) -> list[str]:
    """The name that is alone under the headline and again before a note on the person, even if it is a first name."""
    lines, at = page.lines, headline_at(page)
    if at is None:
        return []
    pieces = (piece for line in lines[at + 1 : at + 1 + _MAX_BELOW] for piece in (line, *_around_date(line)[:1]))
    for name in pieces:
        is_name = is_person(name) or (name.isalpha() and name.istitle() and name.lower() not in _NO_ACCOUNTS)
        rest = (line[len(name) :] for line in lines[at + 1 + _MAX_BELOW :] if line.startswith(name))
        if is_name and len(name) > 2 and any(_NOTE.match(text) for text in rest):
            return [name]
    return []


def only_byline(page: Page) -> list[str]:
    """The name in the only signed line of a page without a headline."""
    if headline_at(page) is not None:
        return []
    found = {tuple(names) for line in page.lines if len(line) <= _MAX_BESIDE and (names := _signatories(line))}
    return list(found.pop()) if len(found) == 1 else []


def _lines_under_headline(page: Page) -> list[str]:
    """Lines, and parts of lines between bars and bullets; a line with only "By" is joined with the next line."""
    at = headline_at(page)
    below = _joined(page.lines[at + 1 : at + 1 + 2 * MAX_LINES]) if at is not None else []
    prose = [at for at, line in enumerate(below) if len(line) > _MAX_STANDFIRST][1:2]  # after two paragraphs: no byline
    short = (line for line in below[: min([MAX_LINES, *prose])] if len(line) <= MAX_BYLINE_LENGTH)
    return [part for line in short for part in _PARTS.split(unglued(line.removeprefix("- ")))]


def _joined(lines: list[str]) -> list[str]:
    """The lines; each line that is only a label ("By", "Written by") is joined with the next line."""
    joined: list[str] = []
    for line in lines:
        if joined and is_label(joined[-1]):
            joined[-1] = f"{joined[-1].rstrip(' :')}: {line}"
        else:
            joined.append(line)
    return joined


def _signatories(line: str, after: str = "", *signatures: re.Pattern[str]) -> list[str]:
    """The persons who sign in a line, or the first name that signs with a date, in the line or `after` it."""
    small = lowered(line)
    signed = next((match for pattern in signatures or _SIGNATURES if (match := pattern.match(small))), None)
    if signed is None:
        reporter = REPORTER_AFTER.match(line)
        return [reporter[1]] if reporter else []
    if RIGHTS.search(line):
        return []
    text = line[signed.end() :]
    names = _SIGNATURE_ENDS.split(TOUCHING_END.split(text)[0])[0]
    return list(filter(is_person, split_names(names))) or _dated_first_name(
        names.strip(" ,"), text[len(names) :] or after
    )


def _dated_first_name(name: str, beside: str) -> list[str]:
    """A first name that signs with a date: "by Amanda" before "Dec 20, 2025", "Posted by David at 3 May 2025"."""
    is_name = name.isalpha() and name.istitle() and name.lower() not in _NO_ACCOUNTS and any(split_names(name))
    return [name] if is_name and len(beside) <= _MAX_BESIDE and SPELT.search(beside) else []
