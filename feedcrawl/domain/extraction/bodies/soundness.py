"""The decision whether a candidate for the article's text suffices, alone or with the support of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from feedcrawl.domain.extraction.bodies.polish import agreement, grams
from feedcrawl.domain.extraction.structured import body_of, text_at
from feedcrawl.domain.text import squeezed, words

if TYPE_CHECKING:
    from collections.abc import Callable

    from feedcrawl.domain.extraction.bodies.polish import Grams
    from feedcrawl.domain.extraction.candidates import Candidate
    from feedcrawl.domain.extraction.page import Page
    from feedcrawl.domain.models import FeedContent

AGREED: Final = 0.6
ENOUGH: Final = 500
MOST_LINKS: Final = 0.5
_PART_SHARED, _PART_LONGER = 0.92, 0.95


def is_sound(candidate: Candidate, page: Page, feed: FeedContent | None) -> bool:
    """True for a long text with few links, and for a shorter text that the page or the feed confirms."""
    if len(candidate.text) < ENOUGH or candidate.density > MOST_LINKS:
        return False
    if len(squeezed(candidate.text, 4 * ENOUGH + 1)) > 4 * ENOUGH:
        return True
    stated = body_of(page.article)
    if stated and agreement(candidate.grams, grams(stated)) >= AGREED:
        return True
    text = squeezed(candidate.text)
    metas = (page.meta("og:description"), page.meta("description"), text_at(page.article, "description"))
    beginnings = [squeezed(each, 30) for each in (*metas, feed and feed.summary) if each and len(each) > 40]
    return any(beginning in text for beginning in beginnings)


def is_part_of(part: Candidate, whole: Candidate) -> bool:
    """True if a candidate is contained in another that is clearly longer."""
    ours, theirs = part.grams, whole.grams
    return share(ours, theirs) >= _PART_SHARED and share(theirs, ours) < _PART_LONGER


def share(ours: Grams, theirs: Grams) -> float:
    """The share of a text that is in another, 0 … 1."""
    return (ours & theirs).total() / max(1, ours.total())


def is_confirmed(page: Page, prose: Candidate, other: Candidate | None) -> bool:
    """True if the main area agrees with prose, and has as many words as another candidate."""
    area = page.area.text
    return agreement(prose.grams, grams(area)) >= AGREED and len(words(area)) >= words_in(other)


def words_in(candidate: Candidate | None) -> int:
    """The number of words of a candidate; 0 without a candidate."""
    return len(words(candidate.text)) if candidate else 0


class Elected(NamedTuple):
    """The winner of a vote and the reason; `is_supported` if others agree with the winner."""

    winner: Candidate
    reason: str
    is_supported: bool


def vote(candidates: list[Candidate]) -> Elected | None:
    """The candidate that the others agree with most; of equals that of the earlier rung.

    If no candidates agree, each may have found a fragment: then the one that contains most of the others' texts wins.
    """
    if not candidates:
        return None
    winner, support = _elect(candidates, agreement)
    if support >= AGREED:
        return Elected(winner, f"support {support} of {len(candidates) - 1}", is_supported=True)
    winner, _ = _elect([c for c in candidates if c.density <= MOST_LINKS] or candidates, lambda a, b: share(b, a))
    return Elected(winner, "none agree, and it has most of what the others have", is_supported=False)


def _elect(candidates: list[Candidate], measure: Callable[[Grams, Grams], float]) -> tuple[Candidate, float]:
    """The candidate with the most support by the others, and that support."""
    votes = [candidate.grams for candidate in candidates]
    support = [round(sum(measure(ours, theirs) for theirs in votes if theirs is not ours), 1) for ours in votes]
    best = max(range(len(candidates)), key=support.__getitem__)
    return candidates[best], support[best]
