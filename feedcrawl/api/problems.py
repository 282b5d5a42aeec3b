"""Errors as RFC 9457 problems, with the reason code that log, metric and journal share."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from feedcrawl.domain.errors import Refusal
from feedcrawl.store.connection import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import FastAPI, Request

MEDIA_TYPE = "application/problem+json"
STATUSES = {
    **dict.fromkeys(
        ("unknown_callback", "wrong_topic", "not_asked", "bad_challenge", "bad_lease"), HTTPStatus.NOT_FOUND
    ),
    **dict.fromkeys(
        ("article_unknown", "article_failed", "article_not_held", "media_unknown", "collection_unknown"),
        HTTPStatus.NOT_FOUND,
    ),
    **dict.fromkeys(
        (
            "media_extracting",
            "media_ready_for_reading",
            "media_duplicate",
            "collection_exists",
            "collection_is_default",
        ),
        HTTPStatus.CONFLICT,
    ),
    "too_many_collections": HTTPStatus.CONFLICT,
    "address_refused": HTTPStatus.UNPROCESSABLE_ENTITY,
    "too_large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "too_slow": HTTPStatus.REQUEST_TIMEOUT,
    "bad_encoding": HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    "push_queue_full": HTTPStatus.SERVICE_UNAVAILABLE,
}
"""By reason code; what is not named here is the asker's fault (400)."""
RETRY_SEC = 30


def problem(code: str, detail: str, status: int, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """A problem: `type` and `code` say which, `title` names the status, `detail` says what to do."""
    said = {
        "type": f"urn:feedcrawl:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
    }
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers = {**(headers or {}), "Retry-After": str(RETRY_SEC)}
    return JSONResponse(said, status, headers, MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Has an application answer with problems whatever goes wrong."""

    @app.exception_handler(Refusal)
    def refused(_: Request, error: Refusal) -> JSONResponse:
        return problem(error.code, error.detail, STATUSES.get(error.code, HTTPStatus.BAD_REQUEST))

    @app.exception_handler(StoreUnavailable)
    def away(_: Request, error: StoreUnavailable) -> JSONResponse:
        return problem(error.code, error.detail, HTTPStatus.SERVICE_UNAVAILABLE)

    @app.exception_handler(HTTPException)
    def other(_: Request, error: HTTPException) -> JSONResponse:
        code = HTTPStatus(error.status_code).name.lower()
        return problem(code, str(error.detail), error.status_code, error.headers)
