"""Our own rung: the smallest part of the page that contains its prose, without the furniture in between.

The value of a line is its text minus a cost for its links and for the line itself; the value of an element is the sum
of its lines, of which lines of furniture count a fifth. The article's root is the most valuable element that no single
part of it can replace (after Pasternack and Roth, "Extracting article text from the web with maximum subsequence
segmentation", 2009, on trees instead of sequences). A part that the page names as its article needs less evidence.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from feedcrawl.domain.extraction.bodies.elsewhere import leads_elsewhere, leads_to_article
from feedcrawl.domain.extraction.bodies.furniture import BODY, is_body, note
from feedcrawl.domain.extraction.bodies.introductions import is_introduced
from feedcrawl.domain.extraction.bodies.weights import HEADINGS, INLINE, Weight, Weights, names
from feedcrawl.domain.markup import drop_all
from feedcrawl.domain.text import fold, raw_text

if TYPE_CHECKING:
    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.bodies.furniture import Dropped
    from feedcrawl.domain.markup import Elements

_LINK_COST = 1.5
_LINE_COST = 30
_DISCOUNT = 0.2
_TEASER_PROSE = 600
_TEASER_VALUE = -50.0

_MIN_PROSE = 40.0
_WHOLE_SHARE = 0.88
_NAMED_SHARE = 0.7
_LIST_SHARE = 0.98
_RIVAL_SHARE = 0.15
_MOST_LEVELS = 6  # from the text of a post to the box that it shares its looks with
_NUMBERED = re.compile(r"(?:[^\W\d]+ )?#?\d{1,3}(?:[.:)](?!\d)| [–—-] )")
_LISTS = frozenset({"table", "tbody", "tr", "ul", "ol", "dl", "li", "blockquote"})

_MOST_LINKS = {"p": 0.8, "ul": 0.6, "ol": 0.6, "dl": 0.6, "table": 0.6}
_MOST_LINKS_ELSEWHERE = 0.5
_ARRANGED = ("ul", "ol", "dl", "table")
_NOWHERE: frozenset[str] = frozenset()
_FEWEST_LINKS = 2  # to other sites, in a list that belongs to the text
_KEPT_WITH_PARENT = frozenset({"tr", "td", "th", "tbody", "thead", "tfoot", "br", "hr", "li", "dt", "dd", "blockquote"})


def whole_articles(elements: Elements) -> set[HtmlElement]:
    """The article elements of a page before clearing that have a headline of their own."""
    return {article for article in elements.of("article") if article.find(".//h1") is not None}


def find_root(
    body: HtmlElement, wholes: set[HtmlElement], weights: Weights, own: frozenset[str] = _NOWHERE
) -> HtmlElement:
    """The element of a cleared page that holds its article; `own` are the names of the page's sites."""
    _value(body, weights, own)
    root = max((e for e in weights if e.tag not in INLINE), key=lambda element: weights[element].value, default=body)
    root = _first_article(root, wholes, weights)
    root = _named_part(root, weights)
    return _single_part(root, weights)


def find_thread(body: HtmlElement, weights: Weights) -> HtmlElement | None:
    """The element of a cleared page that contains all posts of its thread; None if no two parts look like posts."""
    _value(body, weights)
    post = max((e for e in weights if e.tag not in INLINE), key=lambda element: weights[element].value, default=None)
    for box in (post, *islice(post.iterancestors(), _MOST_LEVELS)) if post is not None else ():
        posts = [e for e in body.iter(box.tag) if e.get("class") == box.get("class") and e in weights]
        if box.get("class") and len(posts) > 1:
            shared = set.intersection(*(set(kin.iterancestors()) for kin in posts))
            return next((kin for kin in box.iterancestors() if kin in shared and kin in weights), None)
    return None


def trim(
    root: HtmlElement,
    weights: Weights,
    own: frozenset[str] = _NOWHERE,
    *,
    teasers: bool = True,
    dropped: Dropped | None = None,
) -> None:
    """Remove from an article the parts that consist of links: lists of other articles, teasers, share bars.

    If the prose itself is full of links, as in encyclopedias, lists may be too. Without `teasers` headings that are
    links are kept: in a thread these are the names of the authors of posts.
    """
    usual = _usual_density(root, weights)
    introduced: set[HtmlElement] | None = None
    found: list[HtmlElement] = []
    for element in root.iterdescendants():
        weight = weights.get(element)
        if weight is None or not weight.total:
            continue
        if (
            element.tag not in INLINE
            and element.tag not in _KEPT_WITH_PARENT
            and _is_links(element, weight, usual, teasers=teasers)
            and not _speaks_of_others(element, own)
        ):
            if introduced is None:
                introduced = set(filter(is_introduced, root.iter(*_ARRANGED))) if teasers else set()
            if introduced.isdisjoint(element.iter(*_ARRANGED)):
                note(dropped, f"{weight.density:.0%} links", element)
                found.append(element)
    drop_all(root, found)


def _value(body: HtmlElement, weights: Weights, own: frozenset[str] = _NOWHERE) -> None:
    for element, weight in reversed(weights.items()):
        if not weight.total:
            continue
        tag = element.tag
        if tag not in INLINE:
            weight.value += _line_value(tag, weight)
            _judge_teaser(element, weight, own)
        elif tag == "a" and weight.value > 0:
            weight.value = -_LINK_COST * weight.total
            heading = next(element.iter(*HEADINGS), None)
            weight.headlines += heading is not None and _is_teaser(heading, element, own)
        parent = weights.get(element.getparent()) if element is not body else None
        if parent is not None:
            parent.value += weight.value if weight.value > 0 else _DISCOUNT * weight.value
            parent.headlines += weight.headlines


