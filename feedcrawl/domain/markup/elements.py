"""The elements of a parsed document: found by their tags, and removed."""

from __future__ import annotations

from collections import defaultdict
from copy import copy, deepcopy
from itertools import chain, islice
from typing import TYPE_CHECKING

from lxml import etree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lxml.html import HtmlElement

MATH_TAGS = frozenset({
    "math", "merror", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded", "mphantom",
    "mprescripts", "mroot", "mrow", "ms", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd",
    "mtext", "mtr", "munder", "munderover", "none",
})  # fmt: skip
"""The elements of presentation MathML (https://www.w3.org/TR/mathml-core/)."""

_GONE = "removed-element"
_UNSHOWN = frozenset({"link", "meta", "noscript", "script", "style", "template"})


class Elements:
    """The elements of a tree by tag, in document order.

    Elements are read in one walk: libxml2 takes as long for a walk that looks for one tag. The answers are those of the
    latest `read`; whoever adds, removes or renames elements that later callers ask for reads the tree again.
    """

    def __init__(self, tree: HtmlElement, most: int | None = None) -> None:
        """Read a tree, or its first `most` elements."""
        self.tree = tree
        self.read(most)

    def read(self, most: int | None = None) -> None:
        """Read the tree again."""
        self.all = list(islice(self.tree.iter(), most))
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        for at, element in enumerate(self.all):
            self._places[element.tag].append(at)

    def of(self, *tags: str) -> list[HtmlElement]:
        """The elements with one of the tags."""
        places = [found for tag in tags if (found := self._places.get(tag))]
        return [self.all[at] for at in (places[0] if len(places) == 1 else sorted(chain.from_iterable(places)))]

    def copied(self) -> Elements:
        """The elements of a copy of the tree, which are at the same places."""
        twin = copy(self)
        twin.tree = deepcopy(self.tree)
        twin.all = list(twin.tree.iter())
        return twin


def drop(element: HtmlElement) -> None:
    """Remove an element with its content; the words before and after it stay apart. Nothing for a root."""
    if element.getparent() is not None:
        _part_words(element)
        element.drop_tree()


def drop_all(tree: HtmlElement, elements: Iterable[HtmlElement], *, apart: bool = True) -> None:
    """Remove elements of a tree, given in document order, as `drop` removes each; with `apart` off, the words before
    and after an element become neighbours.

    For each removed element lxml writes the text before it anew, and reading a text in pieces it copies them over and
    over: thousands in one line would take minutes.
    """
    removed: list[HtmlElement] = []
    for element in elements:
        if element.getparent() is not None:
            if apart:
                _part_words(element)
            element.tag = _GONE
            removed.append(element)
    _join_tails(removed)
    etree.strip_elements(tree, _GONE, with_tail=False)


def _join_tails(removed: list[HtmlElement]) -> None:
    """Give all text behind neighbouring elements, which are in document order, to the first of them."""
    runs: dict[HtmlElement | None, list[HtmlElement]] = {}
    for element in removed:
        run = runs.pop(element.getprevious(), [])
        run.append(element)
        runs[element] = run
    for first, *others in runs.values():
        if others:
            text = "".join([element.tail or "" for element in (first, *others)])
            for element in others:
                element.tail = None
            first.tail = text


def _part_words(element: HtmlElement) -> None:
    """Put a space after an element that is to be removed between two words."""
    tail = element.tail
    if not tail or not tail[0].isalnum() or element.tag in _UNSHOWN:
        return
    before = element.getprevious()
    while before is not None and before.tag == _GONE and not before.tail:
        before = before.getprevious()
    text = element.getparent().text if before is None else before.tail
    if text[-1:].isalnum() if text else before is not None:
        element.tail = f" {tail}"
