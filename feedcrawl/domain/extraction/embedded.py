"""The article that a page carries for its own scripts: HTML in a JSON string, which the scripts insert later."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml.html import HtmlElement

MIN_LENGTH = 400
MAX_LENGTH = 1 << 20
_STRING = re.compile(r'"((?:[^"\\]|\\.)*+)"')
_PARAGRAPH = re.compile(r"<p[\s>]|\\u003c[pP]\b")


def embedded_html(scripts: Iterable[HtmlElement]) -> str | None:
    """The JSON string in a page's scripts with the most paragraphs of HTML; None if no string has a paragraph."""
    found = (text for script in scripts for text in _strings(script.text or "") if "</p>" in text)
    return max(found, key=lambda text: (text.count("</p>"), len(text)), default=None)


def _strings(script: str) -> Iterator[str]:
    if not MIN_LENGTH <= len(script) <= MAX_LENGTH or not _PARAGRAPH.search(script):
        return
    for match in _STRING.finditer(script):
        if match.end() - match.start() >= MIN_LENGTH and _PARAGRAPH.search(match[1]):
            try:
                yield str(json.loads(match[0], strict=False))
            except ValueError:
                continue
