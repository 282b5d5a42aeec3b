"""The visible posts of a thread: boxes of the same name, each with a text, an author and a day.

A post is recognised by its text: elements around the text of one post alone belong to that post, and name its author
and day.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from feedcrawl.domain.extraction.bodies.furniture import shown_body
from feedcrawl.domain.extraction.bodies.weights import Weights, in_names, names, weigh
from feedcrawl.domain.extraction.threads.rows import MAX_POSTS, posts_of_rows
from feedcrawl.domain.extraction.threads.signs import find_signs
from feedcrawl.domain.text import canonical_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.page import Page
    from feedcrawl.domain.extraction.threads.signs import Signs
    from feedcrawl.domain.models import Post

_MAX_BOXES = 1000
_MAX_GROUPS = 16
_LEAST_SHARE = 0.15  # of the page's text that a group of boxes has
_MOST_BETWEEN = 3  # elements from the line with a post's author to its text
_MOST_LINKS = 0.6  # in the boxes; those with more are lists of threads
_DIGITS = re.compile(r"\d+")
_BESIDE = frozenset({"aside", "nav", "footer"})
_is_beside_named = in_names(re.compile(r"sidebar|(?<![\w-])side(?![\w-])", re.IGNORECASE))
_MOST_BESIDE = 0.4  # share of the page's text; a larger element is no sidebar, whatever its name


class _Thread(NamedTuple):
    """The texts of posts with their length, and their known authors and days."""

    texts: tuple[HtmlElement, ...]
    length: int
    authors: dict[HtmlElement, str]
    days: dict[HtmlElement, str]

    @property
    def rank(self) -> tuple[int, int]:
        """The order of threads: more authors and days are better, then more text."""
        return len(self.authors) + len(self.days), self.length

    def is_sound(self, *, is_inside: bool) -> bool:
        """True if most texts have an author, and inside of boxes a day too."""
        known = min(len(self.authors), len(self.days)) if is_inside else len(self.authors)
        return 2 * known > len(self.texts)


def seen_posts(page: Page) -> list[Post]:
    """The visible posts of the page, in document order; none unless most of them have an author.

    If authors are only within the boxes themselves, most posts must have a day too.
    """
    body, _ = shown_body(page.elements.copied(), page.labels)
    weights = weigh(body)
    signs = find_signs(body, page)
    groups = _groups(body, weights) if signs.authors else {}
    for is_inside in (False, True):
        threads = [_thread(texts, length, signs, is_inside=is_inside) for texts, length in groups.items()]
        sound = [each for each in threads if each.is_sound(is_inside=is_inside)]
        if sound:
            return _posts(max(sound, key=lambda thread: thread.rank))
    return []


def _posts(thread: _Thread) -> list[Post]:
    """The posts of a thread; boxes beside it have neither an author nor a day."""
    named = (text for text in thread.texts if text in thread.authors or text in thread.days)
    return posts_of_rows(
        [
            (canonical_text(text), thread.authors.get(text), thread.days.get(text, ""))
            for text in islice(named, MAX_POSTS)
        ]
    )


def _groups(body: HtmlElement, weights: Weights) -> dict[tuple[HtmlElement, ...], int]:
    """Groups of elements with the same name and a good part of the text, with the length of their text.

    No element of a group is within another.
    """
    found: dict[tuple[str, str], list[HtmlElement]] = {}
    beside: set[HtmlElement] = set()
    for element in weights:
        size = weights[element].total
        is_small = size < _MOST_BESIDE * weights[body].total
        if element is not body and not _is_beside(element, beside, is_small=is_small) and size:
            for name in _shared_names(element):
                found.setdefault((element.tag, name), []).append(element)
    least = _LEAST_SHARE * weights[body].total
    sizes = {tuple(group): sum(weights[each].total for each in group) for group in found.values() if len(group) > 1}
    chosen: dict[tuple[HtmlElement, ...], int] = {}
    for group in sorted(sizes, key=lambda group: -sizes[group]):
        if sizes[group] < least or len(chosen) == _MAX_GROUPS:
            break
        linked = sum(weights[each].linked for each in group)
        if len(group) <= _MAX_BOXES and linked <= _MOST_LINKS * sizes[group] and _is_flat(group):
            chosen[group] = sizes[group]
    return chosen


def _is_beside(element: HtmlElement, beside: set[HtmlElement], *, is_small: bool) -> bool:
    """True for an element beside the thread, which is added to `beside`; parents are judged before their children."""
    named = element.tag in _BESIDE or (is_small and _is_beside_named(names(element)))
    if named or element.getparent() in beside:
        beside.add(element)
    return element in beside


def _shared_names(element: HtmlElement) -> Iterator[str]:
    """Names that boxes of the same kind share: each word of their class, their id without numbers."""
    anchor = element.get("id") or ""
    yield from {_DIGITS.sub("", word) for word in (element.get("class") or "").split()}
    if _DIGITS.search(anchor):
        yield f"#{_DIGITS.sub('', anchor)}"
    if element.tag == "article" or "-" in element.tag:
        yield ""


def _is_flat(group: tuple[HtmlElement, ...]) -> bool:
    members = set(group)
    return not any(kin in members for each in group for kin in each.iterancestors())


def _thread(texts: tuple[HtmlElement, ...], length: int, signs: Signs, *, is_inside: bool) -> _Thread:
    first: dict[HtmlElement, HtmlElement] = {}
    shared: set[HtmlElement] = set()
    for text in texts:
        for kin in (text, *text.iterancestors()):
            if first.setdefault(kin, text) is not text:
                shared.add(kin)
    own = {kin: text for kin, text in first.items() if kin not in shared}
    found = (_assigned(named, texts, own, first, is_inside=is_inside) for named in signs)
    return _Thread(texts, length, *found)


def _assigned(
    named: dict[HtmlElement, str],
    texts: tuple[HtmlElement, ...],
    own: dict[HtmlElement, HtmlElement],
    first: dict[HtmlElement, HtmlElement],
    *,
    is_inside: bool,
) -> dict[HtmlElement, str]:
    """The author or day of each text: from the elements around that text alone, else from those before the text.

    Lines between posts are headers of the next post only if the first post has one.
    """
    around: dict[HtmlElement, str] = {}
    before: dict[HtmlElement, str] = {}
    for element, value in named.items():
        if element in first:
            around.setdefault(first[element], value)
            continue
        child, kin = element, element.getparent()
        while kin is not None and kin not in first:
            child, kin = kin, kin.getparent()
        owner = own.get(kin) if kin is not None else None
        if owner is not None:
            if is_inside or kin is not owner:
                around.setdefault(owner, value)
            continue
        following = next((own[each] for each in islice(child.itersiblings(), _MOST_BETWEEN) if each in own), None)
        if following is not None:
            before[following] = value
    return {**before, **around} if texts[0] in before else around
