"""The shapes of docs/data-format.md in the OpenAPI document: the published JSON Schemas themselves."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


@cache
def _published(name: str) -> dict[str, Any]:
    text = (files("feedcrawl.domain") / "data" / "schemas" / f"{name}.json").read_text("utf-8")
    return {key: value for key, value in json.loads(text).items() if not key.startswith("$")}


def published(name: str, *, without: Iterable[str] = (), **more: dict[str, Any]) -> dict[str, Any]:
    """A published schema, without some of its fields and with others."""
    said = _published(name)
    left = {field: value for field, value in said["properties"].items() if field not in set(without)}
    required = [field for field in said["required"] if field in left]
    return {**said, "properties": left | more, "required": [*required, *more]}


def only(name: str, fields: Iterable[str]) -> dict[str, Any]:
    """A published schema with some of its fields alone."""
    return published(name, without=set(_published(name)["properties"]) - set(fields))


def fields(**properties: dict[str, Any]) -> dict[str, Any]:
    """An object that has these fields and no others."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def page_of(name: str, item: dict[str, Any]) -> dict[str, Any]:
    """A page of things under their name, and the cursor after which more come."""
    more = {"type": ["string", "null"], "description": "`cursor` of the next page; null on the last"}
    listed: dict[str, Any] = {"type": "array", "items": item}
    return fields(**{name: listed, "next": more})


def document(description: str, media_type: str) -> dict[str, Any]:
    """A documented answer in a format of others."""
    kind = "object" if media_type.partition(";")[0].endswith("json") else "string"
    return answer(description, {"type": kind}, media_type.partition(";")[0])


def answer(description: str, schema: dict[str, Any], media_type: str = "application/json") -> dict[str, Any]:
    """A documented answer."""
    return {"description": description, "content": {media_type: {"schema": schema}}}
