"""Bylines in lines of text, as readers see them: under the headline, beside a date, under the text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from feedcrawl.domain.extraction.fields.marked import AUTHOR_PAGE, MAX_BYLINE_LENGTH
from feedcrawl.domain.extraction.fields.persons import is_agency, is_organization, is_person, is_role, split_names
from feedcrawl.domain.extraction.fields.signing_words import (
    LABELLED,
    REPORTER_AFTER,
    SIGNED,
    SIGNED_AFTER_DATE,
    is_label,
)
from feedcrawl.domain.extraction.fields.sites import key, site_keys
from feedcrawl.domain.text import lowered, text_of

if TYPE_CHECKING:
    from feedcrawl.domain.extraction.page import Page

_MAX_BELOW = 4
MAX_LINES = 8  # under the headline; below them other articles have their bylines
_MONTH = r"(?:jan|feb|mär|mar|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-z]*\.?\s\d"
_SIGNATURE_ENDS = re.compile(
    rf"\s*[@(]|\s\d|\s(?:at|on|am|in)(?:\s|$)|\s{_MONTH}|\s(?:last )?updated|\spublished", re.IGNORECASE
)
_OTHERS_WORK = re.compile(
    r"(?<=\S)\W+(?:(?:medically |expert )?reviewed|edited|fact[- ]checked|translated|photo\w*|illustrat\w+) by\b",
    re.IGNORECASE,
)
_DATED = re.compile(r"\b(?:199[5-9]|20\d\d)\b|\bmin(?:ute)?s?\.? read\b", re.IGNORECASE)
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
_MAX_BESIDE, _MIN_PROSE, _MAX_STANDFIRST = 60, 100, 250
_PARTS = re.compile(r"\s*[|•·]\s*")
_SIGNATURES = (SIGNED, SIGNED_AFTER_DATE)


def plain_byline(page: Page) -> list[str]:
    """The names in the first of the lines under the headline that is "By Ann Lee", or has links to authors' pages."""
    lines = _lines_under_headline(page)
    links = (link for link in page.tree.iter("a") if lines and AUTHOR_PAGE.search(link.get("href") or ""))
    authors = dict.fromkeys(filter(is_person, map(text_of, links)))
    for line in (_OTHERS_WORK.split(line)[0] for line in lines):
        linked = [name for name in authors if name in line]
        signed = _signatories(line)
        if linked or signed:
            return linked if len(linked) >= len(signed) else signed
    return []


def account_byline(page: Page) -> list[str]:
    """The name in the first signed line under the headline that is an account's or a team's: "by annlee", "By Ann"."""
    for line in _lines_under_headline(page):
        signed = next((match for pattern in _SIGNATURES if (match := pattern.match(lowered(line)))), None)
        text = _SIGNATURE_ENDS.split(line[signed.end() :])[0].strip() if signed and len(line) <= _MAX_BESIDE else ""
        if text and _may_sign(text):
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
    """The names in the first line anywhere on the page that says who wrote the text: "Author: Ann Lee"."""
    return next((names for line in page.lines if len(line) < 100 and (names := _signatories(line, LABELLED))), [])


def dated_byline(page: Page) -> list[str]:
    """The name that stands alone in a line under the headline, beside a date or a role."""
    at = page.headline_at
    lines = page.lines[at + 1 : at + 1 + _MAX_BELOW] if at is not None else []
    parts = [part for line in lines for part in _PARTS.split(line.removeprefix("- ")) if part]
    for before, name, after in zip(["", *parts], parts, [*parts[1:], ""], strict=False):
        if any(map(_is_beside_name, (before, after))) and _is_name_alone(name, page):
            return [name]
    return []


def _is_name_alone(line: str, page: Page) -> bool:
    """Whether a line is a person's name; none of its words is a common word of the page ("Full Bio", "Find Care")."""
    names = line.split()
    if not is_person(line) or len(names) > _MAX_ALONE or is_organization(line) or _GLUED.search(line):
        return False
    return page.common_words.isdisjoint(name.lower() for name in names)


def _is_beside_name(line: str) -> bool:
    return len(line) <= _MAX_BESIDE and (_DATED.search(line) is not None or is_role(line))


def noted_byline(page: Page) -> list[str]:
    """The person of whom a note stands under the text ("Ann Lee", "Ann Lee is a writer"), if there is only one."""
    lines = page.lines
    prose = [len(line) if len(line) > _MIN_PROSE else 0 for line in lines]
    above, whole = 0, sum(prose)
    noted: set[str] = set()
    for name, note, size in zip(lines, lines[1:], prose, strict=False):
        above += size
        if note.startswith(name) and 2 * above > whole and _NOTE.match(note[len(name) :]):
            noted.update({name} if _is_name_alone(name, page) else ())
    return list(noted) if len(noted) == 1 else []


def only_byline(page: Page) -> list[str]:
    """The name in the only line of a page without a headline that is signed."""
    if page.headline_at is not None:
        return []
    found = {tuple(names) for line in page.lines if len(line) <= _MAX_BESIDE and (names := _signatories(line))}
    return list(found.pop()) if len(found) == 1 else []


def _lines_under_headline(page: Page) -> list[str]:
    """Lines, and parts of lines between bars and bullets; a mere "By" has been joined with the line after it."""
    sites = site_keys(page)
    headings = [text for _, text in page.headings if key(text) not in sites]
    lines = page.lines if headings else []
    at = next((lines.index(heading) + 1 for heading in headings if heading in lines), len(lines))
    below = _joined(lines[at : at + 2 * MAX_LINES])
    prose = [at for at, line in enumerate(below) if len(line) > _MAX_STANDFIRST][1:2]  # after two paragraphs: no byline
    short = (line for line in below[: min([MAX_LINES, *prose])] if len(line) <= MAX_BYLINE_LENGTH)
    return [part for line in short for part in _PARTS.split(line.removeprefix("- "))]


def _joined(lines: list[str]) -> list[str]:
    """The lines, each that is only a label ("By", "Written by") in one with the line after it."""
    joined: list[str] = []
    for line in lines:
        if joined and is_label(joined[-1]):
            joined[-1] = f"{joined[-1].rstrip(' :')}: {line}"
        else:
            joined.append(line)
    return joined


def _signatories(line: str, *signatures: re.Pattern[str]) -> list[str]:
    signed = next((match for pattern in signatures or _SIGNATURES if (match := pattern.match(lowered(line)))), None)
    if signed is None:
        reporter = REPORTER_AFTER.match(line)
        return [reporter[1]] if reporter else []
    return [name for name in split_names(_SIGNATURE_ENDS.split(line[signed.end() :])[0]) if is_person(name)]
