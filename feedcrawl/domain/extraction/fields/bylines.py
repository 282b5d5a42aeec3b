"""Bylines: the authors as readers see them, in elements that are named for it or in the lines under the headline."""

from __future__ import annotations

import re
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from feedcrawl.domain.extraction.bodies.leads import squeezed
from feedcrawl.domain.extraction.bodies.marks import is_hidden
from feedcrawl.domain.extraction.bodies.weights import names
from feedcrawl.domain.extraction.fields.persons import MAX_NAME_WORDS, is_organization, is_person, is_role, split_names
from feedcrawl.domain.extraction.fields.sites import is_front, key, site_keys
from feedcrawl.domain.extraction.fields.titles import title_element
from feedcrawl.domain.extraction.page import text_of

if TYPE_CHECKING:
    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.page import Page

MAX_AUTHORS = 20
MAX_BYLINE_LENGTH = 160
MAX_ELEMENTS = 300
_MAX_BELOW = 4
_CARD = 30  # elements of a box with a headline, a picture and a byline
MAX_LINES = 8  # under the headline; below them other articles have their bylines
_BYLINE = re.compile(
    r"(?<![A-Za-z])(?:by-?lines?|authors?|autor(?:en|in|es)?|auteurs?|autore|author-?name|writer|journalist|contributors?"
    r"|attribution|firma)(?![A-Za-z])"
    r"|[a-z]Author(?:Name|List)?(?![a-z])|author(?:Name|_name)|[a-z]Byline",
)
_ELSEWHERE = frozenset({"nav", "aside", "footer", "figure", "figcaption", "blockquote", "form"})
_ELSEWHERE_NAMES = re.compile(
    r"comment|related|recommend|teaser|sidebar|quote|promo(?!ted)|nav(?![a-z])|popular", re.IGNORECASE
)
_SIGNED = re.compile(
    r"^\W*(?:(?:written|reported|posted|story|words)\s+)?(?:by|von|vom|por|par|di|door|av|af)[:\s]+"
    r"|^.{0,30}\d{4}(?:,?\s+\d\d?:\d\d)?\W+(?:by|von|par|por|di|door)\s+",
    re.IGNORECASE,
)
_WRITTEN = re.compile(
    r"^\W*(?:(?:this (?:post|article) was )?written by|authored by|words by|text by)[:\s]+"
    r"|^\W*(?:authors?|autor(?:in|en|es)?|auteurs?|text(?:\s*(?:&|und)\s*fotos?)?)\s*:\s*"
    r"|^\W*(?:autorin/autor|autor/in|autor\*in|artikel von)\W+",
    re.IGNORECASE,
)
_MONTH = r"(?:jan|feb|mär|mar|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-z]*\.?\s\d"
_SIGNATURE_ENDS = re.compile(
    rf"\s*[@(]|\s\d|\s(?:at|on|am|in)\s|\s{_MONTH}|\s(?:last )?updated|\spublished", re.IGNORECASE
)
_HANDLE = re.compile(r"[A-Z][a-z]+[A-Z][A-Za-z]+$|[A-Z]\w+ [A-Z]\w+ [-–|] ")  # "HackerYou", "Ann Lee - Marketing"
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
_NAME = re.compile(r"(?:^|[-_\s])(?:name|fn)(?:\s|$)")
_GLUED = re.compile(r"[a-z]{3,}[A-Z]")  # words of several links
_MAX_ALONE = 3  # words; longer lines are headings of rubrics as often as names
_MAX_BESIDE, _MIN_PROSE, _MAX_STANDFIRST = 60, 100, 250
_BARE = re.compile(r"^(by|von|por|par|di|door|av|af):?\n", re.IGNORECASE | re.MULTILINE)
_PARTS = re.compile(r"\s*[|•·]\s*")
_AUTHOR_PAGE = re.compile(
    r"/(?:authors?|autor(?:en|es|a)?|auteurs?|autori|profiles?|profil|people|persons?|staff|reporters?|journalists?"
    r"|contributors?|columnists?|redaktion|team|profils|by)/[^/?#]+/?(?:[?#]|$)|/(?:author|autor)[-_=]",
    re.IGNORECASE,
)


def marked_byline(page: Page) -> list[str]:
    """The names in the first place that is marked as a byline, and in those beside it."""
    around = page.around_headline
    marked = [
        element
        for element in page.tree.iter()
        if element not in around
        and _is_marked(element)
        and _is_box(element)
        and not _is_elsewhere(element, around)
        and not _is_in_teaser(element, page)
    ]
    outer = {parent for element in marked for parent in element.iterancestors()}
    for element in sorted(marked, key=lambda element: element in outer):
        found = _names_in(element)
        if found:
            beside = _beside(element, marked)
            return [name for other in beside for name in _names_in(other)] if len(beside) < MAX_AUTHORS else found
    return []


def _beside(element: HtmlElement, marked: list[HtmlElement]) -> list[HtmlElement]:
    """The marked elements of the same list, itself included: those with a link if it has one."""
    parent, is_linked = element.getparent(), bool(_linked_names(element))
    alike = (other for other in marked if other.getparent() is parent and other.tag == element.tag)
    return [other for other in alike if not is_linked or _linked_names(other)]


