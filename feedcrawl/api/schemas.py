"""The schemas of the OpenAPI document: records of docs/data-format.md as named components, pages, responses."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from feedcrawl.domain.schemas import fields_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Spec: TypeAlias = dict[str, Any]
"""A part of the OpenAPI document, as the framework types it."""

_COMPONENTS: Final[dict[str, Spec]] = {}


def component(name: str, content: Spec) -> Spec:
    """A reference to a schema that the document lists under `name`, from which client generators name a class."""
    assert _COMPONENTS.setdefault(name, content) == content, f"two components are named {name}"
    return {"$ref": f"#/components/schemas/{name}"}


def components() -> dict[str, Spec]:
    """The named schemas of all routes."""
    return dict(sorted(_COMPONENTS.items()))


@cache
def _published(kind: type) -> Spec:
    return {"description": " ".join((kind.__doc__ or "").split()), **fields_of(kind)}


def published(kind: type, *, without: Iterable[str] = (), **more: Spec) -> Spec:
    """The schema of a record, without some of its fields and with others."""
    found = _published(kind)
    left = {field: value for field, value in found["properties"].items() if field not in set(without)}
    required = [field for field in found["required"] if field in left]
    return {**found, "properties": left | more, "required": [*required, *more]}


def only(kind: type, fields: Iterable[str], *, optional: Mapping[str, Spec] | None = None) -> Spec:
    """The published schema of a record with only some of its fields, and with others that may be absent."""
    found = published(kind, without=set(_published(kind)["properties"]) - set(fields))
    return {**found, "properties": {**found["properties"], **(optional or {})}}


def fields(**properties: Spec) -> Spec:
    """An object that has these fields and no others."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def page_of(name: str, item: Spec) -> Spec:
    """A page of items under their name, and the cursor of the next page."""
    more = {"type": ["string", "null"], "description": "`cursor` of the next page; null on the last"}
    listed: Spec = {"type": "array", "items": item}
    return fields(**{name: listed, "next": more})


def document(description: str, media_type: str) -> Spec:
    """A documented response in another program's format."""
    kind = "object" if media_type.partition(";")[0].endswith("json") else "string"
    return answer(description, {"type": kind, "description": description}, media_type.partition(";")[0])


def answer(description: str, content: Spec, media_type: str = "application/json") -> Spec:
    """A documented response."""
    return {"description": description, "content": {media_type: {"schema": content}}}


def text_or_bytes(*media_types: str) -> Spec:
    """The content of an uploaded file, which is read whatever its Content-Type is."""
    texts = {each.partition(";")[0]: {"schema": {"type": "string"}} for each in media_types}
    return {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}, **texts}
