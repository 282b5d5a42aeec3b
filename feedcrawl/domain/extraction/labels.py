"""Tags, names and states of the elements of a page, read once for all parts of the extraction."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Literal, NamedTuple

from feedcrawl.domain.text import lowered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from lxml.html import HtmlElement

_PLAYER = re.compile(r"\b(?:video|audio|media) player\b", re.IGNORECASE)
_HIDDEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_FOLLOWED = frozenset({"aria-expanded", "aria-controls", "itemtype"})
_BEYOND_CLASS = _FOLLOWED | frozenset({"id", "itemprop", "rel", "role", "aria-label", "hidden", "aria-hidden", "style"})


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
        self._having: dict[str, list[int]] = {name: [] for name in _FOLLOWED}
        self._places: defaultdict[Label, list[int]] = defaultdict(list)
        self._found: dict[Callable[[Label], bool], list[tuple[int, Label]]] = {}
        for at, element in enumerate(elements):
            attributes = element.keys()
            if _BEYOND_CLASS.isdisjoint(attributes):
                named[element.tag, element.get("class", "") if attributes else ""].append(at)
                continue
            self._places[label_of(element)].append(at)
            for name in _FOLLOWED.intersection(attributes):
                self._having[name].append(at)
        for (tag, classes), found in named.items():
            self._places[Label(tag, classes, classes)] += found

    def find(self, judge: Callable[[Label], bool], hint: re.Pattern[str] | None = None) -> list[tuple[int, Label]]:
        """The labels that the judge accepts, each with the index of an element that has it, in document order.

        With a `hint`, only labels are judged whose class, id or itemprop in lower case match it; it matches no NUL. The
        answer is remembered for each judge.
        """
        if judge not in self._found:
            possible = self._places if hint is None else self._matching(hint)
            accepted = (label for label in possible if judge(label))
            self._found[judge] = sorted((at, label) for label in accepted for at in self._places[label])
        return self._found[judge]

    def _matching(self, hint: re.Pattern[str]) -> Iterator[Label]:
        """The labels that match, by one search in the names of all, which is faster than one for each."""
        labels = list(self._places)
        names = lowered("\0".join([f"{label.names} {label.itemprop}" for label in labels]))
        at = end = 0
        while match := hint.search(names, end):
            at += names.count("\0", end, match.start())
            yield labels[at]
            end = names.find("\0", match.end())
            if end < 0:
                return

    def having(self, attribute: Literal["aria-expanded", "aria-controls", "itemtype"]) -> list[int]:
        """The indexes of the elements with an attribute."""
        return self._having[attribute]


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
