"""The decision about the next poll of a feed or sitemap in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.domain.cadence.reasons import in_words, winner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from feedcrawl.domain.subscriptions.published import WhyCandidate


def proposals(reason: str | None, candidates: Sequence[tuple[str, float]]) -> list[WhyCandidate]:
    """The candidates of a decision, and which of them won."""
    won = winner(reason or "", candidates)
    return [
        {"rule": rule, "wait_sec": wait, "because": in_words(rule), "won": rule == won} for rule, wait in candidates
    ]


def in_words_or_none(reason: str | None) -> str | None:
    """The reason of a decision in words; None before the first decision."""
    return in_words(reason or "") or None
