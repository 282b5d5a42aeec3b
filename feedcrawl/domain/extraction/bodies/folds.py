"""Text that opens under its heading: answers of an FAQ, sections of a manual, panels that a button shows."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from feedcrawl.domain.text import fold, raw_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lxml.html import HtmlElement

_HIDING = re.compile(r"(?:^|(?<=\s))(?:is-)?(?:hidden|hide|collapsed?)(?=\s|$)", re.IGNORECASE)
_MOST_LEVELS = 4  # from a control to the box whose sibling is its panel
_LEAST_TEXT = 40
_MOST_HEADING = 250
_MOST_LINKED = 0.5
_ABOUT_SHOWING = ("hidden", "aria-hidden", "style")


def open_folds(controls: Iterable[HtmlElement]) -> set[HtmlElement]:
    """Show the text that opens under its heading, also the heading if it is a button or a link; changes the tree.

    `controls` are the elements that state whether a panel is open. Returned are the changed elements.

    The control of a panel states whether it is open (`aria-expanded`, WAI-ARIA 1.2). The panel follows the control,
    alone or after the box that contains only the control, and is a text: menus are lists of links.
    """
    changed: set[HtmlElement] = set()
    for control in controls:
        heading = _text(control)
        panel = _panel(control, heading) if 0 < len(heading) <= _MOST_HEADING else None
        if panel is None or not _is_text(panel) or not _opens(control, panel):
            continue
        if control.tag == "button":
            control.tag = "div"
        elif control.tag == "a" and (control.get("href") or "#").startswith(("#", "javascript:")):
            control.tag = "span"  # it leads nowhere: a heading, where furniture is made of links
        for element in (panel, *islice(panel, 1)):
            _show(element)
            changed.add(element)
        changed.add(control)
    return changed


def _opens(control: HtmlElement, panel: HtmlElement) -> bool:
    """True if the control states whether a panel is open, or names this panel."""
    return "aria-expanded" in control.attrib or control.get("aria-controls") == panel.get("id")


def _panel(control: HtmlElement, heading: str) -> HtmlElement | None:
    """The element after a control, or after the box around the control that has no other text."""
    box = control
    for _ in range(_MOST_LEVELS):
        panel = next((kin for kin in box.itersiblings() if isinstance(kin.tag, str) and _text(kin)), None)
        if panel is not None or (box.tail or "").strip():
            return panel
        box = box.getparent()
        if box is None or box.tag == "body" or _text(box) != heading:
            return None
    return None


def _is_text(panel: HtmlElement) -> bool:
    length = len(_text(panel))
    linked = sum(len(_text(link)) for link in panel.iter("a"))
    return length >= _LEAST_TEXT and linked <= _MOST_LINKED * length


def _show(element: HtmlElement) -> None:
    for name in _ABOUT_SHOWING:
        element.attrib.pop(name, None)
    if (named := element.get("class")) and _HIDING.search(named):
        element.set("class", _HIDING.sub("", named))


def _text(element: HtmlElement) -> str:
    return fold(raw_text(element))
