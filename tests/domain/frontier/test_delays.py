import pytest

from feedcrawl.domain.frontier.delays import base_delay, effective_delay


@pytest.mark.parametrize(
    ("crawl_delay", "source", "default", "expected"),
    [
        (None, None, 1_000, 1_000),
        (None, 250, 1_000, 250),
        (None, 0, 1_000, 0),
        (10, None, 1_000, 10_000),
        (10, 250, 1_000, 10_000),
        (1.0005, None, 1_000, 1_001),
        (120, None, 1_000, 120_000),
        (150, None, 1_000, 120_000),
        (3_600, None, 1_000, 120_000),
        (1e300, None, 1_000, 120_000),
        (float("inf"), None, 1_000, 120_000),
        (float("nan"), None, 1_000, 1_000),
        (-5, None, 1_000, 1_000),
        (0, None, 1_000, 1_000),
        (0.1, None, 1_000, 1_000),
        (0.1, 300_000, 1_000, 300_000),
        (240, 300_000, 1_000, 300_000),
    ],
)
def test_base_delay(crawl_delay, source, default, expected):
    assert base_delay(crawl_delay, source, default) == expected


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
    assert effective_delay(delay, doublings) == expected
