"""Places of templates that no script has filled in: `{{ article.title }}`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from feedcrawl.domain.markup import Elements

_PLACEHOLDER = re.compile(r"\{\{[^{}]*\}\}|\$\{[^{}]*\}|<%[^%]*%>|\[\[[^\[\]]*\]\]")
_IN_TEXT = re.compile(r"\{\{[^{}]*\}\}")
_CODE = ("script", "style", "template", "pre", "code", "textarea")


def is_placeholder(text: str) -> bool:
    """True if a text is a placeholder and nothing else."""
    return _PLACEHOLDER.fullmatch(text) is not None


def clear_placeholders(elements: Elements) -> None:
    """Empty the texts of a page that consist of placeholders for the better part; code is unchanged."""
    code = {inner for element in elements.of(*_CODE) for inner in element.iter()}
    for element in elements.all:
        if element.text and element not in code and _is_unfilled(element.text):
            element.text = None
        parent = element.getparent()
        if element.tail and parent is not None and parent not in code and _is_unfilled(element.tail):
            element.tail = " "


def _is_unfilled(text: str) -> bool:
    if "{{" not in text:
        return False
    rest = _IN_TEXT.sub("", text)
    return 2 * len(rest.strip()) < len(text.strip())
