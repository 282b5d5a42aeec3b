"""The rungs of the ladder: each makes one candidate for the article's body, or none.

Libraries are imported where they are used, so that a program that only reads feeds does not load them; the child
processes that extract articles load them at their start.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from lxml import etree
from lxml.html import Element

from feedcrawl.domain.extraction.bodies.elsewhere import names_of_sites
from feedcrawl.domain.extraction.bodies.furniture import POSTS, clear_away, consent_dialogs
from feedcrawl.domain.extraction.bodies.leads import (
    add_lead,
    add_opening,
    described_lead,
    has_lead,
    named_lead,
    plain_lead,
)
from feedcrawl.domain.extraction.bodies.polish import (
    corroborate,
    drop_announcements,
    drop_headline,
    drop_lines,
    drop_repeats,
)
from feedcrawl.domain.extraction.bodies.prose import find_root, find_thread, trim, whole_articles
from feedcrawl.domain.extraction.bodies.restoration import mark_figures, restore
from feedcrawl.domain.extraction.candidates import Candidate, candidate_of, density
from feedcrawl.domain.extraction.embedded import embedded_html
from feedcrawl.domain.extraction.kinds import THREADS, page_kind
from feedcrawl.domain.extraction.rules import select_body
from feedcrawl.domain.extraction.structured import body_of, text_at
from feedcrawl.domain.figures.formulas import settle_formulas
from feedcrawl.domain.figures.images import show_images
from feedcrawl.domain.figures.posts import settle_posts
from feedcrawl.domain.markup import Elements, drop_all, parse_html
from feedcrawl.domain.text import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.bodies.furniture import Dropped
    from feedcrawl.domain.extraction.page import Page
    from feedcrawl.domain.models import FeedContent, SourceRules

MIN_WITNESS = 200
MOST_CHILDREN = 400
MOST_LINES = 5_000
"""Lines of a page that trafilatura reads: its last resort, justext, compares each short line with all others around it
(29 s of processor time for 50 000 lines of one character, 1.2 for 10 000; 4.3 for 6 000 of a few words).
"""
_UNREAD = ("head", "script", "style", "svg", "template")
_MEASURED = frozenset({"table", "ul", "div", "aside", "header", "footer", "section"})
_BROKEN = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    RecursionError,
    etree.LxmlError,
)  # raised by libraries on hostile pages


def by_rules(page: Page, rules: SourceRules) -> Candidate | None:
    """The elements that the source's selectors name as the article."""
    body = select_body(page.tree, rules.body, rules.remove) if rules.body else None
    return candidate_of("rules", body) if body is not None else None


def by_prose(page: Page, dropped: Dropped | None = None) -> Candidate | None:
    """The part of the page that contains its prose, with its standfirst, compared with the structured data.

    Removed furniture is appended to `dropped`.
    """
    lead = described = described_lead(page)
    elements = page.elements.copied()
    wholes = whole_articles(elements)
    kind = page_kind(page)
    body, weights = clear_away(elements, page.labels, POSTS if kind == "forum" else frozenset(), dropped)
    thread = find_thread(body, weights) if kind in THREADS else None
    if thread is not None:
        trim(thread, weights, teasers=False, dropped=dropped)
        return candidate_of("thread", thread)
    own = names_of_sites(page.url, page.meta("og:url"))
    root = find_root(body, wholes, weights, own)
    add_opening(root, weights)
    if lead is None or has_lead(root, lead):
        lead = named_lead(body, root, weights) or (None if lead else plain_lead(root, weights))
    headlines = [text_of(heading) for heading in elements.of("h1") if heading in weights]
    mark_figures(root, weights)
    trim(root, weights, own, dropped=dropped)
    drop_lines(root)
    drop_repeats(root)
    drop_headline(root, [*_titles(page), *headlines])
    if page.is_declared or lead == described:  # other leads need a page that is an article
        add_lead(root, lead)
    witness = body_of(page.article)
    if len(witness) > MIN_WITNESS:
        corroborate(root, witness)
    drop_announcements(root)
    # A page that declares itself an article has captions that its publisher keeps apart from the text.
    return candidate_of("prose", root, captions=not page.is_declared)


