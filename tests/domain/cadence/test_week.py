import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.cadence.week import (
    CELLS,
    DIGITS,
    FACTOR,
    FLAT,
    HALVED_EVERY,
    HOUR,
    WEEK,
    Week,
    cell_of,
    counted,
    digit_of,
    drawn,
    mean_factor,
    smooth,
    watched,
)

MONDAY = 4 * 24 * HOUR  # the epoch began on a Thursday


@pytest.mark.parametrize(("time", "cell"), [(0, 0), (3_599, 0), (3_600, 1), (WEEK - 1, 167), (WEEK, 0), (-1, 167)])
def test_cells(time, cell):
    assert cell_of(time) == cell


def test_an_arrival_counts_four_quarters_in_its_hour():
    week = counted(counted(Week(0.0), 2.5 * HOUR), 3 * HOUR)
    assert week.counts == "0044" + "0" * 164


def test_a_full_cell_halves_everything_and_the_watching_too():
    week = Week(0.0)
    for number in range(16):
        week = counted(week, number * WEEK)
    assert week.counts[0] == DIGITS[60 // 2 + 4]
    assert (week.since, week.weeks) == (15 * WEEK, 7.5)


def test_what_is_old_is_halved():
    week = counted(Week(0.0), 1.5 * HOUR)
    later = counted(week, HALVED_EVERY + 10 * HOUR)
    assert later.counts[1] == "2"
    assert later.weeks == pytest.approx((HALVED_EVERY + 10 * HOUR) / WEEK / 2)


def test_hours_watched():
    times = watched(Week(1.5 * HOUR, weeks=2.0), WEEK + 3.25 * HOUR)
    assert times[:5] == [3.0, 3.5, 4.0, 3.25, 3.0]
    assert sum(times) == pytest.approx(2 * CELLS + CELLS + 1.75)
    assert watched(Week(10.0), 5.0) == [0.0] * CELLS


@given(st.floats(-1e9, 2e9), st.floats(0, 5 * WEEK))
def test_all_of_the_time_is_watched(since, length):
    assert sum(watched(Week(since), since + length)) == pytest.approx(length / HOUR, abs=1e-3)


def test_a_feed_of_working_hours():
    week = Week(MONDAY)
    for number in range(12):
        for day in range(5):
            for hour in (9, 10, 11, 14, 15, 16):
                week = counted(week, MONDAY + number * WEEK + day * 86_400 + hour * HOUR + 600)
    week = drawn(week, MONDAY + 12 * WEEK)
    factor = [FACTOR[digit] for digit in week.shape]
    start = cell_of(MONDAY)
    assert sum(factor) / CELLS == pytest.approx(1, abs=0.1)
    assert factor[start + 10] > 3
    assert factor[start + 3] < 0.3
    assert factor[(start + 5 * 24 + 10) % CELLS] < 0.5, "a Saturday's morning"


def test_little_evidence_bends_the_week_little():
    once = drawn(counted(Week(0.0), 5 * HOUR), WEEK)
    assert max(FACTOR[digit] for digit in once.shape) < 2
    assert min(FACTOR[digit] for digit in once.shape) > 0.5
    assert drawn(Week(0.0), WEEK).shape == FLAT
    assert drawn(Week(0.0), 0.0).shape == FLAT


def test_smooth_keeps_the_sum():
    assert smooth([9.0, 0, 0, 0, 0, 0]) == [3, 2, 1, 0, 1, 2]


@given(st.floats(1e-3, 30))
def test_digits_are_near_their_factor(factor):
    assert FACTOR[digit_of(factor)] == pytest.approx(max(factor, FACTOR["0"]), rel=0.08)


def test_digits_end_somewhere():
    assert digit_of(0.0) == "0"
    assert digit_of(1e9) == DIGITS[-1]


def test_mean_factor():
    shape = digit_of(4.0) + digit_of(2.0) + FLAT[2:]
    assert mean_factor(shape, 0.0, HOUR) == pytest.approx(4, rel=0.1)
    assert mean_factor(shape, 0.5 * HOUR, 1.5 * HOUR) == pytest.approx(3, rel=0.1)
    assert mean_factor(shape, 0.0, WEEK) == 1
    assert mean_factor(shape, 7.0, 7.0) == 1
    assert mean_factor(shape, 7.0, 6.0) == 1


@pytest.mark.parametrize(
    ("start", "end"),
    [(0.0, 10.0), (1800.0, 5400.0), (167.5 * HOUR, 168.5 * HOUR), (3 * HOUR, 2 * HOUR + WEEK)],
)
def test_mean_factor_is_the_mean_of_all_seconds(start: float, end: float):
    shape = "".join(DIGITS[cell % 60] for cell in range(168))
    seconds = [2 ** ((DIGITS.index(shape[cell_of(start + at)]) - 36) / 5) for at in range(int(end - start))]
    assert mean_factor(shape, start, end) == pytest.approx(sum(seconds) / len(seconds))
