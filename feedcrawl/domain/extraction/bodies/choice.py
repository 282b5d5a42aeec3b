"""The choice of the article among the candidates, with its reason: rungs are tried until the evidence suffices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from feedcrawl.domain.extraction.bodies.polish import agreement
from feedcrawl.domain.extraction.bodies.rungs import (
    by_area,
    by_embedded,
    by_feed,
    by_prose,
    by_readability,
    by_rules,
    by_structured_data,
    by_trafilatura,
    carried_html,
    with_figures_of,
)
from feedcrawl.domain.extraction.bodies.soundness import (
    AGREED,
    ENOUGH,
    MOST_LINKS,
    is_confirmed,
    is_part_of,
    is_sound,
    vote,
    words_in,
)
from feedcrawl.domain.extraction.fields.authors import find_authors
from feedcrawl.domain.extraction.fields.moments import find_published
from feedcrawl.domain.extraction.kinds import (
    THREADS,
    is_product_url,
    is_shelf_url,
    lists_items,
    may_be_service,
    page_kind,
    stated_kind,
)
from feedcrawl.domain.extraction.walls.recognition import wall_kind
from feedcrawl.domain.text import words

if TYPE_CHECKING:
    from feedcrawl.domain.extraction.candidates import Candidate
    from feedcrawl.domain.extraction.kinds import PageKind
    from feedcrawl.domain.extraction.page import Page
    from feedcrawl.domain.models import FeedContent, SourceRules

SHOWN = 60  # without its scripts, a page that needs them shows a word or two
FULL_LENGTH = 700
"""Characters from which a feed's content is the article of a page without text: RFC 4287, 4.1.3 and the RSS content
module have whole articles there, and publishers a line or two.
"""
MOST_MANUAL_LINKS = 0.3
LEAST_SERVICE, LEAST_PRODUCT, LEAST_THREAD = 0.8, 0.5, 0.4
LEAST_FOUND = 0.5
FEW_WORDS, SHORT_THREAD = 40, 500
_TIMES_FULLER = 2
FRAME_WORDS, MOST_SMALL = 12, 100
"""Words of a text that may be the frame of a page for its scripts, and of a text below which the main area may replace
the text though extractors agree on it.
"""
_BESIDE_CONTENT = frozenset({None, "consent"})
"""Kinds of walls beside which the content may stand: a banner asks for consent."""
_DROP_FIGURES = frozenset({"readability", "trafilatura", "structured"})


@dataclass(frozen=True, slots=True)
class Choice:
    """The winner and its reason; the kind of the page if only its text shows the kind; and the candidate by which walls
    are recognised, if that is not the winner.
    """

    winner: Candidate
    reason: str
    kind: PageKind | None = None
    witness: Candidate | None = None


def choose(page: Page, rules: SourceRules, feed: FeedContent | None) -> Choice | None:
    """The best candidate for the page's article; None if no rung found any.

    The source's selectors win wherever they find text, since they were made for this page. Our own rung, which knows
    the furniture of news pages, wins if its text is long, or is long enough and begins as the page states. Otherwise
    readability is consulted: if both agree, our text is chosen for a page that declares itself an article, and
    readability's, which includes more, for others. If they differ, the main area of a page that may be no article wins
    where both found little of the area, and our text wins if the main area confirms it. In all other cases the
    candidates vote, each for those that agree with it. At last a line of a list gives way to the list.
    """
    ruled = by_rules(page, rules)
    if ruled:
        return Choice(ruled, "the source's selectors")
    best = _by_kind(page) or _fitted(page, _climb(page, feed))
    if best is None or len(best.winner.text) < SHOWN:
        best = _shown_later(best, by_embedded(page))
    if feed is None or (best and not _may_be_fuller(feed, best)):
        return best
    return _fuller(best, by_feed(feed), trusted=feed.full_text)


def _by_kind(page: Page) -> Choice | None:
    """The main area, if the kind of the page makes the area its text: a listing of items, a manual without lists."""
    if page_kind(page) == "listing" and lists_items(page, stated_kind(page)):
        reason = "a listing, whose items are in the main area"
    elif page_kind(page) == "documentation" and page.area.density < MOST_MANUAL_LINKS:
        reason = "a manual, whose main area is not made of links"
    else:
        return None
    area = by_area(page)
    return Choice(area, reason, "listing" if page_kind(page) == "listing" else None) if area else None


def _fitted(page: Page, best: Choice | None) -> Choice | None:
    """The main area, if an article's body is a small part of it and the page is no article.

    A service has no day and no author; a page with either is taken for an article.
    """
    if best and best.winner.is_area:
        return best
    if page_kind(page) == "product" or is_product_url(page.url):
        found = _size(best)
        return best if found >= FEW_WORDS else _larger(page, best, found / LEAST_PRODUCT)
    if page_kind(page) in THREADS:
        found = _size(best)
        is_part = found < SHORT_THREAD and page.area.density < MOST_MANUAL_LINKS
        return _larger(page, best, found / LEAST_THREAD) if is_part else best
    is_manual = page_kind(page) == "documentation"
    fitted = best if is_manual or not may_be_service(page) else _as_service(page, best)
    return _unless_small(page, best) if best and fitted is best and _may_be_part(page, best) else fitted


def _as_service(page: Page, best: Choice | None) -> Choice | None:
    """The main area of a shelf or of a service, if the best choice so far is a small part of it."""
    if is_shelf_url(page.url):
        return _larger(page, best, 1, "listing")
    if best is None or page_kind(page) != "article":
        return best
    kind: PageKind = "listing" if page.area.density > MOST_LINKS else "service"
    larger = _larger(page, best, _size(best) / LEAST_SERVICE, kind, best.winner)
    is_signed = larger is not best and (find_published(page, None) is not None or find_authors(page, None))
    return best if is_signed else larger


def _least_area(size: int) -> int:
    """The words above which a main area may replace a text of `size` words: beside a frame stand menus."""
    if size < FRAME_WORDS:
        return 150
    return max(60, 3 * size) if size < FEW_WORDS else 4 * size


def _may_be_part(page: Page, best: Choice) -> bool:
    """True for a text of links, and for a short text of a page that declares no article: a line of a list, perhaps."""
    return best.winner.density > MOST_LINKS or (not page.is_declared and _size(best) < MOST_SMALL)


def _size(best: Choice | None) -> int:
    """The number of words of the choice."""
    return words_in(best.winner) if best else 0


def _larger(
    page: Page, best: Choice | None, least: float, kind: PageKind | None = None, witness: Candidate | None = None
) -> Choice | None:
    """The main area if it has more than `least` words, else the best choice so far."""
    area = by_area(page) if len(words(page.area.text)) > least else None
    if area is None:
        return best
    reason = f"{best.winner.rung if best else 'no rung'} has a small part of the page"
    return Choice(area, reason, kind, witness)


def _climb(page: Page, feed: FeedContent | None) -> Choice | None:
    prose = by_prose(page)
    choice = _judge(page, feed, prose)
    if choice and prose and choice.winner.rung in _DROP_FIGURES:
        return replace(choice, winner=with_figures_of(choice.winner, prose))
    return choice


def _judge(page: Page, feed: FeedContent | None, prose: Candidate | None) -> Choice | None:
    if prose and prose.rung == "thread" and prose.density <= MOST_LINKS:
        return Choice(prose, "all that looks like the longest post")
    if prose and is_sound(prose, page, feed):
        return Choice(prose, "long, few links, and begins as the page says")
    other = by_readability(page)
    first, second = (prose, other) if page.is_declared else (other, prose)
    if first and second and agreement(first.grams, second.grams) >= AGREED:
        if first.rung == "readability" and is_part_of(first, second):
            return Choice(second, f"has all that {first.rung} has, and more")
        return Choice(first, f"{second.rung} agrees")
    if (wider := _wider(page, max(words_in(prose), words_in(other)))) is not None:
        return wider
    if prose and not page.is_declared and is_confirmed(page, prose, other):
        return Choice(prose, "the main area agrees")
    found = [first, second, by_structured_data(page), by_trafilatura(page)]
    elected = vote([candidate for candidate in found if candidate])
    if elected is None:
        return None
    best = Choice(elected.winner, elected.reason)
    return best if elected.is_supported else _unless_small(page, best)


def _unless_small(page: Page, best: Choice) -> Choice:
    """The main area, if it has several times the words of the best choice, which is no wall before it."""
    kind: PageKind | None = "listing" if page.area.density > MOST_LINKS else None
    is_wall = wall_kind(page, best.winner.text) not in _BESIDE_CONTENT
    return best if is_wall else _larger(page, best, _least_area(_size(best)), kind) or best


def _wider(page: Page, found: int) -> Choice | None:
    """The main area, if the largest candidate has less than half of its words; not for articles."""
    is_manual = page_kind(page) == "documentation"
    if not is_manual and (page_kind(page) not in {"article", "listing"} or not may_be_service(page)):
        return None
    size = len(words(page.area.text))
    area = by_area(page) if size >= FEW_WORDS and found < LEAST_FOUND * size else None
    kind: PageKind = "listing" if page.area.density > MOST_LINKS or is_shelf_url(page.url) else "service"
    reason = "prose and readability disagree, and have less than half of it"
    return Choice(area, reason, None if is_manual else kind) if area else None


def _shown_later(best: Choice | None, embedded: Candidate | None) -> Choice | None:
    """The text that the page's scripts would show, if it is clearly longer than the visible text."""
    if embedded is None or len(embedded.text) < ENOUGH:
        return best
    return Choice(embedded, "the page has no text of its own, and carries one for its scripts")


def _may_be_fuller(feed: FeedContent, best: Choice) -> bool:
    """False only if the feed's markup has fewer characters than a fuller text would have words.

    The words of the page make runs of four, three fewer than there are words.
    """
    return len(carried_html(feed) or "") > _TIMES_FULLER * (_size(best) - 3)


def _fuller(best: Choice | None, carried: Candidate | None, *, trusted: bool) -> Choice | None:
    """The feed's content, if the page has none or only the beginning of it."""
    if carried is None:
        return best
    if best is None:
        return Choice(carried, "the page has no text") if trusted or len(carried.text) >= FULL_LENGTH else None
    page_grams, feed_grams = best.winner.grams, carried.grams
    shared = (page_grams & feed_grams).total()
    if feed_grams.total() > _TIMES_FULLER * page_grams.total() and shared > 0.5 * page_grams.total():
        return Choice(carried, "the page has only a part of what the feed carries")
    return best
