"""Which candidate is the article: rungs are climbed until the evidence suffices, and the choice says why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from feedcrawl.domain.extraction.leads import squeezed
from feedcrawl.domain.extraction.polish import agreement
from feedcrawl.domain.extraction.rungs import (
    Candidate,
    by_feed,
    by_prose,
    by_readability,
    by_rules,
    by_structured_data,
    by_trafilatura,
)
from feedcrawl.domain.extraction.structured import text_at

if TYPE_CHECKING:
    from feedcrawl.domain.extraction.page import Page
    from feedcrawl.domain.models import FeedContent, SourceRules

AGREED = 0.6
ENOUGH = 500
_MOST_LINKS = 0.5
_PART_SHARED, _PART_LONGER = 0.92, 0.95


@dataclass(frozen=True, slots=True)
class Choice:
    """The winner and the reason it won."""

    winner: Candidate
    reason: str


def choose(page: Page, rules: SourceRules, feed: FeedContent | None) -> Choice | None:
    """The best candidate for the page's article, None where no rung found any.

    The source's selectors win wherever they find text: they were made for this page. A page that declares itself an
    article is read by our own rung, which knows the furniture of news pages; others by readability, which is the more
    inclusive of the two. One that is long enough and has what the page says of itself has won; otherwise the
    candidates vote, each for those that agree with it.
    """
    ruled = by_rules(page, rules)
    if ruled:
        return Choice(ruled, "the source's selectors")
    return _fuller(_climb(page, feed), by_feed(feed))


def _climb(page: Page, feed: FeedContent | None) -> Choice | None:
    prose = by_prose(page)
    if page.is_declared:
        if prose and _is_sound(prose, page, feed):
            return Choice(prose, "long, few links, and begins as the page says")
        first, second = prose, by_readability(page)
    else:
        first, second = by_readability(page), prose
    if first and second and agreement(first.grams, second.grams) >= AGREED:
        if first.rung == "readability" and _is_part_of(first, second):
            return Choice(second, f"has all that {first.rung} has, and more")
        return Choice(first, f"{second.rung} agrees")
    found = [first, second, by_structured_data(page), by_trafilatura(page)]
    return _vote([candidate for candidate in found if candidate])


def _fuller(best: Choice | None, carried: Candidate | None) -> Choice | None:
    """The feed's content where the page has none, or only the beginning of it."""
    if carried is None:
        return best
    if best is None:
        return Choice(carried, "the page has no text")
    page_grams, feed_grams = best.winner.grams, carried.grams
    shared = (page_grams & feed_grams).total()
    if feed_grams.total() > 2 * page_grams.total() and shared > 0.5 * page_grams.total():
        return Choice(carried, "the page has only a part of what the feed carries")
    return best


def _is_sound(candidate: Candidate, page: Page, feed: FeedContent | None) -> bool:
    if len(candidate.text) < ENOUGH or candidate.density > _MOST_LINKS:
        return False
    text = squeezed(candidate.text)
    if len(text) > 4 * ENOUGH:
        return True
    metas = (page.meta("og:description"), page.meta("description"), text_at(page.article, "description"))
    said = [squeezed(words, 30) for words in (*metas, feed and feed.summary) if words and len(words) > 40]
    return any(beginning in text for beginning in said)


def _is_part_of(part: Candidate, whole: Candidate) -> bool:
    """Whether a candidate lies within another that is clearly longer."""
    ours, theirs = part.grams, whole.grams
    shared = (ours & theirs).total()
    return shared >= _PART_SHARED * ours.total() and shared < _PART_LONGER * theirs.total()


def _vote(candidates: list[Candidate]) -> Choice | None:
    """The candidate that the others agree with most; the earlier rung of equals."""
    if not candidates:
        return None
    votes = {candidate.rung: candidate.grams for candidate in candidates}

    def support(candidate: Candidate) -> float:
        others = [agreement(votes[candidate.rung], theirs) for rung, theirs in votes.items() if rung != candidate.rung]
        return round(sum(others), 1)

    winner = max(candidates, key=support)
    return Choice(winner, f"support {support(winner)} of {len(candidates) - 1}")
