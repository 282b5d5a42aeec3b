"""Lists of links that belong to a text: its author announces them by a line with a colon or by a heading."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from feedcrawl.domain.extraction.bodies.weights import HEADINGS, INLINE
from feedcrawl.domain.text import fold, raw_text

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_COLONS = (":", "\uff1a")
_MOST_LEVELS = 3
_MAX_LEAD_LENGTH = 400
# Lines that announce other articles, the site's sections, or buttons, and not the subjects of the text.
_ELSEWHERE_WORDS = (
    r"\b(?:relat|recommend|popular|trending|recent|categor|follow(?!ing\b)|subscri|sponsor|navigation|contact)",
    r"^more\b|\bmore (?:from|on|in|about|to|like|stories|news|articles|posts)|\b(?:read|see|up) (?:more|also|next)\b",
    r"\balso (?:read|see|like|on|in)\b|\byou (?:may|might|can) |\bmost (?:read|viewed)|\b(?:filed under|posted in)",
    r"\b(?:latest|tags?|share|newsletter|previous|next|archives?|comments?|menu|contents?|topics?|quick links)\b",
    r"^about\b|\b(?:similar|stories|articles?|posts|news|audios?|videos?|jump to)\b",
    r"\bin this (?:story|post|section|issue)\b",
    r"\b(?:mehr|lesen|artikel|teilen|themen?|zum thema)\b|\b(?:weiter|verwandt|ähnlich|neueste|beliebt|schlagw)",
    r"\b(?:inhalt|aktuell|auch interess|empfehl|empfiehl)",
    r"\b(?:lire|voir aussi|sur le même|à découvrir|sommaire|partage)",
    r"\b(?:m[áa]s|lea|leer|te puede)\b|\b(?:también|noticias|compart|etiquet)",
    r"\b(?:leggi|altri|potrebbe|leia|veja|mais|lees|meer|läs|les også)\b|\b(?:correlat|condivid|gerelateerd)",
    r"другие|читайте|похож|по теме|новост|теги",
    r"関連|おすすめ|人気|記事|最新|相关|推荐|热门|相關|推薦|標籤|标签|관련|추천|인기|태그",
)
_ELSEWHERE = re.compile("|".join(_ELSEWHERE_WORDS), re.IGNORECASE)


def is_introduced(links: HtmlElement) -> bool:
    """True for a list or table of links after a line that ends with a colon, or right after a heading.

    False after a line that announces related articles, tags or other parts of the site, and for a table of contents,
    whose links stay within the page.
    """
    lead = _line_before(links)
    if lead is None or _stays_on_page(links):
        return False
    text = fold(raw_text(lead))
    return 0 < len(text) <= _MAX_LEAD_LENGTH and _announces(lead, text, links) and not _ELSEWHERE.search(text[-120:])


def _announces(lead: HtmlElement, text: str, links: HtmlElement) -> bool:
    """True for a line with a colon, and for a heading of links that are no particulars of a thing or of a member."""
    if text.endswith(_COLONS) or links.tag == "dl":
        return text.endswith(_COLONS)
    return next(lead.iter("a"), None) is None if lead.tag in HEADINGS else _opens_section(lead)


def _opens_section(lead: HtmlElement) -> bool:
    """True for the only plain paragraph between a heading of the text and a list."""
    heading = lead.getprevious()
    return (
        lead.tag == "p"
        and heading is not None
        and heading.tag in HEADINGS
        and next(heading.iter("a"), None) is None
        and not _ELSEWHERE.search(fold(raw_text(heading)))
    )


def _line_before(links: HtmlElement) -> HtmlElement | None:
    """The nearest block before an element; a wrapper that contains only the element is skipped."""
    element = links
    for _ in range(_MOST_LEVELS):
        before = element.getprevious()
        while before is not None and not fold(raw_text(before)):
            before = before.getprevious()
        if before is not None:
            return _last_line(before) if before.tag not in INLINE and not (before.tail or "").strip() else None
        parent = element.getparent()
        if parent is None or (parent.text or "").strip() or parent.tag in {"td", "li"}:
            return None
        element = parent
    return None


def _last_line(element: HtmlElement) -> HtmlElement:
    """The last block in an element, since a heading may be in a box of its own."""
    while len(element) and element[-1].tag not in INLINE and not (element[-1].tail or "").strip():
        element = element[-1]
    return element


def _stays_on_page(links: HtmlElement) -> bool:
    targets = [link.get("href") or "" for link in links.iter("a")]
    return bool(targets) and sum(target.startswith("#") for target in targets) > len(targets) / 2
