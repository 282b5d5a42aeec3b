from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.cadence.week import (
    CELLS,
    CELLS_BEFORE,
    DAY,
    DAY_0,
    FACTOR,
    HALVED_EVERY,
    HOUR,
    HOURS,
    MAX_SUM,
    PART_0,
    USUAL,
    WEEK,
    Week,
    after,
    cells_of,
    digits,
    likely_day,
    mean_factor,
    of_hours_of_week,
    profile,
    smooth,
    watched,
)

MONDAY = 4 * DAY  # the epoch began on a Thursday
FLAT = digits([1.0] * CELLS)


def factors(week):
    return [FACTOR[digit] for digit in week.shape]


@pytest.mark.parametrize(
    ("time", "cells"),
    [
        (0, (0, 24, 31)),
        (299, (0, 24, 31)),
        (300, (0, 24, 32)),
        (3_599, (0, 24, 42)),
        (3_600, (1, 24, 31)),
        (DAY, (0, 25, 31)),
        (WEEK - 1, (23, 30, 42)),
        (WEEK, (0, 24, 31)),
        (-1, (23, 30, 42)),
    ],
)
def test_cells(time, cells):
    assert cells_of(time) == cells


def test_an_arrival_counts_four_quarters_in_three_cells():
    week = after(Week(0.0), [2.5 * HOUR, 3 * HOUR], 3 * HOUR)
    assert {cell: count for cell, count in enumerate(week.counts) if count} == {2: 4, 3: 4, 24: 8, 31: 4, 37: 4}


