"""The prose and the links of each part of a page: one walk over its tree, leaves first."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from lxml.html import HtmlElement

_Judgment = TypeVar("_Judgment")

INLINE = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "br", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "img", "ins", "kbd", "label", "mark", "nobr", "picture", "q", "rp", "rt", "ruby", "s", "samp", "small", "span",
    "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
})  # fmt: skip
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
MIN_PARAGRAPH = 60
_DENSE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MOST_REMEMBERED = 8192
_LONGEST_REMEMBERED = 300  # characters; longer names are rare, and a hostile page has megabytes of them
_DENSE_WORTH = 3  # a Chinese, Japanese or Korean character counts as three letters


@dataclass(slots=True)
class Weight:
    """The content of an element, in characters.

    `text` and `link` are its own line (its text and that of its inline descendants, outside and inside of links);
    `total`, `linked` and `prose` cover everything below: all text, text in links, text of paragraphs. `headlines`:
    number of headings that are links; `value`: for the search of the article's root.
    """

    text: int = 0
    link: int = 0
    total: int = 0
    linked: int = 0
    prose: int = 0
    headlines: int = 0
    value: float = 0.0

    @property
    def density(self) -> float:
        """The share of the text that is links."""
        return self.linked / self.total if self.total else 0.0


Weights = dict["HtmlElement", Weight]


def weigh(root: HtmlElement) -> Weights:
    """The weight of `root` and of every element below, in document order."""
    weights: Weights = {element: Weight() for element in root.iter()}
    for element, weight in reversed(weights.items()):
        tag = element.tag
        if (own := element.text) and not own.isspace() and (size := length(own)):
            weight.text += size
            weight.total += size
        if tag == "a":
            weight.link, weight.text = weight.link + weight.text, 0
            weight.prose, weight.linked = 0, weight.total
        elif weight.text > MIN_PARAGRAPH:
            weight.prose += _line_prose(tag, weight)
        tail = element.tail
        size = length(tail) if tail and not tail.isspace() else 0
        if (weight.total or size) and element is not root:
            _add(weights[element.getparent()], weight, size, is_inline=tag in INLINE)
    return weights


def forget(element: HtmlElement, weights: Weights) -> None:
    """Subtract an element that is about to be removed, with all its content, from the weights."""
    weight = weights[element]
    for inner in element.iter():
        weights.pop(inner, None)
    text, link, linked, prose = weight.text, weight.link, weight.linked, weight.prose
    is_inline = element.tag in INLINE
    for kin in element.iterancestors():
        above = weights.get(kin)
        if above is None:
            return
        if kin.tag == "a":
            text, link, linked, prose = 0, text + link, weight.total, 0
        if is_inline:
            own = _line_prose(kin.tag, above)
            above.text, above.link = above.text - text, above.link - link
            prose += own - _line_prose(kin.tag, above)
            is_inline = kin.tag in INLINE
        above.total, above.linked, above.prose = above.total - weight.total, above.linked - linked, above.prose - prose


def names(element: HtmlElement) -> str:
    """The class and id of an element as one text, for a search of words."""
    named, anchor = element.get("class"), element.get("id")
    if anchor is None:
        return named or ""
    return anchor if named is None else f"{named} {anchor}"


class _Judgments(dict[str, _Judgment]):
    """The results of a function for the latest texts."""

    def __init__(self, judge: Callable[[str], _Judgment]) -> None:
        self._judge = judge

    def __missing__(self, text: str) -> _Judgment:
        judgment = self._judge(text)
        if len(text) <= _LONGEST_REMEMBERED:
            if len(self) >= _MOST_REMEMBERED:
                self.clear()
            self[text] = judgment
        return judgment


def remembered(judge: Callable[[str], _Judgment]) -> Callable[[str], _Judgment]:
    """The function with cached results: each class and id occurs at three elements of a page on average."""
    return _Judgments(judge).__getitem__


def in_names(pattern: re.Pattern[str], *hints: str) -> Callable[[str], bool]:
    """A function that is True if a class and id match the pattern.

    `hints` are in lower case: the pattern can match only where one of them occurs, which is faster to check.
    """

    def occurs(named: str) -> bool:
        if hints and not any(map(named.lower().__contains__, hints)):
            return False
        return pattern.search(named) is not None

    return remembered(occurs)


def _line_prose(tag: str, weight: Weight) -> int:
    """The prose of an element's own line: all of it, or nothing."""
    if tag in INLINE or tag == "li" or weight.text <= MIN_PARAGRAPH or weight.link >= weight.text / 3:
        return 0
    return weight.text


def _add(parent: Weight, weight: Weight, tail: int, *, is_inline: bool) -> None:
    """Add an element and the size of its tail to the parent."""
    if is_inline:
        parent.text += weight.text
        parent.link += weight.link
    parent.text += tail
    parent.total += weight.total + tail
    parent.prose += weight.prose
    parent.linked += weight.linked


def length(text: str | None) -> int:
    """Characters of a text that count, in letters."""
    text = text.strip() if text else ""
    if text.isascii():
        return len(text)
    return len(text) + (_DENSE_WORTH - 1) * len(_DENSE.findall(text))
