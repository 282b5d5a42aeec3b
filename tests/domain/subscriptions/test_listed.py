from typing import Any

import pytest

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.subscriptions.listed import categories_of, letters, overrides_from, overrides_of
from feedcrawl.domain.subscriptions.records import Overrides


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, Overrides()),
        ({"priority": "7", "backfill": "yes"}, Overrides(priority=7, backfill=True)),
        ({"priority": 7.0, "backfill": True}, Overrides(priority=7, backfill=True)),
        (
            {"{urn:x}minIntervalSec": "600", "x:max-interval-sec": 7200},
            Overrides(min_interval_sec=600.0, max_interval_sec=7200.0),
        ),
        ({"initial_interval_sec": 60}, Overrides(initial_interval_sec=60.0)),
        ({"priority": 0, "min_interval_sec": -1, "max_interval_sec": "inf", "backfill": "no"}, Overrides()),
        ({"priority": 11, "min_interval_sec": "nan", "max_interval_sec": [], "backfill": None}, Overrides()),
        ({"priority": 7.5, "min_interval_sec": "ten", "backfill": 0}, Overrides()),
        ({"priority": True}, Overrides()),
    ],
)
def test_overrides(values: dict[str, object], expected: Overrides) -> None:
    assert overrides_of(values) == expected
    assert overrides_of(expected.given()) == expected


def test_only_given_overrides_are_listed() -> None:
    assert Overrides().given() == {}
    assert Overrides(priority=3, backfill=True).given() == {"priority": 3, "backfill": True}


@pytest.mark.parametrize(
    "name", ["min_interval_sec", "minIntervalSec", "MIN-INTERVAL SEC", "{urn:x}minIntervalSec", "x:min.interval.sec"]
)
def test_names_are_known_in_any_spelling(name: str) -> None:
    assert letters(name) == "minintervalsec"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a", " a ", "b  c"], ("a", "b c")),
        (["/news/world/"], ("news-world",)),
        (["a, b", ",", " / "], ("a, b", ",")),
        (["x" * 300], ("x" * 256,)),
        (["{tag}", "a\x1bb\x00"], ("(tag)", "a b")),
        ([str(number) for number in range(30)], tuple(str(number) for number in range(20))),
    ],
)
def test_categories(names: list[str], expected: tuple[str, ...]) -> None:
    assert categories_of(names) == expected


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([], {}),
        (["fixed-interval-sec=600", "pushOnly=yes"], {"fixed_interval_sec": 600.0, "push_only": True}),
        (["no_discovery=off", "min_interval_sec=", "priority=9"],
         {"no_discovery": False, "min_interval_sec": None, "priority": 9}),
    ],
)  # fmt: skip
def test_overrides_are_read_from_words(pairs: list[str], expected: dict[str, Any]) -> None:
    assert overrides_from(pairs) == expected


@pytest.mark.parametrize(
    ("pair", "detail"),
    [
        ("colour=blue", "is not NAME=VALUE with one of priority, "),
        ("priority", "is not NAME=VALUE with one of priority, "),
        ("priority=11", "'11' cannot be priority: a whole number from 1 to 10 is expected"),
        ("push_only=perhaps", "'perhaps' cannot be push_only: true or false is expected"),
        ("max_interval_sec=-1", "'-1' cannot be max_interval_sec: a number of seconds above 0 is expected"),
        ("user_agent=ü", "'ü' cannot be user_agent: a text of 300 ASCII characters at most is expected"),
    ],
)
def test_words_that_are_no_overrides(pair: str, detail: str) -> None:
    with pytest.raises(Refusal) as refused:
        overrides_from([pair])
    assert detail in refused.value.detail
