from feedcrawl.domain.subscriptions.statistics import statistics_of


def test_an_empty_journal_has_no_shares() -> None:
    assert statistics_of([{"result": "push", "new": 3}]) == {
        "fetch_count": 0,
        "success_rate": None,
        "not_modified_rate": None,
        "error_code_counts": {},
        "retry_count": 0,
        "bytes_in": 0,
        "compression_ratio": None,
        "average_latency_sec": None,
        "new_entries": [],
    }


def test_polls_are_counted_newest_first_without_deliveries() -> None:
    journal = [
        {"result": "fetched", "new": 2, "bytes": 1000, "wire_bytes": 250, "duration_sec": 0.25},
        {"result": "http_500", "duration_sec": 0.75},
        {"result": "push", "new": 9, "bytes": 5000},
        {"result": "http_500"},
        {"result": "not_modified", "duration_sec": 0.5},
        {"result": "too_large", "wire_bytes": 90},
        {"result": "fetched", "bytes": 40},
    ]
    assert statistics_of(journal) == {
        "fetch_count": 6,
        "success_rate": 0.5,
        "not_modified_rate": 0.1667,
        "error_code_counts": {"http_500": 2, "too_large": 1},
        "retry_count": 3,
        "bytes_in": 380,
        "compression_ratio": 4.0,
        "average_latency_sec": 0.5,
        "new_entries": [2, 0, 0, 0, 0, 0],
    }


def test_a_walk_through_archives_is_no_poll() -> None:
    found = statistics_of([{"result": "archives_read", "documents": 3}, {"result": "fetched"}])
    assert (found["fetch_count"], found["success_rate"], found["error_code_counts"]) == (1, 1.0, {})