def test_many_arrivals_halve_all_counts_and_the_observed_time():
    week = after(Week(0.0, 1.0), [0.0] * (MAX_SUM // 4), 2 * WEEK)
    assert (week.counts[0], week.since, week.weeks) == (MAX_SUM, 0.0, 1.0)
    later = after(week, [HOUR], 3 * WEEK)
    assert (later.counts[0], later.counts[1], later.since, later.weeks) == (MAX_SUM // 2, 2, 3 * WEEK, 2.0)


def test_old_counts_are_halved():
    week = after(Week(0.0), [1.5 * HOUR], 2 * HOUR)
    later = after(week, [], HALVED_EVERY + 10 * HOUR)
    assert later.counts[1] == 2
    assert later.weeks == pytest.approx((HALVED_EVERY + 10 * HOUR) / WEEK / 2)


def test_hours_watched():
    times = watched(1.5 * HOUR, 14.0, WEEK + 3.25 * HOUR, HOUR, 24)
    assert times[:5] == [21.0, 21.5, 22.0, 21.25, 21.0]
    assert watched(10.0, 0.0, 5.0, HOUR, 24) == [0.0] * 24


@given(st.floats(-1e9, 2e9), st.floats(0, 5 * WEEK))
def test_all_of_the_time_is_watched(since, length):
    assert sum(watched(since, 0.0, since + length, HOUR, 24)) == pytest.approx(length / HOUR, abs=1e-3)
    assert sum(watched(since, 0.0, since + length, DAY, 7)) == pytest.approx(length / DAY, abs=1e-3)


def test_a_feed_of_working_hours():
    times = [
        MONDAY + number * WEEK + day * DAY + hour * HOUR + 600
        for number in range(12)
        for day in range(5)
        for hour in (9, 10, 11, 14, 15, 16)
    ]
    week = after(Week(MONDAY), times, MONDAY + 12 * WEEK)
    factor = factors(week)
    assert factor[10] > 2.5
    assert factor[3] < 0.1
    assert factor[DAY_0 + 2] < 0.1, "Saturday"
    assert factor[DAY_0 + 4] == pytest.approx(1.4, rel=0.1)
    assert factor[PART_0 + 2] > 9, "always ten minutes past"
    assert max(factor[PART_0 + 3 :]) < 0.25


def test_a_new_feed_follows_the_usual_week():
    assert Week(0.0).shape == USUAL == profile([0] * CELLS, 0.0, 0.0, WEEK) == profile([0] * CELLS, 0.0, 0.0, 0.0)
    once = after(Week(0.0), [5 * HOUR], WEEK)
    assert factors(once)[5] > factors(Week(0.0))[5]
    assert max(factors(once)[PART_0:]) < 2, "little evidence bends the week little"


def test_the_likely_day_without_arrivals_is_that_of_all_zones():
    day = likely_day([0.0] * HOURS)
    assert sum(day) / HOURS == pytest.approx(1)
    assert [round(day[hour], 2) for hour in (3, 9, 14, 20)] == [0.64, 1.07, 1.31, 1.11]


@pytest.mark.parametrize(
    ("hours", "day"),  # the expected day at 3, 9, 14 and 20 o'clock
    [
        ((14,), [0.52, 1.11, 1.54, 1.04]),
        ((9, 10, 10, 12, 15), [0.31, 2.04, 1.58, 0.61]),
        ((1, 2, 2, 3, 4, 4), [1.79, 0.76, 0.46, 0.79]),
        (range(24), [0.96, 1.01, 1.04, 1.01]),
    ],
)
def test_arrivals_show_the_zone_of_a_publisher(hours, day):
    found = likely_day([float(list(hours).count(hour)) for hour in range(HOURS)])
    assert [round(found[hour], 2) for hour in (3, 9, 14, 20)] == day


def test_a_publisher_of_another_zone_is_expected_at_its_hours_after_three_days():
    morning = [MONDAY + day * DAY + (hour - 10) * HOUR for day in (1, 2, 3) for hour in (10, 12, 15)]
    factor = factors(after(Week(MONDAY), morning, MONDAY + 3 * DAY))
    assert factor[4] > 2 * factor[14], "the afternoon of Asia is expected, though none of the arrivals came then"


def test_counts_of_hours_of_the_week_are_read():
    counts = [0] * CELLS_BEFORE
    counts[26], counts[50], counts[51] = 4, 8, 4
    week = of_hours_of_week(counts, 0.0, 2.0, WEEK)
    assert {cell: count for cell, count in enumerate(week.counts) if count} == {2: 12, 3: 4, 25: 4, 26: 12}
    assert week.shape[PART_0:] == FLAT[PART_0:]
    assert factors(week)[2] > factors(week)[12]


def test_smooth_keeps_the_sum():
    assert smooth([9.0, 0, 0, 0, 0, 0]) == [3, 2, 1, 0, 1, 2]


@given(st.floats(0.05, 30))
def test_digits_are_near_their_factor(factor):
    found = [FACTOR[digit] for digit in digits([factor, 1.0, 1.0])]
    assert found[0] / found[1] == pytest.approx(factor, rel=0.16)


def test_digits_end_somewhere():
    assert digits([0.0, 1e9]) == "0" + digits([0.0, 2.0])[1]
    assert digits([1e9] + [0.0] * 99) == "_" + "0" * 99


def test_mean_factor():
    week = replace(Week(0.0), shape=digits([4.0, 2.0] + [18 / 22] * 22) + FLAT[DAY_0:])
    assert mean_factor(week.shape, 0.0, HOUR) == pytest.approx(4, rel=0.1)
    assert mean_factor(week.shape, 0.5 * HOUR, 1.5 * HOUR) == pytest.approx(3, rel=0.1)
    assert mean_factor(week.shape, 0.0, WEEK) == 1
    assert mean_factor(week.shape, 7.0, 7.0) == 1
    assert mean_factor(week.shape, 7.0, 6.0) == 1


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (0.0, 10.0),
        (1800.0, 5400.0),
        (167.5 * HOUR, 168.5 * HOUR),
        (3 * HOUR, 2 * HOUR + DAY),
        (6 * DAY, WEEK),
        (WEEK, WEEK + DAY),
        (2 * DAY + 61.0, 8 * DAY + 17.0),
    ],
)
def test_mean_factor_is_the_mean_of_all_seconds(start: float, end: float):
    factor = [FACTOR[digit] for digit in USUAL]
    cells = [cells_of(start + at) for at in range(int(end - start))]
    assert mean_factor(USUAL, start, end) == pytest.approx(
        sum(factor[hour] * factor[day] for hour, day, _ in cells) / len(cells)
    )
