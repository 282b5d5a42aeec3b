"""The records of docs/data-format.md in the OpenAPI document, by their published JSON Schemas."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from feedcrawl.domain.schemas import schema

if TYPE_CHECKING:
    from collections.abc import Iterable


@cache
def _published(kind: type) -> dict[str, Any]:
    return {key: value for key, value in schema(kind).items() if not key.startswith("$")}


def published(kind: type, *, without: Iterable[str] = (), **more: dict[str, Any]) -> dict[str, Any]:
    """The published schema of a record, without some of its fields and with others."""
    found = _published(kind)
    left = {field: value for field, value in found["properties"].items() if field not in set(without)}
    required = [field for field in found["required"] if field in left]
    return {**found, "properties": left | more, "required": [*required, *more]}


def only(kind: type, fields: Iterable[str]) -> dict[str, Any]:
    """The published schema of a record with only some of its fields."""
    return published(kind, without=set(_published(kind)["properties"]) - set(fields))


def fields(**properties: dict[str, Any]) -> dict[str, Any]:
    """An object that has these fields and no others."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def page_of(name: str, item: dict[str, Any]) -> dict[str, Any]:
    """A page of items under their name, and the cursor of the next page."""
    more = {"type": ["string", "null"], "description": "`cursor` of the next page; null on the last"}
    listed: dict[str, Any] = {"type": "array", "items": item}
    return fields(**{name: listed, "next": more})


def document(description: str, media_type: str) -> dict[str, Any]:
    """A documented response in another program's format."""
    kind = "object" if media_type.partition(";")[0].endswith("json") else "string"
    return answer(description, {"type": kind}, media_type.partition(";")[0])


def answer(description: str, content: dict[str, Any], media_type: str = "application/json") -> dict[str, Any]:
    """A documented response."""
    return {"description": description, "content": {media_type: {"schema": content}}}
