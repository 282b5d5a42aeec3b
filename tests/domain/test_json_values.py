from dataclasses import dataclass

import pytest

from feedcrawl.domain.json_values import known_fields


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
