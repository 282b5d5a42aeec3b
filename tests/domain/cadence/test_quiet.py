from datetime import UTC, datetime, timedelta

import pytest

from feedcrawl.domain.cadence.arrivals import begun, learn
from feedcrawl.domain.cadence.quiet import is_quiet
from feedcrawl.domain.cadence.values import Observation, PollState
from feedcrawl.domain.cadence.week import DAY

START = datetime(2026, 10, 5, tzinfo=UTC)  # a Monday


def published(weeks: int, per_day: int, *, weekends: bool = True) -> PollState:
    """The state of a feed that was polled each hour, and had entries between 8 and 18 h."""
    known, seen = None, Observation(200, 0, 0)
    known = begun(seen, START)
    for hour in range(weeks * 7 * 24):
        now = START + timedelta(hours=hour)
        works = (weekends or now.weekday() < 5) and 8 <= now.hour < 8 + per_day
        known = learn(known, Observation(200, int(works), 10, published=(now,) if works else ()), now)
    return PollState(arrivals=known)


def quiet_after(state: PollState, **silence: float) -> bool:
    assert state.arrivals is not None
    return is_quiet(state, state.arrivals.newest + timedelta(**silence).total_seconds())


@pytest.mark.parametrize(
    ("weeks", "per_day", "silence", "expected"),
    [
        (6, 10, {"hours": 20}, False),  # a night, and less than a day
        (6, 10, {"hours": 26}, True),
        (6, 1, {"days": 4}, False),
        (6, 1, {"days": 12}, True),
        (1, 10, {"days": 3}, False),  # too young to have last weeks
    ],
)
def test_silence_is_measured_by_the_feeds_own_rate(weeks, per_day, silence, expected):
    assert quiet_after(published(weeks, per_day), **silence) is expected


def test_a_weekend_without_news_is_no_silence_where_weekends_have_none():
    office = published(8, 8, weekends=False)
    assert not quiet_after(office, days=2, hours=12)
    assert quiet_after(office, days=6)


@pytest.mark.parametrize(
    ("ewma_sec", "days", "expected"),
    [(3600.0, 6, False), (3600.0, 8, True), (3 * DAY, 8, False), (3 * DAY, 25, True), (None, 99, False)],
)
def test_without_a_profile_the_mean_gap_and_a_week_decide(ewma_sec, days, expected):
    state = PollState(ewma_sec=ewma_sec, last_arrival=0.0)
    assert is_quiet(state, days * DAY) is expected
    assert not is_quiet(PollState(ewma_sec=ewma_sec), days * DAY)
