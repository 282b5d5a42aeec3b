import pytest

from feedcrawl.domain.frontier.outage import LONGEST_SEC, OF_THE_WAY, over_budget, step
from feedcrawl.domain.frontier.outcome import FAILURES


@pytest.mark.parametrize(
    ("since", "now", "failed", "asked", "expected"),
    [
        (None, 5.0, 9, 9, None),
        (None, 5.0, 5, 11, None),
        (None, 5.0, 5, 10, 5.0),
        (None, 5.0, 10, 10, 5.0),
        (5.0, 60.0, 10, 20, 5.0),
        (5.0, 60.0, 9, 20, None),
        (5.0, 60.0, 8, 9, None),  # fewer than ten, and one has answered
        (5.0, 60.0, 9, 9, 5.0),
        (5.0, 60.0, 0, 0, 5.0),  # nobody was asked
        (5.0, 5.0 + LONGEST_SEC, 10, 20, 5.0),
        (5.0, 6.0 + LONGEST_SEC, 10, 20, None),  # others answer all along
        (5.0, 9999.0, 20, 20, 5.0),
    ],
)
def test_when_it_is_our_own(since, now, failed, asked, expected):
    assert step(since, now, failed=failed, asked=asked) == expected


def test_only_failures_of_the_way_are_evidence():
    assert {name for name, outcome in FAILURES.items() if outcome.kind == "unreachable"} == OF_THE_WAY


@pytest.mark.parametrize(
    ("failures", "total", "expected"),
    [(0, 0, False), (9, 9, False), (4, 10, False), (5, 10, True), (50, 101, False), (51, 101, True)],
)
def test_over_budget(failures, total, expected):
    assert over_budget(failures, total) is expected
