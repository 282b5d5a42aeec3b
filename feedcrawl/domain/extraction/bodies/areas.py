"""The main area of a page: its visible content without menus, filters, dialogs and footers.

The area is the text of pages that are no single article: listings with their items, services with their sections,
manuals.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from feedcrawl.domain.extraction.bodies.furniture import shown_body
from feedcrawl.domain.extraction.bodies.items import Items, count_items
from feedcrawl.domain.extraction.bodies.marks import ROLES, own_names
from feedcrawl.domain.extraction.bodies.weights import Weights, forget, names, remembered, weigh
from feedcrawl.domain.markup import drop_all
from feedcrawl.domain.text import canonical_text, fold, raw_text

if TYPE_CHECKING:
    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.labels import Labels
    from feedcrawl.domain.markup import Elements

_TAGS = frozenset({"nav", "footer", "aside", "form", "dialog", "menu"})
_WORDS = re.compile(
    r"(?<![a-z])(?:nav|navbar|navigation|megamenu|(?:sub)?menu|breadcrumbs?|footer|filters?|facets?|refine(?:ments?)?"
    r"|pagination|pager|paging|newsletters?|subscribe|cookies?|modal|drawer|flyout|off-?canvas|mini-?cart|wishlist"
    r"|log-?in|sign-?in|sign-?up|share|sharing|social|toolbar|sort(?:ing|by)?|skip|popup|dropdown|lightbox|toast"
    r"|tooltip|announcement|visually-?hidden|sr-only|screen-reader\w*|recently|swatch\w*|disclaimer|copyright"
    r"|masthead|site-header|(?<!\d)ads?(?!\d)|advert\w*|sidebar)(?![a-z])"
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_IN_CONTENT = frozenset({"article", "main", "section", "li"})
_MOST_SHARE = 0.3  # share of the page's text; a larger part is no furniture, whatever its name
_HEADED_SHARE = 0.1  # the same for a part with the page's headline
_LINE_LENGTH = 100  # letters; shorter parts are those of menus
_MAIN_SHARE = 0.3
_MENU_LINKS, _MENU_DENSITY, _MENU_LENGTH = 4, 0.95, 30
_CALL_LENGTH, _FEWEST_CALLS = 25, 3


@dataclass(frozen=True)
class Area:
    """A main area: its root in a tree of its own, the letters of its text and of its links, and its items."""

    root: HtmlElement
    total: int
    linked: int
    items: Items

    @property
    def density(self) -> float:
        """The share of the text that is links."""
        return self.linked / self.total if self.total else 0.0

    @cached_property
    def text(self) -> str:
        """The text of the area."""
        return canonical_text(self.root)


def main_area(elements: Elements, labels: Labels) -> Area:
    """The main area of a page, in a copy of its tree: `main` if that contains a good part of the text, else the body.

    Hidden text belongs to the area, since answers and details open under their headings.
    """
    body, _ = shown_body(elements.copied(), labels)
    weights = weigh(body)
    _clear(body, weights)
    root = _main(body, weights)
    items = count_items(root, weights)
    total, linked = weights[root].total, weights[root].linked
    _drop_menus(root, weights)
    _drop_calls(root)
    _part_words(root)
    return Area(root, total, linked, items)


def _clear(body: HtmlElement, weights: Weights) -> None:
    """Remove furniture, except elements with a good part of the page, alone or with all others of their class."""
    most = _MOST_SHARE * weights[body].total
    most_headed = _HEADED_SHARE * weights[body].total
    headed = {kin for heading in body.iter("main", "h1") for kin in heading.iterancestors()}
    found = [element for element in weights if element is not body and _is_furniture(element, headed)]
    alike: dict[tuple[str, str | None], int] = {}
    for element in found:
        looks = element.tag, element.get("class")
        alike[looks] = alike.get(looks, 0) + weights[element].total
    dropped: list[HtmlElement] = []
    for element in found:
        weight = weights.get(element)
        if weight is None or weight.total >= most:
            continue
        looks = element.tag, element.get("class")
        if looks[1] and alike[looks] >= most and weight.total > _LINE_LENGTH:
            continue
        if element in headed and weight.total > most_headed and element.tag not in {"nav", "aside", "footer"}:
            continue
        forget(element, weights)
        dropped.append(element)
    drop_all(body, dropped)


def _is_furniture(element: HtmlElement, headed: set[HtmlElement]) -> bool:
    tag, attributes = element.tag, element.attrib
    if tag in _TAGS:
        return True
    if tag == "header":
        return element not in headed and _IN_CONTENT.isdisjoint(kin.tag for kin in element.iterancestors())
    if not attributes or tag in {"main", "article"}:
        return False
    if attributes.get("role") in ROLES:
        return True
    named = names(element)
    return bool(named) and _names_furniture(named)


def _has_word(named: str) -> bool:
    return _WORDS.search(_CAMEL.sub("-", named).replace("_", "-").lower()) is not None


_names_furniture = remembered(lambda named: _has_word(named) and _has_word(own_names(named)))


def _main(body: HtmlElement, weights: Weights) -> HtmlElement:
    least = _MAIN_SHARE * weights[body].total
    mains = (e for e in weights if (e.tag == "main" or e.get("role") == "main") and weights[e].total > least)
    return next(mains, body)


def _drop_menus(root: HtmlElement, weights: Weights) -> None:
    """Remove the lists of short links above the headline."""
    if next(root.iter("h1"), None) is None:
        return
    above: list[HtmlElement] = []
    for element in root.iter("h1", "ul", "ol"):
        if element.tag == "h1":
            break
        above.append(element)
    menus: list[HtmlElement] = []
    for element in above:
        weight = weights.get(element)
        links = sum(1 for _ in element.iter("a"))
        if (
            weight is not None
            and links >= _MENU_LINKS
            and weight.linked > _MENU_DENSITY * weight.total
            and weight.total < _MENU_LENGTH * links
        ):
            forget(element, weights)
            menus.append(element)
    drop_all(root, menus)


def _drop_calls(root: HtmlElement) -> None:
    """Remove links with the same words and different targets ("Add to cart"): controls of the items."""
    same: dict[str, list[HtmlElement]] = {}
    for link in root.iter("a"):
        text = fold(raw_text(link)).casefold()
        if 0 < len(text) < _CALL_LENGTH:
            same.setdefault(text, []).append(link)
    calls: set[HtmlElement] = set()
    for links in same.values():
        targets = {link.get("href") for link in links}
        nowhere = all((target or "#").startswith(("#", "javascript:")) for target in targets)
        if len(links) >= _FEWEST_CALLS and (len(targets) >= _FEWEST_CALLS or None in targets or nowhere):
            calls.update(links)
    drop_all(root, [link for link in root.iter("a") if link in calls])


def _part_words(root: HtmlElement) -> None:
    """Put spaces between elements that only a style sheet separates: prices, years, ratings of an item."""
    for element in root.iterdescendants("span", "a", "b", "strong"):
        if not element.tail and element.getnext() is not None:
            element.tail = " "
