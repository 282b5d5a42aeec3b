from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.cadence.skip_windows import DAYS, after_skip_window
from feedcrawl.domain.publisher_hints import PublisherHints

FRIDAY_NOON = datetime(2026, 11, 27, 12, 18, 45, tzinfo=UTC)


@pytest.mark.parametrize(
    ("hours", "days", "expected"),
    [
        (set(), set(), "2026-11-27T12:18:45"),
        ({12}, set(), "2026-11-27T13:00:00"),
        ({13, 14}, set(), "2026-11-27T12:18:45"),
        ({12, 13, 14}, set(), "2026-11-27T15:00:00"),
        (set(range(12, 24)), set(), "2026-11-28T00:00:00"),
        (set(range(24)) - {11}, set(), "2026-11-28T11:00:00"),
        (set(), {"Fri"}, "2026-11-28T00:00:00"),
        (set(), {"Fri", "Sat", "Sun"}, "2026-11-30T00:00:00"),
        ({0, 1}, {"Fri", "Sat", "Sun"}, "2026-11-30T02:00:00"),
        (set(range(12, 24)), {"Sat"}, "2026-11-29T00:00:00"),
        (set(range(24)), set(), "2026-11-27T12:18:45"),
        (set(range(24)), {"Fri"}, "2026-11-28T00:00:00"),
        (set(), set(DAYS), "2026-11-27T12:18:45"),
        ({12}, set(DAYS), "2026-11-27T13:00:00"),
        ({99, -1}, {"Freitag"}, "2026-11-27T12:18:45"),
    ],
)
def test_skip_windows(hours, days, expected):
    hints = PublisherHints(skip_hours=frozenset(hours), skip_days=frozenset(days))
    assert after_skip_window(FRIDAY_NOON, hints) == datetime.fromisoformat(expected).replace(tzinfo=UTC)


@given(
    st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    st.frozensets(st.integers(0, 23), max_size=23),
    st.frozensets(st.sampled_from(DAYS), max_size=6),
)
def test_the_first_moment_outside(at, hours, days):
    hints = PublisherHints(skip_hours=hours, skip_days=days)
    after = after_skip_window(at, hints)
    assert after >= at
    assert after.hour not in hours
    assert DAYS[after.weekday()] not in days
    assert after_skip_window(after, hints) == after
    assert after == at or after.minute == after.second == after.microsecond == 0