def _line_value(tag: str, weight: Weight) -> float:
    """The value of an element's own line."""
    size = weight.text + weight.link
    if not size or tag in HEADINGS:
        return 0
    if weight.link > weight.text:
        return -_LINK_COST * weight.link - 10
    if tag == "li":
        return weight.text - _LINK_COST * weight.link - (_LINE_COST if size > 60 else 0)
    if size < 25:
        return -_LINK_COST * weight.link - (10 if weight.link else 5)
    return weight.text - _LINK_COST * weight.link - _LINE_COST


def _judge_teaser(element: HtmlElement, weight: Weight, own: frozenset[str]) -> None:
    """Marks a headline that links within the site, with a few lines under it: a teaser of another article."""
    is_linked = element.tag in HEADINGS and element.tag != "h1" and weight.link > weight.text
    if is_linked and _is_teaser(element, element, own):
        weight.headlines = 1
    if weight.headlines == 1 and weight.prose < _TEASER_PROSE:
        weight.value = min(weight.value, _TEASER_VALUE)


def _is_teaser(heading: HtmlElement, links: HtmlElement, own: frozenset[str]) -> bool:
    """True if the links of a heading lead to an article of the site; numbered headings are those of a list's items."""
    return leads_to_article(links, own) and _NUMBERED.match(fold(raw_text(heading))) is None


def _first_article(root: HtmlElement, wholes: set[HtmlElement], weights: Weights) -> HtmlElement:
    """The first of several whole articles that follow each other (endless scrolling)."""
    articles = [
        article
        for article in root.iter("article")
        if article is not root and article in wholes and weights[article].value > _RIVAL_SHARE * weights[root].value
    ]
    inner = set(articles)
    outermost = [article for article in articles if inner.isdisjoint(article.iterancestors())]
    return outermost[0] if len(outermost) > 1 else root


def _named_part(root: HtmlElement, weights: Weights) -> HtmlElement:
    """The innermost part that the page itself names as its article, if only one part is named so."""
    named = {e: name for e in root.iter() if e is not root and weights[e].value > 0 and (name := _body_name(e))}
    worth: dict[str, float] = {}
    for element, name in named.items():
        if not any(named.get(kin) == name for kin in element.iterancestors()):
            worth[name] = worth.get(name, 0) + weights[element].value
    for element, name in named.items():
        value = weights[element].value
        alone = worth[name] <= (1 + _RIVAL_SHARE) * value
        among = _body_name(element.getparent()) == name and _is_among_prose(element, weights)
        if alone and not among and value >= _NAMED_SHARE * weights[root].value and root in element.iterancestors():
            root = element
    return root


def _body_name(element: HtmlElement) -> str | None:
    """The name that marks an element as the article; None if there is none."""
    if element.tag in {"article", "main"}:
        return f"{element.tag} {element.get('class')}"
    if element.get("itemprop") == "articleBody":
        return "articleBody"
    role = element.get("role")
    if role in {"article", "main"}:
        return str(role)
    named = names(element)
    match = BODY.search(named) if named and is_body(named) else None
    return str(match[0]).lower() if match else None


def _single_part(root: HtmlElement, weights: Weights) -> HtmlElement:
    """The descendant that no single child can replace."""
    while True:
        children = [child for child in root if child.tag not in INLINE and child.tag != "p"]
        best = max(children, key=lambda child: weights[child].value, default=None)
        if best is None:
            return root
        share = _LIST_SHARE if best.tag in _LISTS else _WHOLE_SHARE
        if weights[best].value < share * weights[root].value or _has_twin(best, children, weights):
            return root
        if _is_among_prose(best, weights):
            return root
        root = best


def _is_among_prose(element: HtmlElement, weights: Weights) -> bool:
    """True if paragraphs of the same look are beside an element: the element is only a part of the article."""
    parent = element.getparent()
    beside = [kin for kin in parent if kin.tag == "p" and weights[kin].value > _MIN_PROSE] if parent is not None else []
    return bool(beside) and not {p.get("class") for p in beside}.isdisjoint(p.get("class") for p in element.iter("p"))


def _has_twin(best: HtmlElement, children: list[HtmlElement], weights: Weights) -> bool:
    """True if another child looks the same and has text too: the article continues in that child."""
    looks = best.tag, best.get("class")
    return best.get("class") is not None and any(
        (child.tag, child.get("class")) == looks and weights[child].value > 0 for child in children if child is not best
    )


def _speaks_of_others(element: HtmlElement, own: frozenset[str]) -> bool:
    """True for a heading with a link to another site, and for a list with several such links."""
    if element.tag not in HEADINGS and (element.tag not in {"ul", "ol"} or len(element) < _FEWEST_LINKS):
        return False
    return leads_elsewhere(element, own)


def _usual_density(root: HtmlElement, weights: Weights) -> float:
    paragraphs = [weights[p] for p in root.iter("p") if p in weights and weights[p].text > 60]
    total = sum(weight.text + weight.link for weight in paragraphs)
    return sum(weight.link for weight in paragraphs) / total if total else 0.0


def _is_links(element: HtmlElement, weight: Weight, usual: float, *, teasers: bool) -> bool:
    tag = element.tag
    if tag in HEADINGS:
        return teasers and weight.density > _MOST_LINKS_ELSEWHERE
    if weight.density > _MOST_LINKS.get(tag, _MOST_LINKS_ELSEWHERE) + usual:
        return True
    return teasers and tag not in _MOST_LINKS and weight.headlines > 0 and weight.value < 0
