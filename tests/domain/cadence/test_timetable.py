import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.cadence.timetable import PERIODS, find_period, fitted, fullest_arc, has_lapsed, next_slot

HOUR, DAY, WEEK = 3_600, 86_400, 604_800


@pytest.mark.parametrize("period", PERIODS)
@pytest.mark.parametrize("count", [5, 9, 16])
def test_regular_publishers_are_found(period, count):
    late = random.Random(period)
    times = tuple(1e9 + number * period + late.uniform(0, 0.05 * period) for number in range(count))
    assert find_period(times) == period


def test_a_third_of_the_slots_may_be_missing_or_off_time():
    times = tuple(1e9 + number * HOUR for number in range(20) if number % 3)
    assert find_period(times) == HOUR
    strays = tuple(sorted((*times, 1e9 + 5_000, 1e9 + 40_000)))
    assert find_period(strays[-16:]) == HOUR


@pytest.mark.parametrize("count", [5, 7, 9, 10, 16])
def test_noise_is_rarely_taken_for_a_timetable(count):
    found = 0
    for seed in range(200):
        chance, time, times = random.Random(seed), 0.0, []
        for _ in range(count):
            time += chance.expovariate(1 / 5_000)
            times.append(time)
        found += bool(find_period(tuple(times)))
    assert found <= 10


@pytest.mark.parametrize("recent", [(), (1.0,), (1.0, 3_601.0), (5.0,) * 16, tuple(range(16))])
def test_too_little_or_all_at_once_is_no_timetable(recent):
    assert find_period(recent) == 0


def test_a_timetable_is_fitted_to_arrivals():
    table = fitted((100.0, 3_700.0, 7_310.0, 10_900.0, 14_500.0), HOUR)
    assert (table.period, table.anchor, table.hits) == (HOUR, 14_500.0, 1.0)
    assert table.offsets == (0, 0, 0, 0, 10)
    assert table.trust == 5 / 7
    assert fitted((100.0, 3_700.0, 7_310.0, 10_900.0, 14_500.0), 0) is None
    assert fitted((100.0, 3_700.0, 7_310.0, 10_900.0, 14_500.0), 900) is None, "one slot in four is too few"


@pytest.mark.parametrize(
    ("phases", "width", "expected"),
    [
        ([0, 5, 50, 95], 12, (95, 100, 105)),
        ([10, 20, 80], 10, (10, 20)),
        ([1, 2, 3], 100, (1, 2, 3)),
        ([7], 0, (7,)),
    ],
)
def test_fullest_arc(phases, width, expected):
    assert fullest_arc(phases, 100, width) == expected


HOURLY = fitted(tuple(1e9 + number * HOUR + 30 * (number % 2) for number in range(16)), HOUR)
LAST = HOURLY.anchor


@pytest.mark.parametrize(
    ("since", "price", "low", "high"),
    [
        (25, 60, 3_500, 3_660),  # a poll a slot, or two
        (1_800, 60, 1_750, 1_830),
        (25, 10 * HOUR, 2.5 * HOUR, 5.1 * HOUR),  # a few slots together
        (25, 3_000 * HOUR, 40 * HOUR, 200 * HOUR),
    ],
)
def test_polls_come_just_behind_an_expected_arrival(since, price, low, high):
    wait = next_slot(HOURLY, LAST + since, LAST, price)
    assert low <= wait <= high
    assert 0 <= (since + wait + 30) % HOUR <= 120


def test_the_dearer_the_poll_the_longer_the_wait():
    waits = [next_slot(HOURLY, LAST + 60, LAST, 4.0**power) for power in range(14)]
    assert waits == sorted(waits)


def test_a_slot_that_has_not_been_served_is_waited_for():
    wait = next_slot(HOURLY, LAST + HOUR - 100, LAST, 60)
    assert wait < 160
    served = next_slot(HOURLY, LAST + HOUR - 100, LAST + HOUR - 120, 60)
    assert served > HOUR


@given(
    st.lists(st.floats(0, 4 * WEEK), min_size=5, max_size=16).map(lambda times: tuple(sorted(times))),
    st.sampled_from(PERIODS),
    st.floats(0, 52 * WEEK),
    st.floats(1, 1e9),
)
def test_there_is_always_a_next_slot(times, period, since, price):
    table = fitted(times, period)
    if table:
        wait = next_slot(table, times[-1] + since, times[-1], price)
        assert 0 < wait < 1e9


@pytest.mark.parametrize(
    ("gaps", "silent", "expected"),
    [
        ([HOUR] * 15, 24 * HOUR, False),
        ([HOUR] * 15, 24 * HOUR + 1, True),
        ([HOUR] * 10 + [14 * HOUR] + [HOUR] * 5, 41 * HOUR, False),  # nights are no silence
        ([HOUR] * 10 + [14 * HOUR] + [HOUR] * 5, 48 * HOUR, True),
        ([DAY] * 15, 23 * DAY, False),
        ([DAY] * 15, 25 * DAY, True),
    ],
)
def test_a_timetable_is_of_the_past_after_a_long_silence(gaps, silent, expected):
    times = [1e9]
    for gap in gaps:
        times.append(times[-1] + gap)
    table = fitted(tuple(times), min(gaps))
    assert has_lapsed(table, tuple(times), times[-1] + silent) is expected
