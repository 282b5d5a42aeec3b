"""Places of templates that no script has filled in: `{{ article.title }}`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.html import HtmlElement

    from feedcrawl.domain.markup import Elements

_PLACEHOLDER = re.compile(r"\{\{[^{}]*\}\}|\$\{[^{}]*\}|<%[^%]*%>|\[\[[^\[\]]*\]\]")
_IN_TEXT = re.compile(r"\{\{[^{}]*\}\}")
_CODE = ("script", "style", "template", "pre", "code", "textarea")


def is_placeholder(text: str) -> bool:
    """True if a text is a placeholder and nothing else."""
    return _PLACEHOLDER.fullmatch(text) is not None


def clear_placeholders(elements: Elements) -> None:
    """Empty the texts of a page that consist of placeholders for the better part; code is unchanged."""
    code: set[HtmlElement] | None = None
    for element in elements.all:
        for place in ("text", "tail"):
            if "{{" not in (text := getattr(element, place) or ""):
                continue
            if code is None:
                code = {inner for whole in elements.of(*_CODE) for inner in whole.iter()}
            holder = element if place == "text" else element.getparent()
            if holder is not None and holder not in code and _is_unfilled(text):
                setattr(element, place, " ")


def _is_unfilled(text: str) -> bool:
    rest = _IN_TEXT.sub("", text)
    return 2 * len(rest.strip()) < len(text.strip())
