"""What speaks for an element being furniture: its tag, role and attributes, and the words in its class and id."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from feedcrawl.domain.extraction.bodies.leads import squeezed
from feedcrawl.domain.extraction.bodies.weights import HEADINGS, names

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_ELEMENTS = {
    "nav": "<nav>", "footer": "<footer>", "aside": "<aside>", "head": "<head>", "dialog": "<dialog>",
    "menu": "<menu>", "form": "<form>",
}  # fmt: skip
_ROLES = frozenset({"navigation", "complementary", "banner", "contentinfo", "dialog", "search"})
_HIDDEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)

# Certain words name furniture on almost every page that uses them; likely ones often name layout or the article itself.
_CERTAIN = frozenset({
    "ad", "ads", "adv", "advert", "advertisement", "advertising", "breadcrumb", "breadcrumbs", "byline", "carousel",
    "comment", "commentlist", "comments", "consent", "cookie", "cookies", "disqus", "factbox", "footer", "gallery",
    "gdpr", "infobox", "lightbox", "masthead", "modal", "nav", "navbar", "navigation", "newsletter", "newsletters",
    "noprint", "onetrust", "outbrain", "pager", "pagination", "popular", "popup", "promo", "promotion", "rating",
    "readmore", "recirc", "recirculation", "recommend", "recommendation", "recommendations", "recommended", "related",
    "share", "sharebar", "sharing", "slideshow", "social", "sponsor", "sponsored", "taboola", "taglist", "tags",
    "teaser", "teasers", "toolbar", "tooltip", "trending", "tweet",
})  # fmt: skip
_STEMS = ("related", "newsletter", "breadcrumb", "recommendation")  # other words are glued to them
_LIKELY = frozenset({
    "author", "authorprofile", "authors", "banner", "bio", "biography", "button", "buttons", "caption", "copyright",
    "credit", "credits", "cta", "dateline", "donate", "hidden", "hide", "login", "menu", "meta", "next", "overlay",
    "paywall", "poll", "print", "quiz", "screenreader", "sidebar", "signin", "signup", "skip", "sr", "subscribe",
    "subscription", "tag", "timestamp", "video", "videos", "visually", "widget",
})  # fmt: skip
_CERTAIN_MARKS = frozenset({"<nav>", "<footer>", "<aside>", "hidden attribute"}) | {
    f"role {role}" for role in ("complementary", "navigation", "contentinfo", "search", "dialog")
}
_PHRASES = re.compile(
    r"fact[-_]box|info[-_]box|most[-_]?read|read[-_]?(?:more|next|also)|more[-_]?(?:on|from|stories|news|articles)"
    r"|also[-_]?(?:read|like)|see[-_]?also|sign[-_]?up|log[-_]?in|up[-_]?next|latest[-_]?news|follow[-_]?us"
    r"|infinite[-_]?scroll|embedded[-_]content|instagram[-_]media|tiktok[-_]embed"
)
_SEGMENT = re.compile(r"(?<![A-Za-z0-9])([A-Za-z]+)\d{0,3}(?![A-Za-z0-9])")
_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")

_ANCHOR_DASHES = 2
_LINES = HEADINGS | {"p", "li", "ul", "ol", "blockquote"}


def certain(marks: list[str]) -> list[str]:
    """The marks that convict on almost every page."""
    return [mark for mark in marks if mark in _CERTAIN or mark in _CERTAIN_MARKS]


def marks_of(element: HtmlElement) -> list[str]:
    """What speaks for an element being furniture."""
    tag = element.tag
    found = [_ELEMENTS[tag]] if tag in _ELEMENTS else []
    attributes = element.attrib
    if not attributes:
        return found
    said = _words(names(element))
    # Members' paragraphs bear the word too, and may be hidden from others; the offer to subscribe is a block.
    for_members = tag in _LINES and "paywall" in said
    if is_hidden(element) and not for_members:
        found.append("hidden attribute")
    if attributes.get("role") in _ROLES:
        found.append(f"role {attributes['role']}")
    if said and tag not in {"article", "main"}:
        said = _words(attributes.get("class", "")) if _is_anchor(element) else said
        found.extend(word for word in said if not (word == "paywall" and for_members))
    return found


def _is_anchor(element: HtmlElement) -> bool:
    """Whether an element's id is made of the words of its heading: it tells of the text, not of the page's parts."""
    anchor = element.get("id", "")
    if element.tag in HEADINGS or not _words(anchor):
        return element.tag in HEADINGS
    heading = next(element.iter(*HEADINGS), None) if anchor.count("-") >= _ANCHOR_DASHES else None
    return heading is not None and squeezed("".join(map(str, heading.itertext()))).startswith(squeezed(anchor))


def is_hidden(element: HtmlElement) -> bool:
    """Whether an element says that it is not shown."""
    attributes = element.attrib
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or ("style" in attributes and _HIDDEN.search(attributes["style"]) is not None)
    )


def _words(name: str) -> tuple[str, ...]:
    """The words of furniture in a class and id."""
    if " " not in name:
        return _token_words(name) if name else ()
    return tuple(dict.fromkeys(chain.from_iterable(map(_token_words, name.split()))))


@lru_cache(maxsize=16_384)
def _token_words(token: str) -> tuple[str, ...]:
    """The words of furniture in one name. Those of utility classes ("md:hidden") say how, not what."""
    found = _PHRASES.findall(token.lower())
    if ":" not in token and "[" not in token:
        for segment in _SEGMENT.findall(token.replace("_", "-")):
            folded = segment.lower()
            if folded.startswith(_STEMS):
                found.extend(stem for stem in _STEMS if folded.startswith(stem))
            parts = map(str.lower, _CAMEL.findall(segment))
            found.extend(word for word in parts if word in _CERTAIN or word in _LIKELY)
    return tuple(dict.fromkeys(found))
