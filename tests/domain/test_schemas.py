"""JSON Schemas and tables made from classes."""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from feedcrawl.domain import schemas
from feedcrawl.domain.schemas import About, Count, Time, record


class Part(TypedDict):
    """A part."""

    name: Annotated[str | None, About("Its name")]


@record("thing", "Thing", {"required": ["size"]}, {"required": ["when"]})
class Thing(TypedDict):
    """A thing
    of two lines."""

    kind: Annotated[Literal["thing"], About("Always so")]
    state: Annotated[Literal["new", "old"] | None, About("Its state")]
    size: NotRequired[Annotated[Count, About("Its size", maximum=9)]]
    when: NotRequired[Annotated[Time | None, About("Its date")]]
    parts: Annotated[list[Part], About("Its parts")]
    words: Annotated[list[str], About("Its words")]
    more: Annotated[dict[str, Any], About("Anything")]
    open: Annotated[bool, About("If it is open")]


FIELDS = {
    "kind": {"type": "string", "const": "thing", "description": "Always so"},
    "state": {"type": ["string", "null"], "enum": ["new", "old", None], "description": "Its state"},
    "size": {"type": "integer", "minimum": 0, "description": "Its size", "maximum": 9},
    "when": {
        "type": ["string", "null"],
        "format": "date-time",
        "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$",
        "description": "Its date",
    },
    "parts": {
        "type": "array",
        "description": "Its parts",
        "items": {
            "type": "object",
            "properties": {"name": {"type": ["string", "null"], "description": "Its name"}},
            "required": ["name"],
            "additionalProperties": False,
        },
    },
    "words": {"type": "array", "items": {"type": "string"}, "description": "Its words"},
    "more": {"type": "object", "description": "Anything"},
    "open": {"type": "boolean", "description": "If it is open"},
}


def test_the_schema_of_a_record() -> None:
    assert schemas.schema(Thing) == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:feedcrawl:schema:thing",
        "title": "Thing",
        "description": "A thing of two lines.",
        "type": "object",
        "properties": FIELDS,
        "required": ["kind", "state", "parts", "words", "more", "open"],
        "additionalProperties": False,
        "oneOf": [{"required": ["size"]}, {"required": ["when"]}],
    }


def test_the_table_of_a_record() -> None:
    assert schemas.table(Thing).splitlines() == [
        "| field | type | meaning |",
        "|---|---|---|",
        "| `kind` | string | Always so |",
        "| `state` | string or null | Its state |",
        "| `size` | integer, may be absent | Its size |",
        "| `when` | time or null, may be absent | Its date |",
        "| `parts` | array | Its parts |",
        "| `parts.name` | string or null | Its name |",
        "| `words` | array | Its words |",
        "| `more` | object | Anything |",
        "| `open` | boolean | If it is open |",
    ]
