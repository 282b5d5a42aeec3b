import pytest

from feedcrawl.domain.frontier.outage import LONGEST_SEC, OF_A_LOST_NETWORK, OF_OWN_NETWORK, over_budget, step
from feedcrawl.domain.frontier.outcome import FAILURES


@pytest.mark.parametrize(
    ("since", "now", "failed", "requested", "expected"),
    [
        (None, 5.0, 9, 9, None),
        (None, 5.0, 5, 11, None),
        (None, 5.0, 5, 10, 5.0),
        (None, 5.0, 10, 10, 5.0),
        (5.0, 60.0, 10, 20, 5.0),
        (5.0, 60.0, 9, 20, None),
        (5.0, 60.0, 8, 9, None),  # fewer than ten, and one has answered
        (5.0, 60.0, 9, 9, 5.0),
        (5.0, 60.0, 0, 0, 5.0),  # nobody was requested
        (5.0, 5.0 + LONGEST_SEC, 10, 20, 5.0),
        (5.0, 6.0 + LONGEST_SEC, 10, 20, None),  # others answer all along
        (5.0, 9999.0, 20, 20, 5.0),
    ],
)
def test_an_outage_of_our_own_network_begins_and_ends(since, now, failed, requested, expected):
    assert step(since, now, failed=failed, requested=requested) == expected


@pytest.mark.parametrize(
    ("since", "failed", "requested", "lost", "expected"),
    [
        (None, 2, 2, 2, None),
        (None, 3, 3, 3, 5.0),
        (None, 9, 9, 9, 5.0),
        (None, 3, 4, 3, None),  # one host responds
        (None, 3, 3, 2, None),  # one fails by TLS or a time-out
        (1.0, 3, 3, 0, 1.0),
        (1.0, 2, 3, 2, None),
    ],
)
def test_few_hosts_suffice_where_all_connections_are_lost(since, failed, requested, lost, expected):
    assert step(since, 5.0, failed=failed, requested=requested, lost=lost) == expected
    assert OF_A_LOST_NETWORK < OF_OWN_NETWORK


def test_only_failures_of_the_network_are_evidence():
    assert {name for name, outcome in FAILURES.items() if outcome.kind == "unreachable"} == OF_OWN_NETWORK


@pytest.mark.parametrize(
    ("failures", "total", "expected"),
    [(0, 0, False), (9, 9, False), (4, 10, False), (5, 10, True), (50, 101, False), (51, 101, True)],
)
def test_over_budget(failures, total, expected):
    assert over_budget(failures, total) is expected
