"""Items of a listing: siblings of the same shape with a link each, such as teasers, products and entries of charts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.bodies.weights import Weights

_FEWEST = 4
_SHORTEST, _LONGEST = 10, 2500  # letters of an item
_SHORTEST_LINK = 8
_PART_OF_PROSE = frozenset({"p", "h1", "h2", "h3", "h4", "h5", "h6", "br", "span", "b", "strong", "em", "i"})
_NO_LISTS = frozenset({"p", "tr"})
_NUMBER = re.compile(r"[\d_-].*")
_USUAL_PROSE = 300  # letters that introduce a listing


class Items(NamedTuple):
    """Sizes of the items of an area, in letters: text, prose beside them, mean length in the largest group."""

    text: int = 0
    prose_beside: int = 0
    mean_length: float = 0.0

    @property
    def outweigh(self) -> float:
        """The text of the items as a multiple of the prose beside them."""
        return self.text / (self.prose_beside + _USUAL_PROSE)


def count_items(root: HtmlElement, weights: Weights) -> Items:
    """The items below `root`; those within items are not counted again."""
    linked = _with_links(root, weights)
    taken: set[HtmlElement] = set()
    text = prose = largest = 0
    mean = 0.0
    for parent in root.iter():
        if parent in taken or parent.getparent() in taken:
            taken.add(parent)
            continue
        if len(parent) < _FEWEST or parent.tag in _NO_LISTS:
            continue
        for group in _groups(parent, linked, weights):
            taken.update(group)
            length = sum(weights[item].total for item in group)
            text += length
            prose += sum(weights[item].prose for item in group)
            if length > largest:
                largest, mean = length, length / len(group)
    return Items(text, weights[root].prose - prose, mean)


def _with_links(root: HtmlElement, weights: Weights) -> set[HtmlElement]:
    """The elements that are, or contain, a link with words."""
    found: set[HtmlElement] = set()
    for link in root.iter("a"):
        if link.get("href") and link in weights and weights[link].total > _SHORTEST_LINK:
            for element in (link, *link.iterancestors()):
                if element in found:
                    break
                found.add(element)
    return found


def _groups(parent: HtmlElement, linked: set[HtmlElement], weights: Weights) -> list[list[HtmlElement]]:
    """The children grouped by shape: tag and first class name without numbers."""
    groups: dict[tuple[str, str], list[HtmlElement]] = {}
    for child in parent:
        if child in linked and child.tag not in _PART_OF_PROSE and _SHORTEST < weights[child].total < _LONGEST:
            first = (child.get("class") or "").split(None, 1)[:1]
            groups.setdefault((child.tag, _NUMBER.sub("", first[0]) if first else ""), []).append(child)
    return [group for group in groups.values() if len(group) >= _FEWEST]
