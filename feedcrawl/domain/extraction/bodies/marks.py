"""The marks of furniture on elements: tag, role and attributes, and the words in class and id."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from feedcrawl.domain.extraction.bodies.weights import HEADINGS, INLINE, MIN_PARAGRAPH, remembered
from feedcrawl.domain.extraction.labels import is_hidden
from feedcrawl.domain.figures.embeds import EMBEDS
from feedcrawl.domain.text import BLOCKS, SENTENCE_ENDS, fold, raw_text, squeezed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.labels import Label
    from feedcrawl.domain.markup import Elements

Marked = dict["HtmlElement", list[str]]
"""Elements with their marks, in document order."""

_ELEMENTS = {
    "nav": "<nav>", "footer": "<footer>", "aside": "<aside>", "head": "<head>", "dialog": "<dialog>",
    "menu": "<menu>", "form": "<form>",
}  # fmt: skip
ROLES = frozenset({
    "navigation", "complementary", "banner", "contentinfo", "dialog", "search", "alertdialog", "menu", "menubar",
    "listbox", "tooltip", "toolbar", "marquee", "img", "alert", "status",
})  # fmt: skip

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
    "credit", "credits", "cta", "dateline", "donate", "hidden", "hide", "login", "menu", "messenger", "meta", "next",
    "overlay", "paywall", "poll", "print", "quiz", "screenreader", "sidebar", "signin", "signup", "skip", "sr",
    "subscribe", "subscription", "tag", "timestamp", "video", "videos", "visually", "widget",
})  # fmt: skip
_CERTAIN_MARKS = frozenset({"<nav>", "<footer>", "<aside>", "hidden attribute", "player label"}) | {
    f"role {role}" for role in ("complementary", "navigation", "contentinfo", "search", "dialog")
}
_PHRASES = re.compile(
    r"mo(?:st[-_]?read|re[-_]?(?:on|from|stories|news|articles))|read[-_]?(?:more|next|also)|also[-_]?(?:read|like)"
    r"|s(?:ee[-_]?also|ign[-_]?up)|l(?:og[-_]?in|atest[-_]?news)|up[-_]?next|f(?:act[-_]box|ollow[-_]?us)"
    r"|in(?:fo[-_]box|finite[-_]?scroll|stagram[-_]media)|embedded[-_]content|tiktok[-_]embed"
)
"""Parted by first letters: a search compares those, and fewer of the phrases."""
_APART = bytes(code if code > 127 or chr(code).isalnum() else 0x20 for code in range(256))
_NUMBERED = re.compile(r"([A-Za-z]+)\d{0,3}")
_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")

_HIDING = re.compile(r"(?i:hid(?:e|den))(?![a-z])")
_HIDDEN_STATE = re.compile(
    r"_?(?:(?:\w{1,4}|visually|aria|accessib\w+|element|state)[-_]?)??hid(?:e|den)(?:[-_](?=\w*\d)[\da-z]{4,6}(?:_\d+)?)?"
    r"|(?!.*overflow).*(?:--|__)(?:is-)?hid(?:e|den)",
    re.IGNORECASE,
)
"""Names that say that the element is hidden; in "overflow-hidden" and "hide-author" something else is."""
_ABOUT = re.compile(
    r"(?i:(?:(?<!\S)|--|__)(?:has|with|no(?!.?print)|without)[-_]\S+|(?<!\S)\S+[-_](?:enabled?|disabled?|off|false|none)(?!\S))"
    r"|(?<=__)(?=\S*[A-Z\d])[\w-]{5}(?!\S)"
)
"""Names that say what an element has or lacks, and not what it is: "has-sidebar", "sidebar-enabled--false"; and the
hashes of modules of styles: "table_root__adKqa". What is "no-print" is furniture.
"""

_BUILDERS = re.compile(r"elementor-widget|so-panel|hs_cos_wrapper_widget|widget-(?:span|type)|widgetwrapper")
"""Names by which page builders call each of their blocks a widget, texts too."""

_MAX_RUN = 60
_ANCHOR_DASHES = 2
_UNMARKED = INLINE - {"span"}
_LINES = HEADINGS | {"p", "li", "ul", "ol", "blockquote"}
_OF_PLAYERS = frozenset({"video", "videos", "widget", "overlay", "poll", "embedded-content", "social", "tweet"})
_OF_TEASERS = frozenset({"teaser", "teasers"})
_OF_GALLERIES = frozenset({"gallery", "slideshow", "carousel"})


def certain(marks: list[str]) -> list[str]:
    """The marks that mean furniture on almost every page."""
    return [mark for mark in marks if mark in _CERTAIN or mark in _CERTAIN_MARKS]


def may_be_furniture(label: Label) -> bool:
    """False for a label whose elements have no marks of furniture, wherever they are."""
    is_marked = label.tag in _ELEMENTS or label.is_hidden or label.is_player or label.role in ROLES
    return label.tag not in _UNMARKED and (is_marked or bool(words_of(label.names)))


def marks_of(element: HtmlElement, label: Label) -> list[str]:
    """The marks of furniture on an element."""
    tag, marking = label.tag, words_of(label.names)
    found = [_ELEMENTS[tag]] if tag in _ELEMENTS else []
    # Paragraphs for members have the word too, and may be hidden from others; the offer to subscribe is a block.
    for_members = tag in _LINES and "paywall" in marking
    if label.is_hidden and not for_members:
        found.append("hidden attribute")
    if label.role in ROLES:
        found.append(f"role {label.role}")
    if label.is_player:
        found.append("player label")
    if marking and tag not in {"article", "main"}:
        marking = words_of(label.classes) if _is_anchor(element, label.anchor) else marking
        found.extend(word for word in marking if not (word == "paywall" and for_members))
    return found


def marked_elements(elements: Elements, labels: Mapping[HtmlElement, Label]) -> Marked:
    """The labelled elements that have marks, with their marks, in document order."""
    formulas = {box for math in elements.of("math") for box in takewhile(_is_in_line, math.iterancestors())}
    players = {box for player in elements.of(*EMBEDS) for box in takewhile(_is_wordless, player.iterancestors())}
    coloured = {part for code in elements.of("pre") for part in code.iterdescendants()}  # "comment", "tag", "meta"
    found: Marked = {}
    shown: set[HtmlElement] = set()
    for element, label in labels.items():
        marks = marks_of(element, label) if element not in coloured else None
        if not marks or (element in formulas and not is_hidden(element)):
            continue
        if element in players:
            marks = [mark for mark in marks if mark not in _OF_PLAYERS]
        if not _OF_GALLERIES.isdisjoint(marks) and (element in shown or _is_gallery(element)):
            shown.update(element.iterdescendants())
            marks = [mark for mark in marks if mark not in _OF_GALLERIES]
        if not _OF_TEASERS.isdisjoint(marks) and _is_sentence(element):
            marks = [mark for mark in marks if mark not in _OF_TEASERS]
        if marks:
            found[element] = marks
    return found


def _is_sentence(element: HtmlElement) -> bool:
    """True for sentences without a link: a standfirst that is called a teaser. Teasers lead to other articles."""
    if next(element.iter("a"), None) is not None or next(element.iterancestors("a"), None) is not None:
        return False
    text = fold(raw_text(element))
    return len(text) > MIN_PARAGRAPH and text.endswith(SENTENCE_ENDS)


def _is_wordless(element: HtmlElement) -> bool:
    """True if an element has no text except that of a caption: a box around a player."""
    return element.tag != "body" and not any(
        text.strip() for inner in element.iter() if inner.tag != "figcaption" for text in (inner.text or "",)
    )


def _is_gallery(element: HtmlElement) -> bool:
    """True if an element shows pictures and not other articles with their pictures: no link in it has words."""
    links = element.iter("a")
    return next(element.iter("img"), None) is not None and not any(raw_text(link).strip() for link in links)


def _is_in_line(element: HtmlElement) -> bool:
    return element.tag not in BLOCKS


def _is_anchor(element: HtmlElement, anchor: str) -> bool:
    """True if an element's id consists of words of its heading: it names the content, not a part of the page."""
    if element.tag in HEADINGS or not words_of(anchor):
        return element.tag in HEADINGS
    heading = next(element.iter(*HEADINGS), None) if anchor.count("-") >= _ANCHOR_DASHES else None
    return heading is not None and squeezed(raw_text(heading)).startswith(squeezed(anchor))


