"""Tags, names and states of the elements of a page, read once for all parts of the extraction."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from lxml.html import HtmlElement

_PLAYER = re.compile(r"\b(?:video|audio|media) player\b", re.IGNORECASE)
_HIDDEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_BEYOND_CLASS = frozenset({"id", "itemprop", "rel", "role", "aria-label", "hidden", "aria-hidden", "style"})


class Label(NamedTuple):
    """The tag of an element and the attributes that name it or state what it is; empty for absent attributes.

    `names` are its class and id, for looking for words in them; `anchor` is the id alone.
    """

    tag: str
    names: str = ""
    classes: str = ""
    anchor: str = ""
    itemprop: str = ""
    rel: str = ""
    role: str = ""
    is_hidden: bool = False
    is_player: bool = False


class Labels:
    """The labels of the elements of a tree, in document order.

    A label is shared by three elements of a page on average, and judged once for all of them. A copy of the tree has
    the same labels at the same places.
    """

    def __init__(self, elements: Iterable[HtmlElement]) -> None:
        named: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        self._places: defaultdict[Label, list[int]] = defaultdict(list)
        self._found: dict[Callable[[Label], bool], list[tuple[int, Label]]] = {}
        for at, element in enumerate(elements):
            attributes = element.keys()
            if _BEYOND_CLASS.isdisjoint(attributes):
                named[element.tag, element.get("class", "") if attributes else ""].append(at)
            else:
                self._places[label_of(element)].append(at)
        for (tag, classes), found in named.items():
            self._places[Label(tag, classes, classes)] += found

    def find(self, judge: Callable[[Label], bool]) -> list[tuple[int, Label]]:
        """The labels that the judge accepts, each with the index of an element that has it, in document order.

        The answer is remembered for each judge.
        """
        if judge not in self._found:
            accepted = (item for item in self._places.items() if judge(item[0]))
            self._found[judge] = sorted((at, label) for label, places in accepted for at in places)
        return self._found[judge]


def label_of(element: HtmlElement) -> Label:
    """The label of one element."""
    attributes = dict(element.items())
    value = attributes.get
    classes, anchor = value("class"), value("id")
    names = classes or "" if anchor is None else anchor if classes is None else f"{classes} {anchor}"
    is_player = "aria-label" in attributes and _PLAYER.search(attributes["aria-label"]) is not None
    return Label(
        element.tag,
        names,
        classes or "",
        anchor or "",
        value("itemprop", ""),
        value("rel", ""),
        value("role", ""),
        _says_hidden(attributes),
        is_player,
    )


def is_hidden(element: HtmlElement) -> bool:
    """True if an element states that it is not shown."""
    return _says_hidden(element.attrib)


def _says_hidden(attributes: Mapping[str, str]) -> bool:
    """True if the attributes of an element state that it is not shown."""
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or ("style" in attributes and _HIDDEN.search(attributes["style"]) is not None)
    )
