"""Counts by slot as the bars of a span, and what the bars say."""

from collections import Counter

import pytest

from feedcrawl.domain.operations.counters import SLOT_SEC, SPANS, Bar, Span, bars, errors, total

NOW = 1_795_845_600.0  # 2026-11-28 06:00:00Z
SLOT = int(NOW) // SLOT_SEC


@pytest.mark.parametrize("name", SPANS)
def test_a_span_is_whole_bars_that_begin_at_their_own_multiples_and_end_after_now(name: str) -> None:
    span = SPANS[name]
    since, until = span.bounds(NOW + 1)
    assert until - since == span.length_sec
    assert since % span.bar_sec == until % span.bar_sec == 0
    assert until - span.bar_sec <= NOW + 1 < until
    assert (span.length_sec % span.bar_sec, span.bar_sec % SLOT_SEC) == (0, 0)


@pytest.mark.parametrize(
    ("slots", "expected"),
    [
        ({}, [{}, {}]),
        ({SLOT: {"poll:fetched": 2}}, [{}, {"poll:fetched": 2}]),
        ({SLOT - 1: {"new": 1}, SLOT - 2: {"new": 2}}, [{"new": 3}, {}]),
        ({SLOT: {"new": 1}, SLOT + 1: {"new": 4}}, [{}, {"new": 5}]),  # a worker whose clock is ahead
        ({SLOT - 3: {"new": 9}, SLOT + 2: {"new": 9}}, [{}, {}]),
    ],
)
def test_slots_are_gathered_into_bars(slots: dict[int, dict[str, int]], expected: list[dict[str, int]]) -> None:
    found = bars(slots, Span(4 * SLOT_SEC, 2 * SLOT_SEC), NOW)
    assert [dict(each.counts) for each in found] == expected
    assert [each.at for each in found] == [int(NOW) - 2 * SLOT_SEC, int(NOW)]


def test_a_bar_separates_failures_from_successes() -> None:
    counts = {"poll:fetched": 3, "poll:unchanged": 1, "poll:not_modified": 5, "poll:http_503": 2, "late": 22, "new": 7}
    bar = Bar(0, Counter(counts | {"article:stored": 4, "article:http_503": 1, "article:FAIL": 6, "push:read": 9}))
    assert (bar.polls, bar.failed, bar.mean_late_sec) == (11, 2, 2.0)
    assert errors(bar) == [("FAIL", 0, 6), ("http_503", 2, 1)]
    assert Bar(0).mean_late_sec is None
    assert total([bar, bar, Bar(5)]).counts["new"] == 14
