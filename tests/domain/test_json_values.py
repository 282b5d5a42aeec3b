import json
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.json_values import compact_json, from_json_text, known_fields


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


@pytest.mark.parametrize(
    "text",
    [
        r'{"title":"\u00dc \"b\" \ud83d\ude00","n":[1,-2.5,true,null,{}]} ',
        r'["\udcff",{"deep":"\ud800"}]',
        '"\ud800"',
        "[NaN,Infinity,-Infinity]",
        "[1e400,5e-324,123456789012345678901234567890,-0,-0.0,1E5,0.1234567890123456789]",
        '{"a":1,"a":2}',
        '""',
    ],
)
def test_a_text_is_read_as_the_standard_library_reads_it(text: str) -> None:
    assert repr(from_json_text(text)) == repr(json.loads(text))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(values, st.booleans())
def test_any_value_is_read_as_the_standard_library_reads_it(value: object, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert repr(from_json_text(text)) == repr(json.loads(text))


@pytest.mark.parametrize("text", ["", "{", "[1,]", "01", "{}x", "'a'", '"\t"', "\ufeff{}"])
def test_a_text_that_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        from_json_text(text)


def test_a_value_without_a_json_form_is_refused() -> None:
    with pytest.raises(TypeError):
        compact_json({"v": object()})
