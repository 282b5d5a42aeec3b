"""Texts for the codes of a cadence decision, and durations in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, TypedDict

from feedcrawl.domain.schemas import About

if TYPE_CHECKING:
    from collections.abc import Sequence

RULES: Final = {
    "interval": "the interval so far",
    "not-modified": "nothing changed (304): a longer interval",
    "no-new-entries": "no new entries: a longer interval",
    "new-entries": "new entries: a shorter interval",
    "ewma": "the mean gap between its entries",
    "blend": "interval and mean gap blended",
    "tempo": "the tempo that is set for all feeds",
    "initial": "the first document has no two dates apart: the initial interval",
    "overrun": "the document has no known entry: some entries may have been missed",
    "rate": "the rate at which it publishes",
    "window": "before its window of entries is full",
    "burst": "a burst that may go on would fill its window of entries",
    "timetable": "the time at which it publishes",
    "ttl": "requested by the feed (ttl)",
    "update-period": "requested by the feed (sy:updatePeriod)",
    "max-age": "requested by its server (Cache-Control, Expires)",
    "skip-window": "the feed allows no polls before (skipHours, skipDays)",
    "jitter": "random spread, so that feeds are not all due at once",
    "retry-after": "requested by its server (Retry-After)",
    "error-backoff": "the poll failed: back-off",
    "error-budget": "half of a day's polls failed: its circuit is open",
    "refused": "its server refuses access (401, 403, 451): requested again after hours",
    "gone": "its publisher has removed it (410): polled rarely",
    "fixed": "its interval is fixed by an override",
    "push-backup": "its hub delivers new entries: polled as a safety net",
    "push-only": "it is set to push_only: polled as a safety net",
    "paused": "it is paused: not polled until it is resumed",
}
"""Rules of a decision; `reason` is one of them, or two joined by `+`. The state `paused` replaces a decision."""

_LEARNT: Final = frozenset({"rate", "window", "burst", "timetable", "overrun", "initial"})
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"))


def winner(reason: str, candidates: Sequence[tuple[str, float]]) -> str:
    """The candidate that set the wait before jitter; "" if unknown."""
    happened, _, floor = reason.rpartition("+")
    rules = dict(candidates)
    if happened or reason in ("retry-after", "error-backoff", "fixed", "push-only", "push-backup"):
        return floor or reason
    proposed = {rule: wait for rule, wait in rules.items() if rule in _LEARNT}
    if proposed:
        return min(proposed, key=proposed.__getitem__)
    return next((rule for rule in ("tempo", "blend", reason) if rule in rules), "")


def in_words(reason: str) -> str:
    """The text of a rule or reason; the code itself if it is unknown."""
    return ", then ".join(RULES.get(rule, rule) for rule in dict.fromkeys(reason.split("+")))


def in_words_or_none(reason: str | None) -> str | None:
    """The reason of a decision in words; None before the first decision."""
    return in_words(reason or "") or None


class WhyCandidate(TypedDict):
    """A wait that a rule of the cadence proposed."""

    rule: Annotated[str, About("Reason code of the rule")]
    wait_sec: Annotated[float, About("Seconds until the next poll")]
    because: Annotated[str, About("The rule in words")]
    won: Annotated[bool, About("True for the wait that was chosen")]


def proposals(reason: str | None, candidates: Sequence[tuple[str, float]]) -> list[WhyCandidate]:
    """The candidates of a decision, and which of them won: the longest of several that a rule proposed."""
    won = winner(reason or "", candidates)
    longest = max((wait for rule, wait in candidates if rule == won), default=0.0)
    return [
        {"rule": rule, "wait_sec": wait, "because": in_words(rule), "won": (rule, wait) == (won, longest)}
        for rule, wait in candidates
    ]


def duration(seconds: float) -> str:
    """Seconds as `45 s`, `12 min`, `1 h 30 min`, `2 d 4 h`: at most two units."""
    left = round(seconds)
    if left < 60:
        return f"{left} s"
    left = 60 * round(left / 60)
    parts = []
    for size, name in _UNITS:
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts[:2])
