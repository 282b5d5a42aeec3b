"""Names of authors and days of posts, as forums show them beside the texts."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from feedcrawl.domain.extraction.bodies.weights import in_names, names
from feedcrawl.domain.extraction.fields.marked import AUTHOR_PAGE
from feedcrawl.domain.extraction.fields.seen_dates import SPELT, date_in, is_of_change
from feedcrawl.domain.extraction.threads.rows import is_day
from feedcrawl.domain.text import fold, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.page import Page

_MAX_SIGNS = 2000
_MAX_LINKS = 5  # of an author's panel that are looked at
_MAX_PANEL = 60  # elements
_MAX_NAME, _MAX_DATED, _MAX_LABEL = 50, 120, 30
_DIGITS = re.compile(r"\d+")
_ACCOUNTS = ("data-author", "data-username", "data-user-name", "author")
_DAYS = ("datetime", "created-timestamp", "title")
_is_author_named = in_names(
    re.compile(
        r"(?<![A-Za-z])(?:(?:big|post(?:er|ed)?|thread|topic|comment|message|member|author|display|hn)?[-_]?"
        r"(?:author|user-?name|user_name|poster|nick(?:name)?|user-?link|hnuser|screen-?name|user|creator)|posted-?by|by-?line)(?:[-_]?(?:name|link))?(?![A-Za-z])"
        r"|[uU]ser(?:N|-n|_n)ame(?![a-z])|author(?:N|-n|_n)ame"
    )
)
_ACCOUNT_PAGE = re.compile(
    r"/(?:users?|u|members?|~|user-?profile|profile/\d*|forums?/users?|account)/[^/?#]+|/@[^/]+$|[?/&](?:u|uid|user|user_?id|member_?id)=\d"
    r"|action=profile|mode=viewprofile|(?:member|profile|user)\.php\?|/user\?id=|member-?\d|/user-\d",
    re.IGNORECASE,
)
_BY = re.compile(
    r"^\W*(?:(?:posted|written|asked|answered|started|von|par|por) by|by|von|par|por)\b[:\s]+", re.IGNORECASE
)
_NO_NAME = re.compile(
    r"^(?:reply|quote|report|share|edit(?:ed)?|link|permalink|(?:view )?profile|guest|anonymous|offline|online|posts?"
    r"|topics?|comments?|likes?|log in|sign (?:in|up)|register|follow|(?:send )?message|pm|more|author|op|moderator"
    r"|admin(?:istrator)?|(?:new )?member|users?|\W*|#?\d+|[a-z]|top|home|website|www)$",
    re.IGNORECASE,
)
_OF_ACCOUNT = re.compile(
    r"join|regist|member since|mitglied|dabei seit|inscri|iscritt|found(?:ed|ing)"
    r"|last (?:visit|seen|active|edit)|edited|since\b|birth",
    re.IGNORECASE,
)


class Signs(NamedTuple):
    """The elements of a page that name an author or a day, each with that name or day, the more trusted first."""

    authors: dict[HtmlElement, str]
    days: dict[HtmlElement, str]


def find_signs(body: HtmlElement, page: Page) -> Signs:
    """The signs in the body of a page; machine-readable days are trusted more than visible ones."""
    stated, spelt = islice(_stated_days(body), _MAX_SIGNS), islice(_spelt_days(body, page), _MAX_SIGNS)
    days = dict(stated)
    return Signs(dict(islice(_authors(body), _MAX_SIGNS)), days | {e: day for e, day in spelt if e not in days})


def _authors(body: HtmlElement) -> Iterator[tuple[HtmlElement, str]]:
    """The elements that name an account: by an attribute, by their names, or by a link to its page."""
    for element in body.iter():
        attributes = element.attrib
        if not attributes and element.tag != "strong":
            continue
        stated = next((attributes[name] for name in _ACCOUNTS if attributes.get(name)), None)
        is_link = element.tag == "a" and _leads_to_account(element.get("href") or "")
        if stated and len(stated) <= _MAX_NAME:
            yield element, fold(stated)
        elif (is_link or _is_marked(element)) and (name := _name_in(element)) and not _is_quoted(element):
            yield element, name


def _leads_to_account(href: str) -> bool:
    return bool(_ACCOUNT_PAGE.search(href) or AUTHOR_PAGE.search(href.lower()))


def _is_marked(element: HtmlElement) -> bool:
    parent = element.getparent()
    if element.tag == "strong" and parent is not None and parent.tag == "dt":  # as FluxBB begins its notes on members
        return True
    stated = f"{element.get('rel')} {element.get('itemprop')}"
    is_named = "author" in stated.split() or _is_author_named(element.get("class") or "")
    return is_named and next(islice(element.iter(), _MAX_PANEL, None), None) is None


def _name_in(element: HtmlElement) -> str | None:
    """The name in the first link of an element that has one, else in the element's text."""
    texts = (text_of(each) for each in (*islice(element.iter("a"), _MAX_LINKS), element))
    names = (_BY.sub("", text).strip(" \t,.:;|»«·•@-–—") for text in texts)
    return next((name for name in names if name and len(name) <= _MAX_NAME and not _is_no_name(name)), None)


def _is_no_name(text: str) -> bool:
    return bool(_NO_NAME.match(text) or SPELT.search(text) or _OF_ACCOUNT.match(text))


def _stated_days(body: HtmlElement) -> Iterator[tuple[HtmlElement, str]]:
    """The elements that state a machine-readable day, or a day in their titles."""
    for element in body.iter():
        attributes = element.attrib
        stated = next((attributes[name] for name in _DAYS if attributes.get(name)), None) if attributes else None
        if stated and len(stated) <= _MAX_DATED and is_day(stated) and not _is_others_day(element):
            yield element, stated


def _spelt_days(body: HtmlElement, page: Page) -> Iterator[tuple[HtmlElement, str]]:
    """The elements with a short line that contains a day."""
    for element in body.iter():
        for before, piece in ((None, element.text), *((child, child.tail) for child in element)):
            if piece and _DIGITS.search(piece) and len(line := fold(piece)) <= _MAX_DATED:
                label = text_of(before)[-_MAX_LABEL:] if before is not None else ""
                day = None if _OF_ACCOUNT.search(f"{label} {line}") else date_in(line, page)
                if day and is_day(day) and not _is_others_day(element):
                    yield element, line if is_day(line) else day
                    break


def _is_others_day(element: HtmlElement) -> bool:
    """True for the day of a change, of a quoted post, or on which an account was created."""
    parent, before = element.getparent(), element.getprevious()
    if before is not None:
        label = " ".join((text_of(before)[-_MAX_LABEL:], *_tooltips(before)))
    else:
        label = (parent.text if parent is not None else "") or ""
    named = f"{names(element)} {names(parent) if parent is not None else ''}"
    is_of_account = _OF_ACCOUNT.search(label) or _OF_ACCOUNT.search(named)
    return bool(is_of_account) or is_of_change(element) or _is_quoted(element)


def _tooltips(element: HtmlElement) -> Iterator[str]:
    """The titles of an element and its descendants."""
    for each in islice(element.iter(), _MAX_LINKS):
        yield from (value for name, value in each.items() if name.endswith("title"))


def _is_quoted(element: HtmlElement) -> bool:
    return any(kin.tag in {"blockquote", "q"} for kin in element.iterancestors())
