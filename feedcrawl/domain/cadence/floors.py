"""The publisher's hints about the next poll, as floors under the wait of every policy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.cadence.skip_windows import DAYS, HOURS
from feedcrawl.domain.cadence.values import DAY_SEC, MIN_UPDATE_PERIOD_SEC, Candidate
from feedcrawl.domain.publisher_hints import PublisherHints

if TYPE_CHECKING:
    from feedcrawl.domain.cadence.values import Observation, PollState

_NONE: Final = PublisherHints()


def with_hints(state: PollState, seen: Observation) -> PollState:
    """The state with the hints of a successful poll, which also resets the count of consecutive errors.

    A poll without a parsed document (304, equal body) keeps the hints of the last document unless it brings new ones. A
    304 without Cache-Control keeps the stored freshness (RFC 9111, 3.2 and 4.3.4); every other response replaces it.
    """
    read = bool(seen.new_entries or seen.known_entries) or seen.hints != _NONE
    fresh = seen.status != 304 or seen.max_age_sec is not None
    if not read and not fresh and not state.errors:
        return state
    return replace(
        state,
        errors=0,
        hints=believable(seen.hints) if read else state.hints,
        max_age_sec=within_a_day(seen.max_age_sec) if fresh else state.max_age_sec,
    )


def believable(hints: PublisherHints) -> PublisherHints:
    """The hints without meaningless values: waits of at most a day, hours and days that exist."""
    ttl, period = within_a_day(hints.ttl_minutes, unit_sec=60), within_a_day(hints.update_period_sec)
    return PublisherHints(
        ttl_minutes=None if ttl is None else int(ttl),
        skip_hours=hints.skip_hours.intersection(HOURS),
        skip_days=hints.skip_days.intersection(DAYS),
        update_period_sec=None if period is None else int(period),
    )


def within_a_day(value: float | None, *, unit_sec: float = 1.0) -> float | None:
    """A duration of at most a day; None if it is not positive."""
    return min(value, DAY_SEC / unit_sec) if value is not None and value > 0 else None


def floors(state: PollState) -> tuple[Candidate, ...]:
    """Least waits in seconds, by rule.

    `ttl` is the element of RSS 2.0, `max-age` the freshness of HTTP, `update-period` that of the syndication module,
    where publishers write less than ten minutes by mistake.
    """
    ttl, period = state.hints.ttl_minutes, state.hints.update_period_sec
    published = (
        ("ttl", ttl and 60.0 * ttl),
        ("update-period", period and max(period, MIN_UPDATE_PERIOD_SEC)),
        ("max-age", state.max_age_sec),
    )
    return tuple(Candidate(rule, float(wait)) for rule, wait in published if wait)


def retry_after(seen: Observation) -> Candidate | None:
    """The wait that a 429 or 503 requests (RFC 9110, 10.2.3), at most a day; None without Retry-After."""
    wait_sec = seen.retry_after_sec
    if seen.status not in (429, 503) or wait_sec is None or not wait_sec > 0:
        return None
    return Candidate("retry-after", min(wait_sec, DAY_SEC))
