from dataclasses import replace

import pytest

from feedcrawl.domain.frontier.statistics import (
    FrontierStatistics,
    HostStatistics,
    Lateness,
    host_statistics,
    statistics_from,
)

COUNTS = {
    "pending:feed:manual:": "3",
    "pending:article:feed:a": "5",
    "pending:article:feed:b:c": "2",
    "fetched:article:feed:a": "9",
    "pending:article": "1",  # counted before origins and sources were
}
LATE = {"poll:1": "6", "poll:4": "3", "poll:inf": "1", "poll:sum": "70000500", "page:2": "1", "page:sum": "1500"}


@pytest.mark.parametrize(
    ("dimensions", "expected"),
    [
        (("status", "kind"), {"pending:feed": 3, "pending:article": 8, "fetched:article": 9}),
        (("origin",), {"manual": 3, "feed": 16, "": 1}),
        (("status", "source"), {"pending:": 4, "pending:a": 5, "pending:b:c": 2, "fetched:a": 9}),
    ],
)
def test_tasks_are_counted_by_dimensions(dimensions, expected):
    assert statistics_from(COUNTS).by(*dimensions) == expected


@pytest.mark.parametrize(("delayed", "due"), [(0, 3), (2, 1), (3, 0), (9, 0)])
def test_due_tasks_are_polls_that_are_not_delayed(delayed, due):
    assert statistics_from(COUNTS, places={("poll", "delayed"): delayed, ("page", "delayed"): 5}).due == due


def test_lateness_is_read_per_lane():
    late = statistics_from({}, LATE).lateness
    assert late == {
        "poll": Lateness(((1.0, 6), (4.0, 3), (float("inf"), 1)), 70000.5),
        "page": Lateness(((2.0, 1),), 1.5),
    }
    assert late["poll"].count == 10


@pytest.mark.parametrize(("share", "bound"), [(0.5, 1.0), (0.6, 1.0), (0.61, 4.0), (0.9, 4.0), (1.0, float("inf"))])
def test_by_when_a_share_was_taken(share, bound):
    assert statistics_from({}, LATE).lateness["poll"].within(share) == bound
    assert Lateness().within(share) is None


def test_shards_add_up():
    first = statistics_from(COUNTS, LATE, 2, {("poll", "ready"): 4})
    total = first + statistics_from({"pending:feed:manual:": "1"}, {"poll:1": "1", "poll:sum": "500"}, 1, {})
    assert total.by("status", "kind")["pending:feed"] == 4
    assert (total.leased, total.places) == (3, {("poll", "ready"): 4})
    assert total.lateness["poll"] == Lateness(((1.0, 7), (4.0, 3), (float("inf"), 1)), 70001.0)
    assert total.lateness["page"] == first.lateness["page"]
    assert FrontierStatistics() + first == first


HOST = HostStatistics("a.example", 3, 0, 1, 1.0, 0, "closed", 0, 0.0)
DOMAIN = replace(HOST, name="example", tasks=None, concurrency=4)


@pytest.mark.parametrize(
    ("host", "domain", "expected"),
    [
        ({}, {}, None),
        ({"wait_sec": 2.0}, {}, "pace"),
        ({"busy": 1}, {}, "answer_awaited"),
        ({"circuit": "open", "wait_sec": 2.0}, {}, "circuit_open"),
        ({"circuit": "open"}, {}, None),
        ({"circuit": "half_open", "busy": 1, "concurrency": 4}, {}, "answer_awaited"),
        ({}, {"busy": 4}, "domain_answer_awaited"),
        ({}, {"wait_sec": 0.1}, "domain_pace"),
        ({}, {"circuit": "open", "wait_sec": 9.0}, "domain_circuit_open"),
        ({"wait_sec": 2.0}, {"circuit": "open", "wait_sec": 9.0}, "pace"),
    ],
)
def test_why_a_host_waits(host, domain, expected):
    assert replace(HOST, **host, scopes={"domain": replace(DOMAIN, **domain)}).waits_for == expected
    if not domain:
        assert replace(HOST, **host).waits_for == expected


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({}, HostStatistics("h", 0, 0, 2, 1.5, 0, "closed", 0, 0.0)),
        (
            {"tasks": "7", "busy": "1", "doublings": "2", "state": "open", "failures": "5", "next_at": "61500"},
            HostStatistics("h", 7, 1, 2, 6.0, 2, "open", 5, 1.5),
        ),
        (
            {"delay": "20000", "concurrency": "3", "next_at": "1"},
            HostStatistics("h", 0, 0, 3, 20.0, 0, "closed", 0, 0.0),
        ),
    ],
)
def test_a_host_from_its_record(record, expected):
    assert host_statistics("h", record, 60_000, delay_sec=1.5, concurrency=2) == expected
