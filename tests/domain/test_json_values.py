import json
from dataclasses import dataclass

import pytest

from feedcrawl.domain.json_values import compact_json, known_fields


@dataclass(frozen=True, slots=True)
class State:
    url: str
    polls: int = 0


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"url": "u", "polls": 2}, {"url": "u", "polls": 2}),
        ({"url": "u", "of_a_later_version": True}, {"url": "u"}),
        ({}, {}),
    ],
)
def test_the_fields_of_a_record_that_this_version_knows(record: dict[str, object], expected: dict[str, object]) -> None:
    assert known_fields(State, record) == expected


class Word(str):
    """A subclass of str, as libraries return them."""


@pytest.mark.parametrize(
    "value",
    [
        {"title": 'Ü "b"\n\x00\x1f\x7f\u2028', "n": [1, -2.5, True, None, {}], "more": {"a": [[]]}},
        ("a", 2**70, "😀"),
        {"url": Word("http://a.test/")},
        ["\udcff", {"deep": "\ud800"}],
        "",
    ],
)
def test_the_text_of_a_value_is_that_of_the_standard_library(value: object) -> None:
    assert compact_json(value) == json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def test_a_value_without_a_json_form_is_refused() -> None:
    with pytest.raises(TypeError):
        compact_json({"v": object()})