def by_area(page: Page) -> Candidate | None:
    """The main area of the page."""
    area = page.area
    return Candidate("area", area.root, area.text, density(area.root, area.text)) if area.text else None


def by_structured_data(page: Page) -> Candidate | None:
    """The `articleBody` of the page's structured data, as paragraphs."""
    text = body_of(page.article)
    body = Element("div")
    for line in text.splitlines():
        etree.SubElement(body, "p").text = line
    return candidate_of("structured", body) if text else None


def by_readability(page: Page) -> Candidate | None:
    """The article by readability-lxml."""
    if _is_wide(page):
        return None
    from readability import readability  # noqa: PLC0415 - only a child that extracts pays for it

    tree = _for_libraries(page)
    # Readability would spend a third of its time on removing these itself.
    etree.strip_elements(tree, *_UNREAD, with_tail=False)
    try:
        summary = readability.Document(tree).summary(html_partial=True)
    except (readability.Unparseable, *_BROKEN):
        return None
    return by_markup("readability", summary, titles=_titles(page))


def _for_libraries(page: Page) -> HtmlElement:
    """A copy of the page's tree without the dialogs of consent software, which libraries take for the article where it
    is short.
    """
    dialogs = consent_dialogs(page.elements, page.labels)
    if not dialogs:
        return deepcopy(page.tree)
    elements = page.elements.copied()
    drop_all(elements.tree, [elements.all[at] for at in dialogs])
    return elements.tree


def _is_wide(page: Page) -> bool:
    """True if readability, which trafilatura uses too, would compare hundreds of empty boxes."""
    crowded: list[HtmlElement] = page.tree.xpath(f"descendant-or-self::*[*[{MOST_CHILDREN + 1}]]")
    return any(
        sum(child.tag in _MEASURED and not text_of(child) for child in parent) > MOST_CHILDREN for parent in crowded
    )


def by_trafilatura(page: Page) -> Candidate | None:
    """The article by trafilatura."""
    if _is_wide(page) or len(page.lines) > MOST_LINES:
        return None
    from trafilatura.core import extract  # noqa: PLC0415 - only a child that extracts pays for it

    try:
        html = extract(
            _for_libraries(page),
            url=page.url,
            output_format="html",
            include_comments=False,
            include_links=True,
            include_images=True,
            include_formatting=True,
        )
    except _BROKEN:
        return None
    return by_markup("trafilatura", html, titles=_titles(page))


def by_embedded(page: Page) -> Candidate | None:
    """The article that the page's scripts would show."""
    return by_markup("embedded", embedded_html(page.elements.of("script")), titles=_titles(page))


def by_feed(feed: FeedContent | None) -> Candidate | None:
    """The article in the feed's content element; in its summary only if the feed is trusted for full text."""
    return by_markup("feed", carried_html(feed)) if feed else None


def carried_html(feed: FeedContent) -> str | None:
    """The markup of the article in a feed."""
    return feed.content or (feed.summary if feed.full_text else None)


def by_markup(rung: str, html: str | None, *, titles: Iterable[str | None] = ()) -> Candidate | None:
    """The candidate of a piece of HTML, if it has text; a heading that repeats one of the titles is left out."""
    document = parse_html(f"<body><div>{html}</div>") if html else None
    if document is None:
        return None
    elements = Elements(document)
    show_images(elements)
    settle_formulas(elements)
    settle_posts(elements)
    drop_headline(document, titles)
    return candidate_of(rung, document)


def with_figures_of(candidate: Candidate, prose: Candidate) -> Candidate:
    """The candidate with the figures, tables and lists that the prose rung has between the same lines."""
    body = deepcopy(candidate.body)
    return candidate_of(candidate.rung, body) or candidate if restore(body, prose.body) else candidate


def _titles(page: Page) -> tuple[str | None, ...]:
    return page.meta("og:title"), text_at(page.article, "headline"), page.title_element
