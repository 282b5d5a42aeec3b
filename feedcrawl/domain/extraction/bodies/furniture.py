"""The furniture around an article: navigation, teasers, banners, comments.

Furniture is recognised by element, role, attribute and the words in class and id. A word counts only if it would not
remove the whole page: a site may call its page "gate-ad" or every paragraph of a story "paywall".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lxml import etree

from feedcrawl.domain.extraction.bodies.folds import open_folds
from feedcrawl.domain.extraction.bodies.marks import certain, marked_elements, may_be_furniture
from feedcrawl.domain.extraction.bodies.weights import Weights, forget, in_names, names, weigh
from feedcrawl.domain.extraction.labels import label_of
from feedcrawl.domain.figures.embeds import EMBEDS, embed_of
from feedcrawl.domain.markup import drop_all
from feedcrawl.domain.text import fold

if TYPE_CHECKING:
    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.bodies.marks import Marked
    from feedcrawl.domain.extraction.labels import Label, Labels
    from feedcrawl.domain.markup import Elements

Dropped = list[tuple[str, str]]
"""What was dropped as furniture: the rule, and the text."""
_Parts = dict[tuple["HtmlElement", str, str], bool]
"""Whether parts of an article's body are unmarked, by parent, tag and class."""

_UNSHOWN = ("script", "style", "noscript", "template", "link", "meta")
_NEVER_TEXT = (
    "svg", "object", "embed", "applet", "canvas", "track", "map", "area", "input", "label", "textarea", "select",
    "option", "button", "datalist",
)  # fmt: skip
_CONSENT = re.compile(
    r"onetrust|cookie[-_]?(?:consent|banner|notice|law|bar|dialog|modal|popup)|cybotcookie|didomi|qc-cmp|usercentrics|truste[-_]"
    r"|c(?<![a-z]c)mp(?:-?box|wrapper)|consent-?(?:manager|banner|dialog|modal|popup)|osano|iubenda"
)
"""For names in lower case; `c(?<![a-z]c)mp` is `(?<![a-z])cmp` after its letter."""
_BOXES = frozenset({"div", "section", "aside", "form"})
POSTS = frozenset({"comment", "commentlist", "comments"})
"""What names furniture elsewhere, and the posts of a thread."""

BODY = re.compile(
    r"article[-_]{0,2}(?:body|text|content)|(?:entry|post|story|news)[-_]{0,2}(?:content|body|text)|body[-_]text"
    r"|field[-_]body",
    re.IGNORECASE,
)

_NO_MARKS: set[str] = set()
is_body = in_names(BODY, "body", "content", "text")
_COMMENTS = POSTS | {"disqus"}
LEAST_STORY = 500  # letters of prose beside the comments, however long these are
CERTAIN_SHARE = 0.8
LIKELY_SHARE = 0.4
_BODY_SHARE = 0.15
_ARTICLE_SHARE = 0.3
_STORY_SHARE = 0.9


def clear_away(
    elements: Elements, labels: Labels, spared: frozenset[str] = frozenset(), dropped: Dropped | None = None
) -> tuple[HtmlElement, Weights]:
    """The body of a page without its furniture, and its weights; changes the tree. `spared` words mark no furniture.

    `labels` are those of the elements. Each removed part is appended to `dropped` with its marks. Elements
    without text are removed first, then comments, which may have more text than the article, then certain furniture,
    then likely furniture: consent dialogs longer than the article would make every other share look small.
    """
    suspects = [(elements.all[at], label) for at, label in labels.find(may_be_furniture)]
    body, opened = shown_body(elements, labels, dropped)
    weights = weigh(body)
    shown = {e: label_of(e) if e in opened else label for e, label in suspects if e in weights and e is not body}
    marked = marked_elements(elements, shown)
    if spared:
        marked = {e: left for e, marks in marked.items() if (left := [m for m in marks if m not in spared])}
    if comments := {
        e: found for e, marks in marked.items() if (found := [mark for mark in marks if mark in _COMMENTS])
    }:
        _convict(body, comments, 1 - LEAST_STORY / (weights[body].prose or LEAST_STORY), weights, dropped)
    _convict(
        body, {e: found for e, marks in marked.items() if (found := certain(marks))}, CERTAIN_SHARE, weights, dropped
    )
    _convict(body, marked, LIKELY_SHARE, weights, dropped)
    return body, weights


def shown_body(
    elements: Elements, labels: Labels, dropped: Dropped | None = None
) -> tuple[HtmlElement, set[HtmlElement]]:
    """The body of a page without elements that have no text and without consent dialogs, and the elements in the body
    whose attributes were changed to show them; changes the tree.
    """
    drop_all(elements.tree, [kind for kind in elements.of(*EMBEDS) if embed_of(kind) is None])
    etree.strip_elements(elements.tree, *_UNSHOWN, with_tail=False)
    controls = sorted({*labels.having("aria-expanded"), *labels.having("aria-controls")})
    opened = open_folds(elements.all[at] for at in controls)
    # A button may have become a heading.
    drop_all(elements.tree, [element for element in elements.of(*_NEVER_TEXT) if element.tag in _NEVER_TEXT])
    body = elements.tree.find("body")
    if body is None:
        body = elements.tree
    dialogs = [box for at in consent_dialogs(elements, labels) if body in (box := elements.all[at]).iterancestors()]
    for dialog in dialogs:
        note(dropped, "consent software", dialog)
    drop_all(body, dialogs)
    return body, opened


