"""The OpenAPI document: the routes, their schemas by name, and what the layers before the routes add to each."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from feedcrawl.api import problems, schemas

if TYPE_CHECKING:
    from collections.abc import Iterator

BODY_STATUSES: Final = (
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
)
"""Statuses of a body that is sent too slowly, is over its limit, or has a content coding."""
OPEN: Final = ("health", "push")
"""Topics for callers without a token, which send no body that is validated."""
_KEY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    "description": "A repeated request with this key gets the first response again, for a day",
}


def completed(document: schemas.Spec) -> schemas.Spec:
    """The document of the routes with the named schemas, and with the statuses and headers that many routes share."""
    document["components"]["schemas"] |= schemas.components()
    for method, operation in _operations(document):
        if operation["tags"][0] in OPEN:
            operation["responses"].pop("422", None)
        else:
            _add_statuses(method, operation)
    for name in ("HTTPValidationError", "ValidationError"):
        document["components"]["schemas"].pop(name, None)
    return document


def _add_statuses(method: str, operation: schemas.Spec) -> None:
    """Documents the problems of a request body, and the key of a POST that may be repeated."""
    statuses = BODY_STATUSES if "requestBody" in operation else ()
    if method == "post":
        operation.setdefault("parameters", []).append(_KEY)
        statuses = (*statuses, HTTPStatus.CONFLICT)
    found = {str(status): each for status, each in problems.answers(*statuses).items()}
    operation["responses"] = dict(sorted({**found, **operation["responses"]}.items()))


def _operations(document: schemas.Spec) -> Iterator[tuple[str, schemas.Spec]]:
    for methods in document["paths"].values():
        yield from methods.items()
