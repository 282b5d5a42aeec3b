import pytest

from feedcrawl.domain.cadence.reasons import RULES, duration, in_words, in_words_or_none, proposals, winner


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (60, "1 min"),
        (119, "2 min"),
        (3600, "1 h"),
        (5400, "1 h 30 min"),
        (86_399, "1 d"),
        (90_061, "1 d 1 h"),
        (86_400 * 30, "30 d"),
    ],
)
def test_durations(seconds: float, expected: str) -> None:
    assert duration(seconds) == expected


def test_reasons_in_words() -> None:
    assert in_words("ttl") == RULES["ttl"]
    assert in_words("not-modified+ttl") == f"{RULES['not-modified']}, then {RULES['ttl']}"
    assert in_words("unheard-of") == "unheard-of"
    assert in_words("error-backoff+error-backoff") == RULES["error-backoff"]


def test_every_rule_of_the_policies_has_words() -> None:
    assert RULES.keys() >= {
        "interval", "not-modified", "no-new-entries", "new-entries", "ewma", "blend", "tempo", "initial", "overrun",
        "rate", "window", "burst", "timetable", "ttl", "update-period", "max-age", "skip-window", "jitter",
        "retry-after", "error-backoff", "error-budget", "gone", "fixed", "push-only",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("reason", "candidates", "won"),
    [
        ("no-new-entries", [("rate", 900.0), ("jitter", 950.0)], "rate"),
        ("new-entries", [("rate", 900.0), ("overrun", 450.0)], "overrun"),
        ("new-entries", [("timetable", 60.0), ("rate", 900.0)], "timetable"),
        ("no-new-entries+ttl", [("rate", 900.0), ("ttl", 3600.0)], "ttl"),
        ("not-modified", [("interval", 900.0), ("not-modified", 1125.0)], "not-modified"),
        ("not-modified", [("interval", 900.0), ("not-modified", 1125.0), ("ewma", 60.0), ("blend", 600.0)], "blend"),
        ("retry-after", [("retry-after", 30.0)], "retry-after"),
        ("error-backoff", [("interval", 900.0), ("error-backoff", 1800.0)], "error-backoff"),
        ("error-backoff+gone", [("error-backoff", 1800.0), ("gone", 604_800.0)], "gone"),
        ("fixed", [("rate", 900.0), ("fixed", 60.0)], "fixed"),
        ("initial", [], ""),
    ],
)
def test_the_candidate_that_won(reason: str, candidates: list[tuple[str, float]], won: str) -> None:
    assert winner(reason, candidates) == won


def test_proposals_in_words() -> None:
    assert proposals("rate+ttl", [("rate", 60.0), ("ttl", 300.0)]) == [
        {"rule": "rate", "wait_sec": 60.0, "because": "the rate at which it publishes", "won": False},
        {"rule": "ttl", "wait_sec": 300.0, "because": "requested by the feed (ttl)", "won": True},
    ]
    assert proposals(None, []) == []
    again = [("interval", 900.0), ("error-backoff", 7200.0), ("jitter", 8100.0), ("error-backoff", 3120.0)]
    assert [each["won"] for each in proposals("error-backoff", again)] == [False, True, False, False]


def test_before_the_first_decision_there_is_no_reason() -> None:
    assert in_words_or_none(None) is None
    assert in_words_or_none("fixed") == "its interval is fixed by an override"
