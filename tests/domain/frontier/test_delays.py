import pytest

from feedcrawl.domain.frontier.delays import base_delay_sec, effective_delay_ms


@pytest.mark.parametrize(
    ("crawl_delay_sec", "own_sec", "longest_sec", "expected"),
    [
        (10.0, 1.0, 120.0, 10.0),
        (0.1, 1.0, 120.0, 1.0),
        (150.0, 1.0, 120.0, 120.0),
        (1e300, 1.0, 300.0, 300.0),
        (240.0, 300.0, 120.0, 300.0),
    ],
)
def test_base_delay(crawl_delay_sec: float, own_sec: float, longest_sec: float, expected: float) -> None:
    assert base_delay_sec(crawl_delay_sec, own_sec, longest_sec) == expected


@pytest.mark.parametrize(
    ("doublings", "delay", "expected"),
    [
        (0, 1_000, 1_000),
        (3, 1_000, 8_000),
        (7, 1_000, 120_000),
        (7, 200, 25_600),
        (1, 90_000, 120_000),
        (2, 200_000, 200_000),
    ],
)
def test_effective_delay(doublings, delay, expected):
    assert effective_delay_ms(delay, doublings) == expected