def consent_dialogs(elements: Elements, labels: Labels) -> list[int]:
    """The indexes of the dialogs of consent software, however long, in the tree and its copies; a page that such
    software has marked as a whole is none.
    """
    headlines = elements.of("h1")
    named = ((at, elements.all[at]) for at, _ in labels.find(_may_be_consent, _CONSENT))
    return [at for at, element in named if element.tag in _BOXES and not _is_page(element, headlines)]


def _is_page(element: HtmlElement, headlines: list[HtmlElement]) -> bool:
    """True if an element contains the main part or an article of a page, or all of its headlines."""
    if next(element.iter("main", "article"), None) is not None:
        return True
    return bool(headlines) and all(element in headline.iterancestors() for headline in headlines)


def _may_be_consent(label: Label) -> bool:
    return (label.tag in _BOXES or label.tag == "button") and _CONSENT.search(label.names.lower()) is not None


def note(dropped: Dropped | None, rule: str, element: HtmlElement) -> None:
    """Append an element that is about to be removed to the list, unless it has no text."""
    if dropped is not None and (text := fold(" ".join(map(str, element.itertext())))):
        dropped.append((rule, text))


def _convict(body: HtmlElement, marked: Marked, share: float, weights: Weights, dropped: Dropped | None) -> None:
    total = weights[body].prose or 1
    suspects = _suspects(marked, weights, share * total)
    taken = _taken(suspects, weights)
    kept = _protected(weights, total)
    parts: _Parts = {}
    convicts: list[HtmlElement] = []
    for element, marks in suspects.items():
        convicting = [mark for mark in marks if taken[mark] < share * total]
        if not convicting or element in kept or element not in weights:
            continue
        if "hidden attribute" in marks or not _is_among_body(element, marked, weights, parts):
            note(dropped, ", ".join(convicting), element)
            forget(element, weights)
            convicts.append(element)
    drop_all(body, convicts)


def _is_among_body(element: HtmlElement, marked: Marked, weights: Weights, parts: _Parts) -> bool:
    """True if the class of an element names the body of an article, as that of unmarked prose beside does:
    `id="video-text-0"` only says where the part stands. `parts` keeps the answers by parent, tag and class.
    """
    named = element.get("class")
    if named is None or not is_body(named):
        return False
    parent = element.getparent()
    alike = (parent, element.tag, named)
    if alike not in parts:
        twins = (kin for kin in parent if kin.get("class") == named and kin.tag == element.tag)
        parts[alike] = any(kin not in marked and kin in weights and weights[kin].prose for kin in twins)
    return parts[alike]


def _suspects(marked: Marked, weights: Weights, most: float) -> Marked:
    """The marked elements that are still in the tree, without those that contain the better part of the page."""
    found: Marked = {}
    acquitted: set[tuple[str, str | None]] = set()
    for element, marks in marked.items():
        weight = weights.get(element)
        if weight is None:
            continue
        if weight.prose >= most or (_COMMENTS.isdisjoint(marks) and _is_story(element, weight.prose, weights)):
            acquitted.add((element.tag, element.get("class")))
        else:
            found[element] = marks
    if not acquitted:
        return found
    # An element that looks like the part with the text is the rest of that part.
    return {
        e: marks for e, marks in found.items() if e.get("class") is None or (e.tag, e.get("class")) not in acquitted
    }


def _is_story(element: HtmlElement, prose: int, weights: Weights) -> bool:
    """True if an element has nearly all of the article element around it."""
    if prose < LEAST_STORY:
        return False
    box = next((kin for kin in element.iterancestors("article") if kin in weights), None)
    return box is not None and prose >= _STORY_SHARE * weights[box].prose


def _taken(suspects: Marked, weights: Weights) -> dict[str, int]:
    """The prose that each mark would remove: that of the outermost elements with the mark."""
    taken: dict[str, int] = {}
    borne: dict[HtmlElement, set[str]] = {}
    for element, marks in suspects.items():  # in document order: those above come before
        if not weights[element].total:
            for mark in marks:
                taken.setdefault(mark, 0)
            continue
        above = next((borne[parent] for parent in element.iterancestors() if parent in borne), _NO_MARKS)
        borne[element] = above.union(marks)
        for mark in marks:
            taken[mark] = taken.get(mark, 0) + (0 if mark in above else weights[element].prose)
    return taken


def _protected(weights: Weights, total: int) -> set[HtmlElement]:
    """The elements that the page itself names as its main part, unless they are small."""
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
    return element.tag == "main" or element.get("itemprop") == "articleBody" or is_body(names(element))
