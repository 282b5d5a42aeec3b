"""The standfirst: the sentences under a headline that belong to the article and stand outside of its body."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from lxml.html import Element

from feedcrawl.domain.extraction.bodies.weights import HEADINGS, INLINE, MIN_PARAGRAPH, names
from feedcrawl.domain.extraction.structured import text_at
from feedcrawl.domain.markup import drop
from feedcrawl.domain.text import SENTENCE_ENDS, raw_text, squeezed, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.bodies.weights import Weights
    from feedcrawl.domain.extraction.page import Page

_NAMES = re.compile(
    r"lead|lede|standfirst|intro(?!duc)|dek(?![a-z])|deck(?![a-z])|sub-?title|sub-?head|subline|excerpt|summary"
    r"|abstract|teaser|chapo|entradilla|sommario|ingress|vorspann|preamble|bajada|copete|perex|synopsis|epigraph",
    re.IGNORECASE,
)
_LETTER = re.compile(r"\w")
_KEY_LENGTH = 30
_MIN_START, _START = 3, 8
_MIN_KEY_LENGTH = 20
_DATELINE_LENGTH = 30
_MOST_DIGITS = 0.15
_MOST_LINES = 3
_MIN_LENGTH, _MAX_LENGTH = 40, 1200
_LEAST_OPENING = 100.0
_LEAST_PROSE, _MOST_LINKS = 0.8, 0.15
_OPENING_KEY, _MOST_OPENING = 60, 30
_PLACES = ("p", "div", "h2", "h3", "h4", "span", "strong", "b", "em", "section")
_ELSEWHERE = frozenset({"figure", "figcaption", "a", "li"})


def described_lead(page: Page) -> str | None:
    """The paragraph that begins like the page's description; the description may end earlier."""
    keys = set(_description_keys(page))
    initials = {key[0] for key in keys}
    starts = {key[:size] for key in keys for size in range(_MIN_START, _START + 1)}
    for element in page.tree.iter(*_PLACES) if keys else ():
        for text in (element.text, element.tail if element.tag in INLINE else None):
            if not text or len(text) < _MIN_START or text.isspace() or not _begins_with(text, initials):
                continue
            start = squeezed(text, _KEY_LENGTH)
            if start[:_START] in starts and any(key.startswith(start) or start.startswith(key) for key in keys):
                lead = _lead_at(element, keys)
                if lead:
                    return lead
    return None


def named_lead(body: HtmlElement, root: HtmlElement, weights: Weights) -> str | None:
    """The first paragraph between the page's h1 and the article's root that is named a lead or stands in its header."""
    above = set(root.iterancestors())
    headline, lead = None, None
    for element in body.iter():
        if element is root:
            break
        if element.tag == "h1":
            headline, lead = element, None
        elif headline is not None and lead is None and element not in above and _is_lead(element, headline, weights):
            lead = _with_kin(element)
    return lead


def plain_lead(root: HtmlElement, weights: Weights) -> str | None:
    """The first sentence that stands by itself in the article element before its root."""
    article = next((kin for kin in root.iterancestors("article", "main")), None)
    above = set(root.iterancestors())
    for element in article.iter() if article is not None else ():
        if element is root:
            break
        if element.tag in {"p", "div"} and element not in above and _is_line(element, weights):
            text = text_of(element)
            if text.endswith(SENTENCE_ENDS):
                return text
    return None


def add_opening(root: HtmlElement, weights: Weights) -> None:
    """Put the paragraphs between the headline and the article's root in front: their box is beside that of the text."""
    own = squeezed(raw_text(root)) if (lines := _opening_lines(root, weights)) else ""
    for line in lines:
        if squeezed(raw_text(line), _OPENING_KEY) not in own:
            drop(line)
            line.tail, root.text = root.text, None
            root.insert(0, line)


def _opening_lines(root: HtmlElement, weights: Weights) -> list[HtmlElement]:
    """The paragraphs of the boxes of prose between the headline and the root, the last one first."""
    found: list[HtmlElement] = []
    for box in _boxes_before(root):
        if box.tag == "h1" or box.find(".//h1") is not None:
            return found if len(found) <= _MOST_OPENING else []
        weight = weights.get(box)
        if weight is None or weight.value <= _LEAST_OPENING or weight.density > _MOST_LINKS:
            continue
        if weight.prose >= _LEAST_PROSE * weight.total:
            found.extend(reversed([line for line in box.iter() if _is_paragraph(line, weights)]))
    return []