def _is_marked(element: HtmlElement) -> bool:
    attributes = element.attrib
    if not attributes or not isinstance(element.tag, str) or element.tag in {"script", "style", "meta", "link", "body"}:
        return False
    return (
        "author" in attributes.get("rel", "").split()
        or "author" in attributes.get("itemprop", "").split()
        or _BYLINE.search(names(element)) is not None
    )


def _is_box(element: HtmlElement, most: int = MAX_ELEMENTS) -> bool:
    """Whether an element is small enough to be a byline, biography included."""
    return next(islice(element.iter(), most, None), None) is None


def _is_elsewhere(element: HtmlElement, around: set[HtmlElement]) -> bool:
    """Whether an element is hidden, or in a part of the page that is not the article's; what is `around` an h1 is."""
    return is_hidden(element) or any(
        is_hidden(kin)
        or kin.tag in _ELSEWHERE
        or (kin not in around and kin.tag != "body" and _ELSEWHERE_NAMES.search(names(kin)))
        for kin in element.iterancestors()
    )


def _is_in_teaser(element: HtmlElement, page: Page) -> bool:
    """Whether an element stands in a small box with a headline that leads to another article."""
    around, titles = page.around_headline, squeezed(f"{page.meta('og:title')} {title_element(page)}")
    if is_front(page.url):  # it has nothing else
        return False
    boxes = takewhile(lambda kin: kin not in around and _is_box(kin, _CARD), element.iterancestors())
    headings = (heading for box in boxes for heading in box.iter("h2", "h3", "h4"))
    return any(h.find(".//a") is not None and squeezed(text_of(h)) not in titles for h in headings)


def _names_in(element: HtmlElement) -> list[str]:
    """The names in a byline: its links, which lead to the authors' pages, or else its text."""
    named = next((e for e in element.iterdescendants() if e.get("itemprop") == "name" or _is_named_name(e)), None)
    linked = _linked_names(element)
    whole = text_of(named if named is not None else element)
    # Links that make up the byline are its names; of links among other things the first is the author's.
    rest = len(squeezed(whole)) - sum(len(squeezed(text)) for text in linked)
    texts = linked if rest <= MAX_NAME_WORDS * len(linked) else linked[:1]
    texts = texts or ([whole] if len(whole) <= MAX_BYLINE_LENGTH else [])
    stated = "author" in f"{element.get('rel')} {element.get('itemprop')}" or _SIGNED.match(text_of(element))
    found = [name for text in texts for name in split_names(text)]
    is_byline = stated or any(is_person(name) or _HANDLE.match(name) for name in found)
    return [name for name in found if is_byline and (stated or name[:1].upper() == name[:1])]


def _is_named_name(element: HtmlElement) -> bool:
    return _NAME.search(element.get("class") or "") is not None


def _linked_names(element: HtmlElement) -> list[str]:
    return [text for link in element.iter("a") if any(split_names(text := text_of(link)))]


def plain_byline(page: Page) -> list[str]:
    """The names in the first of the lines under the headline that is "By Ann Lee", or has links to authors' pages."""
    lines = _lines_under_headline(page)
    links = (link for link in page.tree.iter("a") if lines and _AUTHOR_PAGE.search(link.get("href") or ""))
    authors = dict.fromkeys(filter(is_person, map(text_of, links)))
    for line in (_OTHERS_WORK.split(line)[0] for line in lines):
        linked = [name for name in authors if name in line]
        signed = _signatories(line)
        if linked or signed:
            return linked if len(linked) >= len(signed) else signed
    return []


def late_byline(page: Page) -> list[str]:
    """The names in the first line anywhere on the page that says who wrote the text: "Author: Ann Lee"."""
    return next((names for line in page.lines if len(line) < 100 and (names := _signatories(line, _WRITTEN))), [])


def dated_byline(page: Page) -> list[str]:
    """The name that stands alone in a line under the headline, beside a date or a role."""
    at = page.headline_at
    lines = page.lines[at + 1 : at + 1 + _MAX_BELOW] if at is not None else []
    parts = [part for line in lines for part in _PARTS.split(line.removeprefix("- "))]
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
    below = _BARE.sub(r"\1 ", "\n".join(lines[at : at + 2 * MAX_LINES])).splitlines()
    prose = [at for at, line in enumerate(below) if len(line) > _MAX_STANDFIRST][1:2]  # after two paragraphs: no byline
    short = (line for line in below[: min([MAX_LINES, *prose])] if len(line) <= MAX_BYLINE_LENGTH)
    return [part for line in short for part in _PARTS.split(line.removeprefix("- "))]


def _signatories(line: str, signature: re.Pattern[str] = _SIGNED) -> list[str]:
    signed = signature.match(line)
    text = _SIGNATURE_ENDS.split(line[signed.end() :])[0] if signed else ""
    return [name for name in split_names(text) if is_person(name)]
