import pytest

from feedcrawl.domain.reasons import RULES, duration, in_words


@pytest.mark.parametrize(
    ("seconds", "said"),
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
def test_durations(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_reasons_in_words() -> None:
    assert in_words("ttl") == RULES["ttl"]
    assert in_words("not-modified+ttl") == f"{RULES['not-modified']}, then {RULES['ttl']}"
    assert in_words("unheard-of") == "unheard-of"


def test_every_rule_of_the_policies_has_words() -> None:
    assert RULES.keys() >= {
        "interval", "not-modified", "no-new-entries", "new-entries", "ewma", "blend", "tempo", "initial", "overrun",
        "rate", "window", "timetable", "ttl", "update-period", "max-age", "skip-window", "jitter", "retry-after",
        "error-backoff",
    }  # fmt: skip
