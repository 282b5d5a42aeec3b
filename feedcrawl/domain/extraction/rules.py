"""The operator's rung: the selectors in a source's settings."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from cssselect import SelectorError
from lxml import etree
from lxml.cssselect import CSSSelector, LxmlHTMLTranslator
from lxml.html import Element, HtmlElement

from feedcrawl.domain.markup import drop_all
from feedcrawl.domain.text import fold, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cssselect.xpath import XPathExpr

_XPATH = ("/", "./")


class _Translator(LxmlHTMLTranslator):  # type: ignore[misc]  # the stubs lack it
    def xpath_descendant_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        """All descendants in one step: cssselect's two steps cost libxml2 the square of their number."""
        return left.join("/descendant::", right)


_IN_XPATH = _Translator()


def select(tree: HtmlElement, selectors: Iterable[str]) -> list[object]:
    """The findings of the first selector that finds anything: elements, or strings of an XPath.

    A selector that begins with `/` or `./` is XPath, any other is CSS. An invalid selector finds nothing.
    """
    for selector in selectors:
        if found := _matches(tree, selector):
            return found
    return []


def select_text(tree: HtmlElement, selectors: Iterable[str]) -> tuple[str, ...]:
    """The texts that the selectors find; for a time or meta element its machine-readable value."""
    return tuple(text for found in select(tree, selectors) if (text := _text(found)))


def select_body(tree: HtmlElement, body: Iterable[str], remove: Iterable[str]) -> HtmlElement | None:
    """Copies of the elements that the selectors name as the article, in a div, without the elements to remove."""
    tree = deepcopy(tree)
    for selector in remove:
        drop_all(tree, [found for found in _matches(tree, selector) if isinstance(found, HtmlElement)], apart=False)
    parts = {part: None for part in select(tree, body) if isinstance(part, HtmlElement)}
    outermost = [part for part in parts if parts.keys().isdisjoint(part.iterancestors())]
    if not outermost:
        return None
    whole = Element("div")
    whole.extend(outermost)
    return whole


def fault(selector: str) -> str | None:
    """The fault of an invalid selector, or of one with a function or namespace that no page has; None for others."""
    try:
        Element("html").xpath(_path(selector))
    except (SelectorError, etree.XPathError, ValueError) as error:
        kind = "XPath" if selector.startswith(_XPATH) else "CSS (XPath begins with / or ./)"
        return f"{selector!r} is no {kind}: {error}"
    return None


def _path(selector: str) -> str:
    return selector if selector.startswith(_XPATH) else CSSSelector(selector, translator=_IN_XPATH).path


def _matches(tree: HtmlElement, selector: str) -> list[object]:
    try:
        found = tree.xpath(_path(selector))
    except (SelectorError, etree.XPathError, ValueError):
        return []
    return found if isinstance(found, list) else [found]


def _text(found: object) -> str:
    if isinstance(found, HtmlElement):
        return fold(found.get("datetime") or found.get("content") or text_of(found))
    return fold(str(found))
