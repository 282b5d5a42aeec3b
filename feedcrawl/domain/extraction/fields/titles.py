"""The title of an article, without the name of its site."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from feedcrawl.domain.extraction.fields.election import MIN_CORE_LENGTH, Statement, core_of, elect
from feedcrawl.domain.extraction.fields.sites import (
    SEPARATOR,
    host_labels,
    is_front,
    is_news,
    is_of_host,
    key,
    site_keys,
    without_site,
)
from feedcrawl.domain.extraction.structured import text_at
from feedcrawl.domain.text import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from feedcrawl.domain.extraction.page import Page
    from feedcrawl.domain.models import FeedContent

MAX_LENGTH = 500
MAX_PARTS = 8
_LONGEST_HEADLINE = 200  # letters; a longer statement is a description, as long as another is shorter
_MIN_NAME_LENGTH = 4
_MIN_WORDS = 4
_HEADLINE = 3.5  # outweighs all other statements together
_ABOUT = 0.3
# A separator at the end, an anchor, an ornament; a mark at the beginning.
_LOOSE_END = re.compile(
    r"(?<=\S)(?:\s+[-|\u2013\u2014\u00b7\u22c6\u2605\u2606]|\u00b6)$|^(?:\u00bb(?![^\u00ab]*\u00ab)|[|\u00b7\u203a\u2022])\s+"
)
_NOTE = re.compile(r"\s+(?:[^\W\d_]+ ){0,3}(?:[^\W\d_]+\.? \d|\d+[./]|\d+$)|\s+\(.*\)(?:\s\d+)?$")
_CARDS = ("twitter:title", "parsely-title", "dc.title", "dc:title", "dcterms.title", "title")


# After a bar, or a hyphen between ideographs or syllables, there is always the name of a section or a site.
_BAR = re.compile(r"\s+[|\u2502\u3163\uff5c]\s+|(?<=[\u3000-\ud7af])-(?=[\u3000-\ud7af])")
_SECTION = re.compile(r"(?<=[\u3000-\ud7af\uff00-\uffef])_(?=[\u3000-\ud7af])")  # "标题_栏目_站名"
_MAX_SECTION = 6  # ideographs


def find_title(page: Page, feed: FeedContent | None) -> str | None:
    """The headline on which most of the page's statements agree."""
    return decide_title(page, feed).text or None


def decide_title(page: Page, feed: FeedContent | None) -> Statement:
    """The title, without text if the page states none, and the weight of the statements that agree on it.

    Structured data, OpenGraph, the feed, the h1, the title element and the Twitter card each have a weight.
    """
    sites = site_keys(page)
    found = [statement for statement in statements(page, feed, sites) if statement.text]
    stated = [statement for statement in found if len(statement.text) <= _LONGEST_HEADLINE] or found
    hosts = host_labels(page.url)
    sites |= {key(part) for text, _ in stated for part in SEPARATOR.split(text)[1:] if is_of_host(part, hosts)}
    sites |= _signatures([text for text, _ in stated], sites)
    bare = [Statement(without_site(text, sites), weight) for text, weight in stated]
    elected = elect(bare)
    title = _LOOSE_END.sub("", elected.text)
    if title and all(key(title) != key(text) for text in _headings(page, sites)):
        title = _without_ends(title, page, [text for text, _ in stated], sites)
    return Statement(title, elected.weight)


def _without_ends(title: str, page: Page, stated: list[str], sites: set[str]) -> str:
    """A title that is no h1, without the sections and slogans after its last separators."""
    if len(stated) == 1 and page.title_element.startswith(stated[0]):
        is_signed = any(key(part) in sites for part in SEPARATOR.split(stated[0]))
        title = _without_sections(title) if is_signed else title
        cut = unsigned(title, _BAR, most_parts=MAX_PARTS if is_signed else 1)
        return cut if cut != title and not is_signed else unsigned(cut)
    # After a bar in the title of a front page is the site's slogan, not its name.
    return title if is_front(page.url) else unsigned(title, _BAR)


def unsigned(title: str, separator: re.Pattern[str] = SEPARATOR, *, most_parts: int = 1) -> str:
    """A title without the few words after its last separators: sections, and a site's name that is stated nowhere else.

    After a bar more words may follow, but fewer than before it.
    """
    for cut in list(separator.finditer(title))[: -most_parts - 1 : -1]:
        start, rest = title[: cut.start()], title[cut.end() :]
        most = len(start.split()) if separator is _BAR else _MIN_WORDS
        if len(start.split()) < _MIN_WORDS or len(rest.split()) >= most:
            break
        title = start
    return title


def _without_sections(title: str) -> str:
    """A title without the short sections after it, which in Chinese titles follow low lines."""
    parts = _SECTION.split(title)
    while len(parts) > 1 and len(parts[-1]) <= _MAX_SECTION and len(parts[0]) > _MAX_SECTION:
        parts.pop()
    return "_".join(parts)


def _signatures(texts: list[str], sites: set[str]) -> set[str]:
    """The keys of the additions of statements to others, if they contain a name of the site: "The Daily, Germany"."""
    known = [name for name in sites if len(name) >= _MIN_NAME_LENGTH]
    rests = [key(text)[len(key(core)) :] for text in texts if (core := core_of(text, texts))]
    return {rest for rest in rests if any(name in rest for name in known)}


