import pytest
from host_pace import (
    Pace,
    answered,
    effective_delay,
    pause_ms,
    paused,
    reserve,
    reserve_with_domain,
    throttled,
)
from hypothesis import given
from hypothesis import strategies as st

DAY = 86_400_000


@pytest.mark.parametrize(
    ("tat", "now", "delay", "expected"),
    [
        (0, 5_000, 1_000, (5_000, 6_000)),
        (6_000, 5_000, 1_000, (6_000, 7_000)),
        (5_000, 5_000, 1_000, (5_000, 6_000)),
        (5_500, 5_000, 0, (5_500, 5_500)),
    ],
)
def test_reserve(tat, now, delay, expected):
    assert reserve(tat, now, delay) == expected


@pytest.mark.parametrize(
    ("tats", "now", "delays", "expected"),
    [
        ((0, 0), 5_000, (1_000, 250), (5_000, (6_000, 5_250))),
        ((6_000, 5_100), 5_000, (1_000, 250), (6_000, (7_000, 6_250))),
        ((5_100, 6_000), 5_000, (1_000, 250), (6_000, (7_000, 6_250))),
        ((0, 5_000), 5_000, (0, 9_000), (5_000, (5_000, 14_000))),
    ],
    ids=["both free", "the host waits", "its domain waits", "a domain slower than its host"],
)
def test_a_turn_counts_for_the_host_and_its_domain(tats, now, delays, expected):
    assert reserve_with_domain(tats, now, delays) == expected


@given(st.lists(st.integers(0, 3_000), max_size=50), st.integers(0, 5_000))
def test_requests_keep_the_delay_and_wait_no_longer(steps, delay):
    tat = now = last = 0
    for number, step in enumerate(steps):
        now += step
        allowed, tat = reserve(tat, now, delay)
        assert allowed == (max(now, last + delay) if number else now)
        last = allowed


def test_paused():
    assert paused(0, 5_000, 30_000) == 35_000
    assert paused(99_000, 5_000, 30_000) == 99_000


def test_a_429_doubles_the_delay_and_ten_successes_halve_it():
    pace, got = throttled(throttled(Pace())), []
    for _ in range(25):
        got.append(effective_delay(pace, 1_000))
        pace = answered(pace)
    assert got == [4_000] * 10 + [2_000] * 10 + [1_000] * 5
    assert pace == Pace()


def test_a_429_in_between_starts_the_count_anew():
    pace = throttled(Pace())
    for _ in range(9):
        pace = answered(pace)
    assert pace == Pace(1, 9, 0)
    assert throttled(pace) == Pace(2, 0, 1)


@given(st.lists(st.booleans(), max_size=200), st.integers(0, 300_000))
def test_the_delay_stays_between_its_base_and_the_cap(answers, delay):
    pace = Pace()
    for good in answers:
        pace = answered(pace) if good else throttled(pace)
        assert delay <= effective_delay(pace, delay) <= max(delay, 120_000)
        assert 0 <= pace.doublings <= 7
        assert 0 <= pace.good < 10


def test_pauses_without_retry_after():
    pace, got = Pace(), []
    for _ in range(9):
        got.append(pause_ms(pace, None))
        pace = throttled(pace)
    assert got == [30_000, 60_000, 120_000, 240_000, 480_000, 960_000, 1_920_000, 3_600_000, 3_600_000]
    assert pause_ms(answered(pace), None) == 30_000


@pytest.mark.parametrize(
    ("retry_after", "expected"), [(120_000, 120_000), (1_000, 1_000), (10**15, DAY), (0, 30_000), (-5_000, 30_000)]
)
def test_retry_after_is_kept(retry_after, expected):
    assert pause_ms(Pace(), retry_after) == expected
