"""An element of a feed with its children by name, its base URL and its language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

from lxml import etree

from feedcrawl.domain.feeds.formats.inner import attributes_of, inner_html
from feedcrawl.domain.feeds.formats.names import element_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml.etree import _Element

MAX_REFERENCE: Final = 8_000  # characters; more than any URL may have
_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_GROUPS = frozenset({"media:group", "media:content"})  # their children describe the entry too


class Node:
    """One element, read-only. `base` and `lang` are those that apply inside it (XML Base, XML 1.0 section 2.12).

    `has_base`: True if the base is the document's own (`xml:base`), not the URL that the document was fetched from.
    """

    __slots__ = ("_children", "base", "element", "has_base", "lang", "name")

    def __init__(self, element: _Element, base: str, lang: str | None = None, *, has_base: bool = False) -> None:
        self.element = element
        self.name = element_name(element)
        self.base = join(base, element.get(_BASE))
        self.has_base = has_base or bool((element.get(_BASE) or "").strip())
        self.lang = element.get(_LANG, lang)
        self._children: dict[str, list[_Element]] = {}
        if len(element):
            self._file(element.iterchildren(etree.Element))
            groups = [group for name in _GROUPS for group in self._children.get(name, ())]
            for group in groups:
                self._file(group.iterdescendants(etree.Element))

    def _file(self, elements: Iterable[_Element]) -> None:
        for element in elements:
            self._children.setdefault(element_name(element), []).append(element)

    def all(self, *names: str) -> Iterator[Node]:
        """The children of these names: all of the first name, then all of the second, …"""
        for name in names:
            for element in self._children.get(name, ()):
                yield Node(element, self.base, self.lang, has_base=self.has_base)

    def in_order(self, *names: str) -> Iterator[Node]:
        """The children of these names in document order."""
        present = [name for name in names if name in self._children]
        if len(present) == 1:
            yield from self.all(*present)
        elif present:
            for child in self.element.iterchildren(etree.Element):
                if element_name(child) in present:
                    yield Node(child, self.base, self.lang, has_base=self.has_base)

    def first(self, *names: str) -> Node | None:
        """The first child of `all`; None if there is none."""
        return next(self.all(*names), None)

    def has(self, *names: str) -> bool:
        """True if there is a child of one of these names."""
        return any(name in self._children for name in names)

    def attribute(self, *names: str) -> str | None:
        """The first non-empty attribute of these names, in any case and namespace; None if there is none."""
        for name in names:
            if value := self.element.get(name):
                return str(value).strip()
        for key, value in attributes_of(self.element):
            if value and str(key).rpartition("}")[2].lower() in names:
                return value.strip()
        return None

    def text(self) -> str:
        """The element's text, trimmed; unescaped markup inside it counts as text, as if it had been escaped."""
        return inner_html(self.element) if len(self.element) else (self.element.text or "").strip()

    def plain(self) -> str:
        """The element's text without the markup inside it, trimmed."""
        return "".join(map(str, self.element.itertext())).strip()

    def value(self, *names: str) -> str | None:
        """The text of the first child of these names whose text is not empty; None if there is none."""
        return next((text for child in self.all(*names) if (text := child.text())), None)


def join(base: str, reference: str | None) -> str:
    """The reference resolved against `base` (RFC 3986); `base` if the reference is empty, too long or invalid."""
    if not reference or not reference.strip() or len(reference) > MAX_REFERENCE:
        return base
    try:
        return urljoin(base, reference.strip())
    except ValueError:
        return base
