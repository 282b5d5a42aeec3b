"""Records as rows of a table: the columns of a schema, and the cell of a value."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from feedcrawl.domain.schemas import Schema

Kind = Literal["text", "moment", "integer", "number", "boolean", "texts", "json"]
Cell: TypeAlias = str | datetime | float | bool | list[str] | None

_KINDS: Final[Mapping[str, Kind]] = {"integer": "integer", "number": "number", "boolean": "boolean", "string": "text"}
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""First characters with which a spreadsheet computes a cell, full-width forms included (OWASP, CSV injection)."""


@dataclass(frozen=True, slots=True)
class Column:
    """One field of a record."""

    name: str
    kind: Kind


def columns(schema: Schema) -> tuple[Column, ...]:
    """The columns for records of a JSON Schema, in the order of the schema."""
    return tuple(Column(name, _kind(field)) for name, field in schema["properties"].items())


def _kind(field: Schema) -> Kind:
    types = field.get("type", "object")
    kind = next(each for each in ([types] if isinstance(types, str) else types) if each != "null")
    if kind == "array" and "items" in field and field["items"].get("type") == "string":
        return "texts"
    if kind == "string" and field.get("format") == "date-time":
        return "moment"
    return _KINDS.get(kind, "json")


def typed(value: object, kind: Kind) -> Cell:
    """The value as a column of this kind stores it; None if the value has another type."""
    if value is None:
        return None
    if kind == "json":
        return as_json(value)
    if kind == "moment":
        return _moment(value)
    if kind == "texts":
        return [_sound(each) for each in value if isinstance(each, str)] if isinstance(value, list) else None
    if kind == "text":
        return _sound(value) if isinstance(value, str) else None
    if kind == "boolean" or isinstance(value, bool):
        return value if isinstance(value, bool) and kind == "boolean" else None
    if kind == "integer":
        return value if isinstance(value, int) and abs(value) < 2**63 else None
    return float(value) if isinstance(value, (int, float)) else None


def csv_cell(value: object) -> object:
    """A value as a cell of a CSV: lists and objects as JSON, and no text that a spreadsheet would treat as a formula.

    An apostrophe is put before such text, as OWASP recommends; numbers stay numbers.
    """
    text = as_json(value) if isinstance(value, (dict, list)) else value
    return f"'{text}" if isinstance(text, str) and text.lstrip(" ").startswith(_FORMULA) else text


def as_json(value: object) -> str:
    """A value as JSON text for one cell."""
    return _sound(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _moment(value: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if moment is None:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _sound(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
