"""What the publisher says about when to come again, as floors under every policy's wait."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from feedcrawl.domain.cadence.skip_windows import DAYS, HOURS
from feedcrawl.domain.cadence.values import DAY_SEC, MIN_UPDATE_PERIOD_SEC, Candidate
from feedcrawl.domain.models import PublisherHints

if TYPE_CHECKING:
    from feedcrawl.domain.cadence.values import Observation, PollState


def heard(state: PollState, seen: Observation) -> PollState:
    """The state with the hints of a successful poll, which ends a row of errors.

    A poll that read no entries (304, equal body) leaves the document's hints standing unless it brings some. A 304
    without Cache-Control leaves the freshness as it was (RFC 9111, 3.2 and 4.3.4); any other answer replaces it.
    """
    read = bool(seen.new_entries or seen.known_entries) or seen.hints != PublisherHints()
    fresh = seen.status != 304 or seen.max_age_sec is not None
    return replace(
        state,
        errors=0,
        hints=believable(seen.hints) if read else state.hints,
        max_age_sec=within_a_day(seen.max_age_sec) if fresh else state.max_age_sec,
    )


def believable(hints: PublisherHints) -> PublisherHints:
    """The hints without what means nothing: each wait a day at most, hours and days that exist."""
    ttl, period = within_a_day(hints.ttl_minutes, unit_sec=60), within_a_day(hints.update_period_sec)
    return PublisherHints(
        ttl_minutes=None if ttl is None else int(ttl),
        skip_hours=hints.skip_hours.intersection(HOURS),
        skip_days=hints.skip_days.intersection(DAYS),
        update_period_sec=None if period is None else int(period),
    )


def within_a_day(value: float | None, *, unit_sec: float = 1.0) -> float | None:
    """A duration, at most a day; None where nothing positive was said."""
    return min(value, DAY_SEC / unit_sec) if value is not None and value > 0 else None


def floors(state: PollState) -> tuple[Candidate, ...]:
    """Waits in seconds that the publisher asks for at least.

    `ttl` is RSS 2.0's, `max-age` HTTP's, `update-period` that of the syndication module, where less than ten minutes
    has been seen to be a mistake.
    """
    ttl, period = state.hints.ttl_minutes, state.hints.update_period_sec
    said = (
        ("ttl", ttl and 60.0 * ttl),
        ("update-period", period and max(period, MIN_UPDATE_PERIOD_SEC)),
        ("max-age", state.max_age_sec),
    )
    return tuple(Candidate(rule, float(wait)) for rule, wait in said if wait)


def retry_after(seen: Observation) -> Candidate | None:
    """The wait that a 429 or 503 asks for (RFC 9110, 10.2.3), at most a day; None where it asks for none."""
    asked = seen.retry_after_sec
    if seen.status not in (429, 503) or asked is None or not asked > 0:
        return None
    return Candidate("retry-after", min(asked, DAY_SEC))
