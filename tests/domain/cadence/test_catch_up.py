import random
from datetime import UTC, datetime

import pytest

from feedcrawl.domain.cadence.catch_up import HERD, Due, rests, spread, usual_rate


@pytest.mark.parametrize(
    ("due", "rate", "waits"),
    [
        ([], 1.0, []),
        ([Due("a", 900.0, 1.0)], 1.0, []),  # a handful
        ([Due("a", 900.0, 1.0)], 0.0, []),
        (
            [Due("slow", 900.0, 0.1), Due("busy", 300.0, 9.0), Due("quiet", 900.0, 0.0)],
            0.02,
            [("busy", 0.0), ("slow", 50.0), ("quiet", 100.0)],
        ),
        ([Due("b", 900.0, 1.0), Due("c", 300.0, 1.0), Due("a", 900.0, 1.0)], 0.02,
         [("c", 0.0), ("a", 50.0), ("b", 100.0)]),
    ],
)  # fmt: skip
def test_waits_of_overdue_feeds(due: list[Due], rate: float, waits: list[tuple[str, float]]) -> None:
    assert [(feed, round(wait, 6)) for feed, wait in spread(due, rate)] == waits


def test_twenty_thousand_feeds_due_in_a_second_are_spread() -> None:
    """Together with what comes due meanwhile they are at most twice the usual rate, and the best do not wait."""
    chance = random.Random(3)
    feeds = [Due(str(number), chance.uniform(900, 14_400), chance.expovariate(1)) for number in range(20_000)]
    rate = usual_rate(feed.interval_sec for feed in feeds)
    waits = dict(spread(feeds, rate))
    assert len(waits) == 20_000
    intervals = {feed.feed_id: feed.interval_sec for feed in feeds}
    minutes = [0] * 120
    for feed, wait in waits.items():
        at = wait
        while at < 7200:
            minutes[int(at // 60)] += 1
            at += intervals[feed]
    assert max(minutes) <= 2.05 * rate * 60
    best = sorted(feeds, key=lambda feed: -feed.expected)[:1000]
    assert max(waits[feed.feed_id] for feed in best) <= 1001 / rate


def test_the_usual_rate() -> None:
    assert usual_rate([10.0, 20.0]) == pytest.approx(0.15)
    assert usual_rate([0.0]) == 1.0
    assert HERD == 60


@pytest.mark.parametrize(
    ("last_fetch_at", "next_at", "expected"),
    [
        (None, None, False),  # due already
        ("2026-11-28T11:00:00.000Z", "2026-11-28T17:00:00.000Z", True),
        ("2026-11-28T11:00:00.000Z", None, True),
        ("2026-11-28T11:00:00.000Z", "2026-11-28T12:00:00.000Z", False),  # due when the run began
        ("2026-11-28T12:00:00.000Z", "2026-11-28T18:00:00.000Z", False),  # polled by the run
    ],
)
def test_a_feed_that_is_due_or_was_polled_does_not_rest(
    last_fetch_at: str | None, next_at: str | None, expected: bool
) -> None:
    assert rests(last_fetch_at, next_at, datetime(2026, 11, 28, 12, tzinfo=UTC)) is expected
