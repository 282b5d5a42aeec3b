import pytest

from feedcrawl.api.pages.reference import type_of

TYPES = [
    ({"type": "string"}, "string"),
    ({"type": "string", "format": "date-time"}, "string (date-time)"),
    ({"type": ["string", "null"], "format": "uuid"}, "string (uuid) or null"),
    ({"type": "array", "items": {"$ref": "#/components/schemas/Feed"}}, "array of Feed"),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "integer or null"),
    ({"oneOf": [{"$ref": "#/components/schemas/Feed"}, {"type": "null"}]}, "Feed or null"),
    ({"enum": ["ok", "ready", None]}, "ok or ready or null"),
    ({"type": "string", "const": "done"}, "done"),
    ({}, "any"),
]


@pytest.mark.parametrize(("schema", "words"), TYPES)
def test_types_in_words(schema: dict[str, object], words: str) -> None:
    assert "".join(name for name, _ in type_of(schema)) == words


def test_records_are_linked() -> None:
    assert type_of({"type": "array", "items": {"$ref": "#/x/Feed"}}) == [("array of ", False), ("Feed", True)]
