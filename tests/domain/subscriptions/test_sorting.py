import pytest

from feedcrawl.domain.cadence.state import to_json
from feedcrawl.domain.cadence.values import PollState
from feedcrawl.domain.subscriptions.records import Feed, PollRecord, Subscription
from feedcrawl.domain.subscriptions.sorting import COLUMNS, Column, ordered


def feed(name: str, categories: tuple[str, ...] = (), errors: int = 0, **polls: object) -> Feed:
    cadence = to_json(PollState(900.0, None, errors=errors))
    subscription = Subscription(name, f"https://{name}.example/feed", categories, None, "2026-01-01T00:00:00Z")
    return Feed(subscription, PollRecord(cadence=cadence, **polls))  # type: ignore[arg-type]  # a table's values


A = feed("a", ("hills",), 2, last_result="http_503", last_fetch_at="2026-01-02T00:00:00Z", interval_sec=60.0)
B = feed("b", ("sea",), 0, last_result="fetched", last_fetch_at="2026-01-03T00:00:00Z", interval_sec=30.0)
C = feed("c")


@pytest.mark.parametrize(
    ("column", "down", "expected"),
    [
        ("feed", False, "abc"),
        ("feed", True, "cba"),
        ("category", False, "abc"),
        ("category", True, "bac"),
        ("result", False, "bac"),
        ("result", True, "abc"),
        ("polled", True, "bac"),
        ("next", False, "abc"),
        ("interval", False, "bac"),
        ("interval", True, "abc"),
        ("failures", False, "bca"),
        ("failures", True, "abc"),
    ],
)
def test_feeds_by_a_column(column: Column, expected: str, *, down: bool) -> None:
    assert "".join(each.id for each in ordered([C, A, B], column, down=down)) == expected


def test_each_column_has_a_title() -> None:
    assert all(ordered([A], column) == [A] for column in COLUMNS)
