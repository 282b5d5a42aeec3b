"""Formulas: keeps one form of each, presentation MathML (https://www.w3.org/TR/mathml-core/).

Renderers write a formula in up to three forms: MathML, a visible drawing (boxes or an image), and TeX for copying.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.domain.markup import MATH_TAGS

if TYPE_CHECKING:
    from lxml.html import HtmlElement

    from feedcrawl.domain.markup import Elements

MATH_ATTRIBUTES = {
    "math": {"display"},
    "mi": {"mathvariant"},
    "mo": {"form", "fence", "separator", "stretchy", "movablelimits", "accent"},
    "mfrac": {"linethickness"},
    "mspace": {"width"},
    "mtd": {"columnspan", "rowspan"},
    "munder": {"accentunder"},
    "mover": {"accent"},
    "munderover": {"accent", "accentunder"},
}
_FOR_PROGRAMS = frozenset({"annotation", "annotation-xml"})
_TOKENS = ("mi", "mn", "mo", "ms", "mtext")
_PREVIEW = "MathJax_Preview"
_BOXES = frozenset({"katex", "MathJax", "MathJax_Display", "MathJax_CHTML", "MathJax_SVG", "mwe-math-element"})
_MOST_LEVELS = 5


def settle_formulas(elements: Elements) -> None:
    """Keep only the presentation MathML of each formula of a tree; a formula without MathML stays unchanged.

    A `math` element that contains other elements, or no identifiers, numbers and operators, is no formula: it is
    replaced by its text.
    """
    formulas = elements.of("math")
    for math in formulas:
        _leave_presentation(math)
        box = _box(math)
        if box is not None:
            _replace_drawing(box, math)
        if not _is_formula(math):
            for inner in list(math.iter()):
                if inner.getparent() is not None and inner.tag in MATH_TAGS:
                    inner.drop_tag()
    if formulas:
        elements.read()


def _is_formula(math: HtmlElement) -> bool:
    has_text = any((token.text or "").strip() for token in math.iter(*_TOKENS))
    return has_text and all(inner.tag in MATH_TAGS and (inner is math or inner.tag != "math") for inner in math.iter())


def _leave_presentation(math: HtmlElement) -> None:
    for inner in list(math.iter(*_FOR_PROGRAMS)):
        if inner.getparent() is not None:
            inner.drop_tree()
    for inner in list(math.iter("semantics")):
        inner.drop_tag()


def _box(math: HtmlElement) -> HtmlElement | None:
    """The outermost element that a renderer made for a formula; None if MathML stands in the text itself."""
    found = None
    for level, kin in enumerate(math.iterancestors()):
        if level >= _MOST_LEVELS:
            break
        if kin.tag == "mjx-container" or not _BOXES.isdisjoint((kin.get("class") or "").split()):
            found = kin
    return found


def _replace_drawing(box: HtmlElement, math: HtmlElement) -> None:
    """Put a formula in the place of the box that draws it, and remove the preview beside the box."""
    before = box.getprevious()
    if before is not None and not (before.tail or "").strip() and _PREVIEW in (before.get("class") or "").split():
        before.drop_tree()
    math.tail, box.tail = box.tail, None
    box.getparent().replace(box, math)