def _words(named: str) -> tuple[str, ...]:
    """The words for furniture in class and id, phrases first."""
    found = _all_words(named)
    if found and (own := own_names(named)) != named:
        found = _all_words(own)
    if "widget" in found and _BUILDERS.search(named.lower()):
        found = [word for word in found if word != "widget"]
    return tuple(dict.fromkeys(found)) if found else ()


def own_names(named: str) -> str:
    """A class and id without the names that say what an element has or lacks, and without hashes."""
    return _ABOUT.sub(" ", named)


def _all_words(named: str) -> list[str]:
    """The words for furniture in names, phrases first; none in names of utility classes ("md:hidden")."""
    small = named.lower()
    found: list[str] = _PHRASES.findall(small)
    if ":" in named or "[" in named:
        named = " ".join(token for token in named.split() if ":" not in token and "[" not in token)
    if "hid" in small and _HIDING.search(named):
        named = " ".join(t for t in named.split() if _HIDDEN_STATE.fullmatch(t) or not _HIDING.search(t))
    for words in map(_words_in, named.encode().translate(_APART).decode().split()):
        if words:
            found.extend(words)
    return found


def _run_words(run: str) -> tuple[str, ...]:
    """The words for furniture in an unbroken run of letters, with up to three digits after it."""
    match = _NUMBERED.fullmatch(run) if len(run) <= _MAX_RUN else None
    if match is None:
        return ()
    letters = match[1]
    folded = letters.lower()
    stems = [stem for stem in _STEMS if folded.startswith(stem)]
    words = map(str.lower, _CAMEL.findall(letters)) if folded != letters else (letters,)
    return (*stems, *(word for word in words if word in _CERTAIN or word in _LIKELY))


_words_in = remembered(_run_words)
words_of = remembered(_words)
"""The words of furniture in a class and id."""
