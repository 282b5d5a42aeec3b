from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.archive.retention import LAST_FETCHES, Capture, first_kept, first_that_fits, kept_since, needed

TODAY = date(2026, 11, 28)
NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)


def capture(days_ago: float, name: str, feed: str | None = None, of: str | None = None) -> Capture:
    return Capture(NOON - timedelta(days=days_ago), name, feed, of)


@pytest.mark.parametrize(("days", "expected"), [(1, date(2026, 11, 27)), (30, date(2026, 10, 29))])
def test_whole_days_are_kept(days: int, expected: date) -> None:
    assert first_kept(TODAY, days) == expected


def test_the_oldest_kept_day_is_kept_whole() -> None:
    now = datetime(2026, 11, 28, 23, 59, 59, tzinfo=UTC)
    assert kept_since(now, 30) == datetime(2026, 10, 29, tzinfo=UTC)


@pytest.mark.parametrize(
    ("captures", "expected"),
    [
        ([], set()),
        ([capture(9, "page")], set()),
        ([capture(9, "old", "f")], {"old"}),
        ([capture(99 - n, str(n), "f") for n in range(8)], {"3", "4", "5", "6", "7"}),
        ([capture(99 - n, str(n), "f") for n in reversed(range(8))], {"3", "4", "5", "6", "7"}),
        ([capture(9, "a", "f")] * 3 + [capture(10 + n, str(n), "f") for n in range(4)], {"a", "0", "1", "2", "3"}),
        ([capture(9, "a"), capture(1, "b", of="a")], {"a"}),  # a page that has not changed since
        ([capture(9, "a"), capture(8, "b", of="a")], set()),
        ([capture(9, "a", "f")] + [capture(8 - n, str(n), "f", "a") for n in range(5)], {"a", "0", "1", "2", "3", "4"}),
        ([capture(9, "a", "f"), capture(9, "b", "g")], {"a", "b"}),
    ],
)
def test_captures_that_are_still_needed_stay(captures: list[Capture], expected: set[str]) -> None:
    assert needed(captures, first_kept(TODAY, 3)) == expected


@given(st.lists(st.tuples(st.integers(0, 60), st.sampled_from(["f", "g", None]), st.integers(0, 20) | st.none())))
def test_the_last_of_each_feed_stay_in_whatever_order_they_come(
    found: list[tuple[int, str | None, int | None]],
) -> None:
    captures = [
        capture(days, str(n), feed, None if of is None else f"o{of}") for n, (days, feed, of) in enumerate(found)
    ]
    stays = needed(captures, first_kept(TODAY, 30))
    assert stays == needed(captures[::-1], first_kept(TODAY, 30))
    for feed in "fg":
        mine = sorted(each for each in captures if each.feed_id == feed)[-LAST_FETCHES:]
        assert {each.fetch_id for each in mine} | {each.refers_to for each in mine if each.refers_to} <= stays
    for each in captures:
        assert not each.refers_to or each.at.date() < first_kept(TODAY, 30) or each.refers_to in stays


@pytest.mark.parametrize(
    ("sizes", "limit", "days_ago"),
    [
        ({}, 10, 0),
        ({0: 50}, 10, 0),  # today is kept in any case
        ({0: 50, 1: 1}, 10, 0),
        ({0: 1, 1: 4, 2: 4}, 10, 2),
        ({0: 1, 1: 4, 2: 6}, 10, 1),
        ({0: 1, 1: 4, 2: 6, 9: 1}, 10, 1),  # whole days, the oldest first, though an older one alone would fit
        ({0: 2, 5: 8}, 10, 5),
        ({0: 2, 5: 8}, 0, 0),
    ],
)
def test_the_newest_days_that_fit_are_kept(sizes: dict[int, int], limit: int, days_ago: int) -> None:
    by_day = {TODAY - timedelta(days=ago): size for ago, size in sizes.items()}
    assert first_that_fits(by_day, limit, TODAY) == TODAY - timedelta(days=days_ago)