def statements(page: Page, feed: FeedContent | None, sites: set[str]) -> Iterator[Statement]:
    """The titles stated by structured data, OpenGraph, the feed, the heading, the card and the title element."""
    carried = feed.title if feed else None
    found = (text_at(page.article, "headline"), page.meta("og:title"), carried, page.title_element, page.meta(*_CARDS))
    structured, graph, carried, whole, card = ((text or "")[:MAX_LENGTH] for text in found)
    yield Statement(structured, 1.0)
    yield Statement(graph, 1.1)
    yield Statement(carried, 0.8)
    heading = _own_heading(page, f"{structured} {graph} {whole} {card} {carried}", sites)[:MAX_LENGTH]
    heading = _without_name(heading, (structured, graph, whole, card))
    heading = _without_note(heading, [without_site(text, sites) for text in (structured, graph, whole, carried)])
    is_headline = heading and _is_headline(page, heading, [structured, graph, whole, card, carried], sites)
    yield Statement(heading, _HEADLINE if is_headline else 0.45)
    yield Statement(card, 0.1 if structured or graph else 0.7)
    editors = _unlike(structured, graph, whole, sites)
    yield Statement(editors, 1.2) if editors else Statement(whole, 0.6)


def _without_note(heading: str, stated: list[str]) -> str:
    """A heading without an addition (a date, a count) to the text on which two statements agree."""
    for text in stated:
        rest = heading[len(text) :]
        if text and heading.startswith(text) and _NOTE.match(rest) and stated.count(text) > 1:
            return text
    return heading


def _without_name(heading: str, stated: Iterable[str]) -> str:
    """A heading without the text that touches a statement in it, if that is a part of a statement: the site's name."""
    parts = {key(part) for text in stated for part in SEPARATOR.split(text)[1:]}
    for text in stated:
        rest = heading.removeprefix(text)
        if text and rest != heading and rest[:1].isupper() and key(rest) in parts:
            return text
    return heading


def _unlike(structured: str, graph: str, whole: str, sites: set[str]) -> str | None:
    """Of two differing headlines the one that the title element does not repeat.

    Title elements are written for search engines; a headline that differs from them is the editors' own.
    """
    left, right, searched = (key(without_site(text, sites)) for text in (structured, graph, whole))
    if not left or not right or left == right or searched not in {left, right}:
        return None
    return graph if searched == left else structured


def _own_heading(page: Page, stated: str, sites: set[str]) -> str:
    """The h1 that the page's statements or its URL confirm; sites put their own name or other articles into h1 too.

    If statements confirm several, the longest counts: the others are sections.
    """
    about, stated_key, path = set(words(stated)), key(stated), key(urlsplit(page.url).path)
    headings = [
        text
        for text in _headings(page, sites)
        if not about or _shared(text, about) >= _ABOUT or (len(key(text)) >= MIN_CORE_LENGTH and key(text) in path)
    ]
    return max(headings, key=lambda text: len(text) if key(text) in stated_key else 0, default="")


def _headings(page: Page, sites: set[str]) -> list[str]:
    return [text for _, text in page.headings if key(text) not in sites]


def _is_headline(page: Page, heading: str, stated: list[str], sites: set[str]) -> bool:
    """True if the page's own heading is the headline that readers see, whatever was written for search engines.

    It is the only h1 that shares a word with a statement (others are forms, menus and messages), or a part of a
    statement, and no kicker with a headline ("Trade: A headline"). On news sites, which write headlines for their
    structured data, the structured data are believed.
    """
    own = key(heading)
    others = {key(without_site(text, sites)) for text in stated if text} - {own, ""}
    if (
        is_front(page.url)
        or is_news(page)
        or len(own) < MIN_CORE_LENGTH
        or own in key(page.meta("og:site_name") or "")
        or _differ(stated[:2], sites)
    ):
        return False
    about = set(words(" ".join(stated)))
    is_only = not any(_shared(text, about) for text in _headings(page, sites) if key(text) != own)
    if not is_only and not any(_is_part(heading, text) for text in stated):
        return False
    if any(key(text[bar.end() :]) == own for text in stated for bar in _BAR.finditer(text)):
        return False  # "Name | A headline" is intended: sites append names that they only add
    return not any(own.endswith(other) for other in others)


def _is_part(heading: str, text: str) -> bool:
    """True if a text, up to one of its separators or from one on, is the heading."""
    cuts = SEPARATOR.finditer(text)
    return text.endswith(f": {heading}") or any(heading in (text[: cut.start()], text[cut.end() :]) for cut in cuts)


def _differ(stated: list[str], sites: set[str]) -> bool:
    """True if all of the statements exist and are not the same: editors have chosen the words for each."""
    keys = {key(without_site(text, sites)) for text in stated}
    return "" not in keys and len(keys) > 1


def _shared(text: str, about: set[str]) -> float:
    own = set(words(text))
    return len(own & about) / len(own) if own else 0.0
