"""The OpenAPI document as a page for people.

The page has no external scripts: they would run where browsers keep the dashboard's cookie.
"""

from __future__ import annotations

import json
from itertools import groupby
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from feedcrawl.api import pages
from feedcrawl.api.dependencies import Wired
from feedcrawl.api.pages.route import PageRoute, context
from feedcrawl.api.queries import known_parameters

router = APIRouter(include_in_schema=False, route_class=PageRoute, dependencies=[Depends(known_parameters)])


@router.get("/docs")
def show_reference(request: Request, wired: Wired) -> Response:
    """All routes by topic; programs read `/openapi.json`."""
    document = request.app.openapi()
    shown = sorted(_operations(document), key=lambda each: each["tag"])
    groups = [(tag, list(each)) for tag, each in groupby(shown, key=lambda each: each["tag"])]
    return pages.render("reference.html", context(request, wired.now(), None, "/docs") | {"groups": groups})


def _operations(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "tag": operation["tags"][0],
            "name": operation["operationId"],
            "method": method.upper(),
            "path": path,
            "text": operation.get("description", ""),
            "parameters": operation.get("parameters", ()),
            "example": _example(document, operation),
            "answers": [(status, each["description"]) for status, each in operation["responses"].items()],
        }
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def _example(document: dict[str, Any], operation: dict[str, Any]) -> str:
    """An example body, if one is documented."""
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    named = schema.get("$ref", "").rpartition("/")[2]
    examples = document["components"]["schemas"].get(named, schema).get("examples", ())
    return json.dumps(examples[0], indent=2, ensure_ascii=False) if examples else ""