def _boxes_before(root: HtmlElement) -> Iterator[HtmlElement]:
    """The elements beside a root and beside those around the root that stand before them, the last one first."""
    if root.find(".//h1") is None:
        for kin in (root, *takewhile(lambda kin: kin.tag != "body", root.iterancestors())):
            yield from kin.itersiblings("*", preceding=True)


def _is_paragraph(element: HtmlElement, weights: Weights) -> bool:
    """True if the words of an element's own line are prose, and no heading, item of a list or caption."""
    weight = weights.get(element)
    if weight is None or element.tag in INLINE or element.tag in HEADINGS or element.tag in _ELSEWHERE:
        return False
    is_prose = weight.text > MIN_PARAGRAPH and weight.text == weight.prose
    return is_prose and not any(kin.tag in _ELSEWHERE for kin in element.iterancestors())


def has_lead(root: HtmlElement, lead: str) -> bool:
    """True if an article has its standfirst already."""
    return squeezed(lead, 60) in squeezed(raw_text(root))


def add_lead(root: HtmlElement, lead: str | None) -> None:
    """Put the standfirst in front, unless the article has it."""
    if lead and not has_lead(root, lead):
        for line in reversed(lead.splitlines()):
            paragraph = Element("p")
            paragraph.text, paragraph.tail, root.text = line, root.text, None
            root.insert(0, paragraph)


def _description_keys(page: Page) -> Iterator[str]:
    metas = (page.meta(name) for name in ("og:description", "description", "twitter:description"))
    for text in (*metas, text_at(page.article, "description")):
        key = squeezed(text or "", _KEY_LENGTH)
        if text and len(text) > _MIN_LENGTH and len(key) >= _MIN_KEY_LENGTH:
            yield key


def _begins_with(text: str, initials: set[str]) -> bool:
    """True if the first letter or digit of a text, in lower case, is one of the initials."""
    first = text.lstrip()[0]
    match = None if first.isalnum() else _LETTER.search(text)
    first = match[0] if match else first
    return first.lower()[0] in initials


def _lead_at(element: HtmlElement, keys: set[str]) -> str | None:
    while element.tag in INLINE and element.getparent() is not None:
        element = element.getparent()
    if element.tag in _ELSEWHERE or any(kin.tag in _ELSEWHERE for kin in element.iterancestors()):
        return None
    text = _with_kin(element)
    beginning = squeezed(text, _KEY_LENGTH + _DATELINE_LENGTH)
    return text if any(key in beginning for key in keys) and _MIN_LENGTH < len(text) < _MAX_LENGTH else None


def _with_kin(element: HtmlElement) -> str:
    """The lines of a standfirst: the paragraph and those that look alike. A long run is the text and no standfirst."""
    looks = element.tag, element.get("class")
    kin = takewhile(lambda kin: (kin.tag, kin.get("class")) == looks, element.itersiblings())
    lines = [element, *kin] if looks[0] == "p" and looks[1] else [element]
    return "\n".join(map(text_of, lines if len(lines) <= _MOST_LINES else lines[:1]))


def _is_lead(element: HtmlElement, headline: HtmlElement, weights: Weights) -> bool:
    if element.tag not in {"p", "h2", "h3", "div"} or not _is_line(element, weights):
        return False
    parent = element.getparent()
    if _NAMES.search(f"{names(element)} {names(parent) if parent is not None else ''}"):
        return True
    return any(kin.tag == "header" and kin in set(headline.iterancestors()) for kin in element.iterancestors())


def _is_line(element: HtmlElement, weights: Weights) -> bool:
    """True if an element is a line of plain words: no links, no caption, no date."""
    weight = weights.get(element)
    if weight is None or weight.text != weight.total or weight.linked or not 50 <= weight.text <= 800:
        return False
    text = text_of(element)
    digits = sum(map(str.isdigit, text))
    return digits <= _MOST_DIGITS * len(text) and not any(kin.tag in _ELSEWHERE for kin in element.iterancestors())
