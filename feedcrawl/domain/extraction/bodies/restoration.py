"""The figures of an article: boxes with pictures, and pictures, players, tables and lists that libraries drop."""

from __future__ import annotations

import re
from collections import deque
from copy import deepcopy
from typing import TYPE_CHECKING

from feedcrawl.domain.extraction.bodies.polish import lines
from feedcrawl.domain.extraction.bodies.weights import in_names, names
from feedcrawl.domain.figures.embeds import EMBEDS, embed_of
from feedcrawl.domain.figures.images import is_pixel
from feedcrawl.domain.text import raw_text, squeezed

if TYPE_CHECKING:
    from collections.abc import Container

    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.bodies.weights import Weights

_SHOWN = frozenset({"img", *EMBEDS})
_ARRANGED = frozenset({"table", "ul", "ol", "dl"})
_INNER = frozenset({"li", "dt", "dd", "td", "th", "tr", "tbody", "thead", "tfoot", "caption", "figcaption"}) | _ARRANGED
_KEY = 120
_PICTURE_NAMES = re.compile(
    r"im(?:g|age)|photo|foto|pic(?:ture)?(?![a-z])|picbox|bild|media(?!wiki)|figure|galler|slideshow|carousel|illustration|visuel|thumb|caption",
    re.IGNORECASE,
)
_is_picture = in_names(_PICTURE_NAMES)
_FIGURE_TEXT = 500
_TITLES = frozenset({"h2", "h3", "h4"})
_NO_FIGURES = frozenset({"article", "main", "section", "p", "li", "td", "body"})
_MIN_STRANGE = 60  # letters; a longer line that the body does not have is no part of the article


def mark_figures(root: HtmlElement, weights: Weights) -> None:
    """Make a `figure` of each box that has a picture, a name for pictures, and little text."""
    for image in list(root.iter("img", "picture")):
        outermost = None
        for box in image.iterancestors():
            weight = weights.get(box)
            if box is root or weight is None or weight.total >= _FIGURE_TEXT or box.tag in _NO_FIGURES:
                break
            if next(box.iter(*_TITLES), None) is not None:  # an item of a list, with its picture
                break
            if outermost is not None and outermost.tag == "figure" and weight.prose > weights[outermost].prose:
                break
            if box.tag == "figure" or _is_picture(names(box)):
                outermost = box
        if outermost is not None:
            outermost.tag = "figure"


def restore(body: HtmlElement, prose: HtmlElement) -> bool:
    """Insert into a body the figures, tables and lists that only `prose`, another reading of the page, has.

    An element returns after the line that precedes it in both. True if any did. Changes `body`.
    """
    places: dict[str, deque[HtmlElement]] = {}
    for line in lines(body):
        places.setdefault(_key(line), deque()).append(_outermost(line, body))
    shown = {_address(image) for image in body.iter(*_SHOWN)}
    missing: list[HtmlElement] = []
    last: HtmlElement | None = None
    restored = False
    for element in _in_order(prose):
        if element.tag in _SHOWN or element.tag in _ARRANGED or element.tag == "figure":
            if not _is_there(element, shown, places):
                missing.append(element)
            continue
        key = _key(element)
        if key in places:
            place = places[key].popleft() if len(places[key]) > 1 else places[key][0]  # a repeated line, in order
            restored = _insert(missing, last, place) or restored
            missing, last = [], place
        elif len(key) > _MIN_STRANGE:
            restored = _insert(missing, last, None) or restored
            missing, last = [], None
    return _insert(missing, last, None) or restored


def _in_order(prose: HtmlElement) -> list[HtmlElement]:
    """The lines, figures, tables and lists of a tree, in document order; none that is within another of these."""
    found: list[HtmlElement] = []
    taken: set[HtmlElement] = set()
    leaves = set(lines(prose))
    for element in prose.iterdescendants():
        parent = element.getparent()
        if parent in taken:
            taken.add(element)
        elif element.tag in _SHOWN or element.tag in _ARRANGED or element.tag == "figure":
            taken.add(element)
            found.append(element)
        elif element in leaves and _key(element):
            found.append(element)
    return found


def _is_there(element: HtmlElement, shown: set[str], places: Container[str]) -> bool:
    images = [image for image in element.iter(*_SHOWN) if _address(image)]
    if images:
        return any(_address(image) in shown or is_pixel(image) for image in images)
    keys = [key for line in (element, *element.iterdescendants()) if (key := _key(line))]
    return element.tag in _SHOWN or not keys or any(key in places for key in keys)


def _insert(missing: list[HtmlElement], last: HtmlElement | None, following: HtmlElement | None) -> bool:
    """Insert elements after the line before them, else before the line after them."""
    for element in missing:
        thing = deepcopy(element)
        thing.tail = None
        if last is not None and last.getparent() is not None:
            last.addnext(thing)
            last = thing
        elif following is not None:
            following.addprevious(thing)
    return bool(missing) and (last is not None or following is not None)


def _outermost(line: HtmlElement, body: HtmlElement) -> HtmlElement:
    """The list, table or figure that contains a line, else the line."""
    found = line
    for kin in line.iterancestors():
        if kin is body:
            break
        if kin.tag in _INNER or kin.tag == "figure":
            found = kin
    return found


def _address(element: HtmlElement) -> str:
    embed = embed_of(element) if element.tag in EMBEDS else None
    return embed.url if embed else element.get("src") or ""


def _key(element: HtmlElement) -> str:
    return squeezed(raw_text(element), _KEY)
