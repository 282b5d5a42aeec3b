import csv
import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.operations.tables import Column, Kind, columns, csv_cell, typed

SCHEMA = {
    "properties": {
        "uid": {"type": "string"},
        "title": {"type": ["string", "null"]},
        "at": {"type": ["null", "string"], "format": "date-time"},
        "id": {"type": "string", "format": "uuid"},
        "status": {"const": "success"},
        "length": {"type": "integer"},
        "ts": {"type": ["number", "null"]},
        "rendered": {"type": "boolean"},
        "authors": {"type": "array", "items": {"type": "string"}},
        "enclosures": {"type": "array", "items": {"type": "object"}},
    }
}


def test_columns_in_the_order_of_the_schema() -> None:
    kinds: tuple[Kind, ...] = (
        "text", "text", "moment", "text", "json", "integer", "number", "boolean", "texts", "json",
    )  # fmt: skip
    assert columns(SCHEMA) == tuple(map(Column, SCHEMA["properties"], kinds))


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (None, "text", None),
        ("a\ud800", "text", "a?"),
        (1, "text", None),
        ("2026-11-28T00:33:05Z", "moment", datetime(2026, 11, 28, 0, 33, 5, tzinfo=UTC)),
        ("2026-11-28T00:33:05", "moment", datetime(2026, 11, 28, 0, 33, 5, tzinfo=UTC)),
        ("yesterday", "moment", None),
        (7, "moment", None),
        (7, "integer", 7),
        (True, "integer", None),
        (2**63, "integer", None),
        ("7", "integer", None),
        (7, "number", 7.0),
        (1.5, "number", 1.5),
        (True, "number", None),
        (True, "boolean", True),
        (1, "boolean", None),
        (["a", 1, "b\ud800"], "texts", ["a", "b?"]),
        ("a", "texts", None),
        ([{"é": 1}], "json", '[{"é":1}]'),
    ],
)
def test_a_value_is_of_its_columns_kind_or_none(value: Any, kind: Kind, expected: Any) -> None:
    assert typed(value, kind) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('=HYPERLINK("http://a.test")', '\'=HYPERLINK("http://a.test")'),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("\n=1", "'\n=1"),
        ("  =1", "'  =1"),
        ("\uff1d1", "'\uff1d1"),
        ("a=1", "a=1"),
        ("", ""),
        (-1, -1),
        (None, None),
        (["=1"], '["=1"]'),
        ({"a": "=1"}, '{"a":"=1"}'),
    ],
)
def test_no_cell_is_a_formula(value: Any, expected: Any) -> None:
    assert csv_cell(value) == expected


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_text_survives_csv_except_for_an_apostrophe_in_front(text: str) -> None:
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerow(["x", csv_cell(text)])
    buffer.seek(0)
    ((_, found),) = csv.reader(buffer)
    assert found.removeprefix("'") == text.removeprefix("'")
    assert not found.startswith(("=", "+", "-", "@", "\t", "\r"))


@given(st.recursive(st.none() | st.integers() | st.text(), st.lists))
def test_lists_are_json_in_their_cell(value: Any) -> None:
    if isinstance(value, list):
        assert isinstance(json.loads(csv_cell(value)), list)
