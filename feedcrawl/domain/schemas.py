"""JSON Schemas and tables of documentation, generated from the classes of the records that other programs read.

A record is a TypedDict whose fields are `Annotated` with their meaning and, where needed, keywords of JSON Schema
(draft 2020-12). `schema` returns the published schema of such a class, `table` the rows of docs/data-format.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import NoneType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Final,
    Literal,
    NotRequired,
    TypedDict,
    TypeVar,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


_Head = TypedDict("_Head", {"$schema": str, "$id": str})


class Keywords(TypedDict, total=False):
    """Keywords of JSON Schema that a value must satisfy."""

    pattern: str
    format: str
    minimum: float
    maximum: float
    minLength: int
    maxLength: int
    contentMediaType: str


class Alternative(TypedDict, total=False):
    """A set of fields that a record may have; the schema of a field that must be absent is False."""

    properties: dict[str, Schema | Literal[False]]
    required: list[str]


class Schema(Keywords, total=False):
    """A JSON Schema, of a record or of a part of a record."""

    type: str | list[str]
    title: str
    description: str
    properties: dict[str, Schema]
    required: list[str]
    additionalProperties: bool
    items: Schema
    enum: list[str | int | None]
    const: str | int
    oneOf: list[Alternative]


class Document(_Head, Schema):
    """A JSON Schema as it is published."""


T = TypeVar("T", bound=type)

_JSON_TYPES: Final[Mapping[object, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
}


class About:
    """The meaning of a field, and keywords of JSON Schema that its value must satisfy (`pattern`, `minimum`, …)."""

    def __init__(self, meaning: str = "", **keywords: Unpack[Keywords]) -> None:
        self.meaning = meaning
        self.keywords = keywords


_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"
_UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"

Time = Annotated[str, About(format="date-time", pattern=f"^{_TIME}$")]
TimeOrEmpty = Annotated[str, About(pattern=f"^$|^{_TIME}$")]
Uuid = Annotated[str, About(format="uuid", pattern=f"^{_UUID}$")]
UuidOrEmpty = Annotated[str, About(pattern=f"^$|^{_UUID}$")]
WebUrl = Annotated[str, About(pattern="^https?://")]
Uid = Annotated[str, About(pattern="^[0-9a-f]{16}$")]
Sha256 = Annotated[str, About(pattern="^[0-9a-f]{64}$")]
MediaType = Annotated[str, About(pattern="^[a-z]+/[a-z0-9.+-]+$")]
Count = Annotated[int, About(minimum=0)]
Positive = Annotated[int, About(minimum=1)]
HttpStatus = Annotated[int, About(minimum=100, maximum=599)]
Share = Annotated[float, About(minimum=0, maximum=1)]
Json = Annotated[str, About(contentMediaType="application/json")]
JsonList = Annotated[str, About(contentMediaType="application/json", pattern=r"^\[.*\]$")]
FilePlace = Annotated[str, About(pattern=r"^files/[0-9a-f]{2}/[0-9a-f]{64}(\.[a-z0-9]+)?$")]


@dataclass(frozen=True, slots=True)
class Record:
    """The name of a published schema, its title, and alternatives, of which each record satisfies exactly one."""

    name: str
    title: str
    either: tuple[Alternative, ...] = ()


def record(name: str, title: str, *either: Alternative) -> Callable[[T], T]:
    """A decorator that declares a TypedDict as a published record."""

    def declare(kind: T) -> T:
        kind.__record__ = Record(name, title, either)  # type: ignore[attr-defined]  # read by `published_as`
        return kind

    return declare


def published_as(kind: type) -> Record:
    """The declaration of a published record."""
    found: Record = kind.__record__  # type: ignore[attr-defined]  # set by `record`
    return found


def fields_of(kind: type) -> Schema:
    """The object schema of a TypedDict: properties and required fields; other fields are forbidden."""
    hints = get_type_hints(kind, include_extras=True)
    required = [name for name, hint in hints.items() if get_origin(hint) is not NotRequired]
    return {
        "type": "object",
        "properties": {name: _field(hint) for name, hint in hints.items()},
        "required": required,
        "additionalProperties": False,
    }


def schema(kind: type) -> Document:
    """The published JSON Schema of a record."""
    declared = published_as(kind)
    found: Document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:feedcrawl:schema:{declared.name}",
        "title": declared.title,
        "description": " ".join((kind.__doc__ or "").split()),
        **fields_of(kind),
    }
    if declared.either:
        found["oneOf"] = list(declared.either)
    return found


def _field(hint: object) -> Schema:
    if get_origin(hint) is NotRequired:
        return _field(get_args(hint)[0])
    if get_origin(hint) is not Annotated:
        return _type(hint)
    inner, *metadata = get_args(hint)
    found = _field(inner)
    for each in metadata:
        if each.meaning:
            found["description"] = each.meaning
        found = {**found, **each.keywords}
    return found


def _type(hint: object) -> Schema:
    if get_origin(hint) is Literal:
        return _words(get_args(hint))
    if get_origin(hint) is list:
        return {"type": "array", "items": _field(get_args(hint)[0])}
    if hint in _JSON_TYPES:
        return {"type": _JSON_TYPES[hint]}
    if get_origin(hint) is dict or hint is dict:
        return {"type": "object"}
    if options := get_args(hint):
        return _union([_field(each) for each in options])
    assert isinstance(hint, type)
    return fields_of(hint)


def _words(words: tuple[str | int, ...]) -> Schema:
    kind = _JSON_TYPES[type(words[0])]
    return {"type": kind, "const": words[0]} if len(words) == 1 else {"type": kind, "enum": list(words)}


def _union(options: list[Schema]) -> Schema:
    merged: Schema = {}
    for each in options:
        merged = {**merged, **each}
    merged.pop("type")
    if "enum" in merged and {"type": "null"} in options:
        merged["enum"] = [*merged["enum"], None]
    return {"type": [name for each in options for name in _type_names(each)], **merged}


def _type_names(field: Schema) -> list[str]:
    kinds = field.get("type", "string")
    return [kinds] if isinstance(kinds, str) else kinds


def table(kind: type) -> str:
    """The rows of docs/data-format.md: each field with type and meaning; fields of inner objects as `outer.inner`."""
    lines = ["| field | type | meaning |", "|---|---|---|"]
    lines += [f"| `{name}` | {shown} | {meaning} |" for name, shown, meaning in _rows(fields_of(kind), "")]
    return "\n".join(lines) + "\n"


def _rows(found: Schema, prefix: str) -> Iterator[tuple[str, str, str]]:
    for name, field in found["properties"].items():
        absent = ", may be absent" if name not in found["required"] else ""
        yield prefix + name, _shown(field) + absent, field.get("description", "")
        inner = field.get("items", field)
        if "properties" in inner:
            yield from _rows(inner, f"{prefix}{name}.")


def _shown(field: Schema) -> str:
    names = _type_names(field)
    special = {"uuid": "UUID", "date-time": "time"}.get(field.get("format", ""))
    return " or ".join(special if special and name == "string" else name for name in names)
