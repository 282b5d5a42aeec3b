from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.cadence.arrivals import (
    PRIOR_RATE,
    Arrivals,
    arrival_times,
    batch_size,
    begun,
    learn,
    rates,
)
from feedcrawl.domain.cadence.values import SCALES_SEC, Observation
from feedcrawl.domain.cadence.week import DAY, HOUR

NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
AT = NOW.timestamp()
NOTHING = Observation(304, 0, 0)


def ago(*hours):
    return tuple(NOW - timedelta(hours=count) for count in hours)


def after(hours):
    return NOW + timedelta(hours=hours)


def per_day(known):
    return [rate * DAY for rate in rates(known)]


def document(*hours, new=None):
    return Observation(200, len(hours) if new is None else new, 0 if new is None else len(hours) - new, ago(*hours))


def test_a_first_document_is_watched_since_its_oldest_date():
    known = learn(None, document(0, 24, 48, 72), NOW)
    assert known.week.since == AT - 72 * HOUR
    assert known.counts[0] == pytest.approx(3, rel=0.03), "the oldest one began it"
    assert known.exposure[0] == pytest.approx(1.18 * 72 * HOUR, rel=0.03), "working days count more than the mean day"
    assert per_day(known)[0] == pytest.approx(3.5 / (1.18 * 3 + 2), rel=0.03)
    assert known.recent == (AT - 48 * HOUR, AT - 24 * HOUR, AT)


def test_known_entries_of_a_first_document_count_too():
    hours = range(0, 480, 24)
    assert learn(None, document(*hours, new=2), NOW) == learn(None, document(*hours), NOW)


@pytest.mark.parametrize(
    "seen",
    [
        NOTHING,
        Observation(200, 20, 0),
        Observation(200, 20, 0, ago(*[-5] * 20)),
        document(*[30] * 20),
        document(30, 30.01, 30.02),
    ],
)
def test_a_first_document_without_dates_leaves_the_prior(seen):
    known = learn(None, seen, NOW)
    assert (known.counts[0], known.entries, known.recent) == (0, 0, ())
    assert per_day(known)[0] <= PRIOR_RATE * DAY
    assert batch_size(known) == 1


def test_entries_that_arrive_together_are_a_single_arrival():
    known = learn(None, document(0, 0.1, 0.2, 24, 24.1, 48), NOW)
    assert known.counts[0] == pytest.approx(2, rel=0.03)
    assert batch_size(known) == pytest.approx(2, rel=0.03)


def test_a_silent_feed_fades_and_a_burst_is_seen_at_once():
    steady = learn(None, document(*range(0, 480, 24)), NOW)
    silent = learn(steady, NOTHING, after(24 * 30))
    assert per_day(silent)[0] < per_day(steady)[0]
    assert per_day(silent)[1] < 0.3 * per_day(steady)[1]
    burst = learn(steady, document(-2.9, -2.4, -1.9, -1.4, -0.9, *range(0, 360, 24), new=5), after(3))
    assert rates(burst)[3] > 3 * rates(burst)[0]
    assert rates(burst)[3] > 3 * rates(steady)[3]


def test_polling_more_often_teaches_the_same():
    often = rarely = learn(None, document(*range(0, 480, 24)), NOW)
    for step in range(1, 241):
        often = learn(often, NOTHING, after(step))
    rarely = learn(rarely, NOTHING, after(240))
    assert often.counts == pytest.approx(rarely.counts, rel=1e-6)
    assert often.exposure[:3] == pytest.approx(rarely.exposure[:3], rel=0.2)


@pytest.mark.parametrize(
    ("published", "new", "expected"),
    [
        (ago(0, 1, 30), 2, [-1, 0]),
        (ago(30, 1, 0), 2, [-1, 0]),
        (ago(0, 15), 2, [-5, 0]),  # it was not there ten hours ago: halfway
        (ago(1), 3, [-5, -5, -1]),
        ((), 1, [-5]),
        (ago(-20, 1), 2, [-5, -1]),
        (ago(1, 2, 3), 0, []),
        (ago(1, 2, 3), -1, []),
    ],
)
def test_when_entries_became_visible(published, new, expected):
    known = Arrivals(AT - 10 * HOUR)
    times = arrival_times(known, Observation(200, new, 5, published), NOW)
    assert times == [AT + hours * HOUR for hours in expected]


def test_the_window():
    known = learn(None, document(*range(20)), NOW)
    assert known.window == 20
    assert learn(known, NOTHING, after(1)).window == 20
    assert learn(known, Observation(200, 1, 2), after(1)).window == 10, "a short document may only be young"


def test_a_clock_that_goes_back_does_no_harm():
    known = learn(None, document(*range(20)), NOW)
    back = learn(known, document(*range(20), new=1), after(-5))
    assert back.at == known.at
    assert back.exposure == known.exposure


times = st.floats(0, 3e9).map(lambda time: datetime.fromtimestamp(time, UTC))


@given(st.lists(times, max_size=30), st.integers(0, 5_000), st.floats(0, 400 * DAY), st.integers(0, 30))
def test_rates_are_always_positive_and_finite(published, new, gap, later_new):
    known = learn(None, Observation(200, new, 0, tuple(published)), NOW)
    known = learn(known, Observation(200, later_new, 3, tuple(published)), NOW + timedelta(seconds=gap))
    assert all(0 < rate < 1 for rate in rates(known))
    assert 0 < batch_size(known) < 6_000
    assert len(known.counts) == len(known.exposure) == len(SCALES_SEC)
    assert replace(known) == known
    assert begun(NOTHING, NOW).at == AT
