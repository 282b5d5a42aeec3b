"""What stands around an article: navigation, teasers, banners, comments, and other furniture of the page.

Furniture is told by element, role, attribute and the words in class and id. A word convicts only where it does not
take the page away: a site may call its whole page "gate-ad" or every paragraph of a story "paywall".
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain, takewhile
from typing import TYPE_CHECKING

from lxml import etree

from feedcrawl.domain.extraction.bodies.leads import squeezed
from feedcrawl.domain.extraction.bodies.weights import HEADINGS, INLINE, Weights, forget, names, weigh
from feedcrawl.domain.images import show_images
from feedcrawl.domain.text import BLOCKS

if TYPE_CHECKING:
    from lxml.html import HtmlElement

Marked = dict["HtmlElement", list[str]]

_NEVER_TEXT = (
    "script", "style", "noscript", "template", "svg", "iframe", "object", "embed", "applet", "canvas", "audio",
    "video", "source", "track", "map", "area", "input", "label", "textarea", "select", "option", "button", "datalist",
    "link", "meta",
)  # fmt: skip
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

_CONSENT = re.compile(
    r"onetrust|cookie[-_]?(?:consent|banner|notice|law|bar|dialog|modal|popup)|cybotcookie|didomi|qc-cmp|usercentrics|truste[-_]"
    r"|(?<![a-z])cmp-?(?:container|box|banner)|consent-?(?:manager|banner|dialog|modal|popup)|osano|iubenda",
    re.IGNORECASE,
)
POSTS = frozenset({"comment", "commentlist", "comments"})
"""What names furniture elsewhere, and the posts of a thread."""

_ANCHOR_DASHES = 2
_LINES = HEADINGS | {"p", "li", "ul", "ol", "blockquote"}

BODY = re.compile(
    r"article[-_]{0,2}(?:body|text|content)|(?:entry|post|story|news)[-_]{0,2}(?:content|body|text)|body[-_]text"
    r"|field[-_]body",
    re.IGNORECASE,
)

CERTAIN_SHARE = 0.8
LIKELY_SHARE = 0.4
_BODY_SHARE = 0.15
_ARTICLE_SHARE = 0.3


def clear_away(tree: HtmlElement, spared: frozenset[str] = frozenset()) -> tuple[HtmlElement, Weights]:
    """The body of a page without its furniture, and its weights; the tree is changed. `spared` words convict nothing.

    First go elements that hold no text, then what certainly is furniture, then what likely is: consent dialogs longer
    than the article would make every other share look small.
    """
    show_images(tree)
    etree.strip_elements(tree, *_NEVER_TEXT, with_tail=False)
    body = tree.find("body")
    if body is None:
        body = tree
    _drop_consent(body)
    marked = {e: left for e, marks in _marked(body).items() if (left := [m for m in marks if m not in spared])}
    weights = weigh(body)
    _convict(body, {e: certain for e, marks in marked.items() if (certain := _certain(marks))}, CERTAIN_SHARE, weights)
    _convict(body, marked, LIKELY_SHARE, weights)
    return body, weights


def _drop_consent(body: HtmlElement) -> None:
    """Take out the dialogs of consent software, however long: no site is called so."""
    for element in list(body.iterdescendants("div", "section", "aside", "form")):
        if element.attrib and _CONSENT.search(names(element)):
            element.drop_tree()


def _marked(body: HtmlElement) -> Marked:
    """The marks against the elements below the body that have any, in document order."""
    formulas = {box for math in body.iter("math") for box in takewhile(_is_in_line, math.iterancestors())}
    candidates = (e for e in body.iterdescendants() if e.tag not in INLINE or e.tag == "span")
    return {e: marks for e in candidates if (marks := _marks(e)) and (e not in formulas or is_hidden(e))}


def _is_in_line(element: HtmlElement) -> bool:
    return element.tag not in BLOCKS


def _convict(body: HtmlElement, marked: Marked, share: float, weights: Weights) -> None:
    total = weights[body].prose or 1
    suspects = _suspects(marked, weights, share * total)
    taken = _taken(suspects, weights)
    kept = _protected(weights, total)
    for element, marks in suspects.items():
        convicted = any(taken[mark] < share * total for mark in marks)
        if convicted and element not in kept and element in weights:
            forget(element, weights)
            element.drop_tree()


def _suspects(marked: Marked, weights: Weights, most: float) -> Marked:
    """The marked elements that are still there; none that holds the better part of the page."""
    found: Marked = {}
    acquitted: set[tuple[str, str | None]] = set()
    for element, marks in marked.items():
        weight = weights.get(element)
        if weight is None:
            continue
        if weight.prose >= most:
            acquitted.add((element.tag, element.get("class")))
        else:
            found[element] = marks
    # What looks like the part that holds the text is the rest of it.
    return {
        e: marks for e, marks in found.items() if e.get("class") is None or (e.tag, e.get("class")) not in acquitted
    }


def _taken(suspects: Marked, weights: Weights) -> dict[str, int]:
    """How much prose each mark would take away: that of the outermost elements that bear it."""
    taken: dict[str, int] = {}
    for element, marks in suspects.items():
        above = {mark for parent in element.iterancestors() for mark in suspects.get(parent, ())}
        for mark in marks:
            taken[mark] = taken.get(mark, 0) + (0 if mark in above else weights[element].prose)
    return taken


def _protected(weights: Weights, total: int) -> set[HtmlElement]:
    """Elements that hold what the page itself calls its main part, unless that is small."""
    kept: set[HtmlElement] = set()
    for element, weight in weights.items():
        if weight.prose >= _BODY_SHARE * total and _is_named_body(element, weight.prose / total):
            for kin in (element, *element.iterancestors()):
                if kin in kept:
                    break
                kept.add(kin)
    return kept


def _is_named_body(element: HtmlElement, share: float) -> bool:
    if element.tag == "article":
        return share >= _ARTICLE_SHARE
    return element.tag == "main" or element.get("itemprop") == "articleBody" or bool(BODY.search(names(element)))


def _certain(marks: list[str]) -> list[str]:
    return [mark for mark in marks if mark in _CERTAIN or mark in _CERTAIN_MARKS]


def _marks(element: HtmlElement) -> list[str]:
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
