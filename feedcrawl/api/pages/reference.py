"""The OpenAPI document as rows of tables for the page of the API's reference."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from feedcrawl.api.schemas import Spec

Type = list[tuple[str, bool]]
"""Words of a type; True for the name of a record of this document, to which the page links."""
_REF: Final = "$ref"


def shown(document: Spec) -> dict[str, object]:
    """`groups`: the operations by topic; `records`: the named schemas, problems of all routes included."""
    rows = sorted(_operations(document), key=_tag)
    records = document["components"]["schemas"]
    return {
        "groups": [(tag, list(each)) for tag, each in groupby(rows, key=_tag)],
        "records": [
            {"name": name, "meaning": each.get("description", ""), "fields": list(_fields(each))}
            for name, each in records.items()
        ],
    }


def _tag(operation: Mapping[str, object]) -> str:
    return str(operation["tag"])


def type_of(schema: Spec) -> Type:
    """A type in words: `array of Feed`, `string (date-time) or null`, `ok or ready`."""
    if _REF in schema:
        return [(schema[_REF].rpartition("/")[2], True)]
    if options := schema.get("anyOf", schema.get("oneOf")):
        return _joined([type_of(each) for each in options])
    if words := schema.get("enum", [schema["const"]] if "const" in schema else []):
        return [(" or ".join("null" if each is None else str(each) for each in words), False)]
    kinds = schema.get("type", "any")
    return _joined([_kind(kind, schema) for kind in ([kinds] if isinstance(kinds, str) else kinds)])


def _kind(kind: str, schema: Spec) -> Type:
    if kind == "array":
        return [("array of ", False), *type_of(schema.get("items", {}))]
    form = schema.get("format") if kind == "string" else None
    return [(f"{kind} ({form})" if form else kind, False)]


def _joined(types: list[Type]) -> Type:
    joined = types[0]
    for each in types[1:]:
        joined = [*joined, (" or ", False), *each]
    return joined


def _operations(document: Spec) -> Iterator[dict[str, object]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield {
                "tag": operation["tags"][0],
                "name": operation["operationId"],
                "method": method.upper(),
                "path": path,
                "text": operation.get("description", ""),
                "parameters": list(map(_parameter, operation.get("parameters", ()))),
                "body": _contents(operation.get("requestBody", {})),
                "example": _example(document, operation),
                "answers": [
                    {"status": status, "meaning": each["description"], "content": _contents(each)}
                    for status, each in operation["responses"].items()
                ],
            }


def _parameter(found: Spec) -> dict[str, object]:
    note = f"in the {found['in']}" + (", required" if found["required"] and found["in"] != "path" else "")
    return _field(found["name"], found["schema"], note) | {"meaning": found.get("description", "")}


def _fields(schema: Spec) -> Iterator[dict[str, object]]:
    required = schema.get("required", ())
    for name, each in schema.get("properties", {}).items():
        yield _field(name, each, "" if name in required else "may be absent")


def _field(name: str, schema: Spec, note: str) -> dict[str, object]:
    return {"name": name, "type": type_of(schema), "note": note, "meaning": schema.get("description", "")}


def _contents(found: Spec) -> list[dict[str, object]]:
    content: Spec = found.get("content", {})
    return [{"media_type": kind, "type": type_of(each.get("schema", {}))} for kind, each in content.items()]


def _example(document: Spec, operation: Spec) -> str:
    """An example body, if one is documented."""
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    named = schema.get(_REF, "").rpartition("/")[2]
    examples = document["components"]["schemas"].get(named, schema).get("examples", ())
    return json.dumps(examples[0], indent=2, ensure_ascii=False) if examples else ""
