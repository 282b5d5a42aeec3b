"""Dates in the lines and elements that readers see, and whether one is the day of a change."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from feedcrawl.domain.extraction.bodies.weights import names

if TYPE_CHECKING:
    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.page import Page

SPELT = re.compile(
    r"\d{4}-\d\d?-\d\d?(?:[T ]\d\d:\d\d(?::\d\d)?(?:[+-]\d\d:?\d\d|Z)?)?"
    r"|\d{1,2}[./]\d{1,2}[./](?:\d{4}|\d{2}(?!\d))(?:,?\s+\d{1,2}:\d\d)?"
    r"|[^\W\d_]{3,}\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4}"
    r"|\d{1,2}(?:st|nd|rd|th)?\.?\s+(?:de\s+)?[^\W\d_]{3,}\.?,?\s+(?:de\s+)?\d{4}"
    r"|\d{1,2}\s\|\s\d{1,2}\s\|\s\d{4}"
    r"|\d{4}\s*[年년]\s*\d{1,2}\s*[月월]\s*\d{1,2}\s*[日일]"
)
_RIGHTS = re.compile(r"©|\(c\)|copyright|all rights reserved", re.IGNORECASE)
UPDATED = re.compile(
    r"updated|modified|reviewed|\brevised|aktualisier|geändert|\bstand:|mis à jour|actualizado|aggiornat|atualizad"
    r"|bijgewerkt|oppdatert|uppdaterad|opdateret|обновлен",
    re.IGNORECASE,
)
_PUBLISHED = re.compile(r"publish|datePublished|pubdate", re.IGNORECASE)
_SLASHED = re.compile(r"\b(\d\d?)/(\d\d?)/")
_MARGIN = 40


def date_in(text: str, page: Page) -> str | None:
    """The first date in a text that is not announced as that of a change.

    One with slashes has the day first, unless the page is in English as of America.
    """
    if _RIGHTS.search(text):
        return None
    end = 0
    for match in SPELT.finditer(text):
        if not UPDATED.search(text, end, match.start()):
            return _unslashed(match[0].replace(" | ", "."), page)
        end = match.end()
    return None


def _unslashed(date: str, page: Page) -> str:
    language = (page.tree.get("lang") or "en").lower().replace("_", "-")
    return date if language in {"en", "en-us"} else _SLASHED.sub(r"\1.\2.", date)


def is_of_change(element: HtmlElement) -> bool:
    """Whether an element has the day of a change, by its names or by the words before it in its line."""
    named = f"{names(element)} {element.get('itemprop') or ''}"
    if UPDATED.search(named):
        return not _PUBLISHED.search(named)
    before, parent = element.getprevious(), element.getparent()
    if before is None:
        said = (parent.text or "") if parent is not None else ""
    else:
        said = before.tail if (before.tail or "").strip() else "".join(map(str, before.itertext()))
    return UPDATED.search((said or "")[-_MARGIN:]) is not None
