"""Errors as RFC 9457 problems, with the reason code that log, metric and journal share."""

from __future__ import annotations

import math
from http import HTTPStatus
from typing import TYPE_CHECKING

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.routing import Match

from feedcrawl.api import schemas
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.secrets import without_secrets
from feedcrawl.store.disk.files import DiskUnavailable
from feedcrawl.store.redis.errors import StoreUnavailable
from feedcrawl.store.search.interface import IndexUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fastapi import FastAPI, Request

    from feedcrawl.api.schemas import Spec

MEDIA_TYPE = "application/problem+json"
CROSS_SITE = "cross_site"
_CODES: dict[HTTPStatus, str] = {
    HTTPStatus.UNAUTHORIZED: "token_missing token_unknown",
    HTTPStatus.FORBIDDEN: "cross_site scope_missing",
    HTTPStatus.NOT_FOUND: """
        article_failed article_not_held article_unknown bad_challenge bad_lease collection_unknown
        entry_unknown feed_unknown import_unknown letter_unknown media_unknown no_such_source not_asked
        not_subscribed not_watched raw_elsewhere raw_unknown unknown_callback wrong_topic
    """,
    HTTPStatus.REQUEST_TIMEOUT: "too_slow",
    HTTPStatus.CONFLICT: """
        collection_exists collection_is_default idempotency_in_progress media_duplicate media_extracting
        media_ready_for_reading never_migrated paused source_in_file subscribed_already too_many_collections
        too_many_feeds
    """,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "too_large",
    HTTPStatus.REQUEST_URI_TOO_LONG: "query_too_long",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "bad_encoding",
    HTTPStatus.UNPROCESSABLE_ENTITY: """
        address_refused bad_sources idempotency_mismatch repeated_parameter too_many_urls unknown_parameter
        url_ambiguous url_host url_malformed url_port url_scheme url_too_long url_userinfo
    """,
    HTTPStatus.TOO_MANY_REQUESTS: "too_many_requests",
    HTTPStatus.SERVICE_UNAVAILABLE: "push_queue_full too_busy too_many_bodies too_many_jobs too_many_streams",
}
STATUSES = {code: status for status, codes in _CODES.items() for code in codes.split()}
"""HTTP status by reason code; codes that are not listed are errors of the caller (400)."""
RETRY_SEC = 30
MAX_FAULTS = 20
ALWAYS = (400, 401, 403, 414, 422, 429, 503)
"""Statuses that any route with a caller may answer with."""


class RetryLater(Refusal):
    """A temporary refusal: the caller may ask again after the given seconds."""

    def __init__(self, code: str, detail: str, retry_after_sec: float) -> None:
        super().__init__(code, detail)
        self.retry_after_sec = retry_after_sec


def problem(
    code: str, detail: str, status: int, headers: Mapping[str, str] | None = None, **more: object
) -> JSONResponse:
    """A problem: `type` and `code` give the reason code, `title` names the status, `detail` says what to do."""
    body = {
        "type": f"urn:feedcrawl:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": without_secrets(detail),
        **more,
    }
    given = {"Retry-After": str(RETRY_SEC)} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
    if status == HTTPStatus.UNAUTHORIZED:
        given["WWW-Authenticate"] = "Bearer"
    return JSONResponse(body, status, {**given, **(headers or {})}, MEDIA_TYPE)


def refused(error: Refusal) -> JSONResponse:
    """A Refusal as a problem."""
    status = STATUSES.get(error.code, HTTPStatus.BAD_REQUEST)
    wait = {"Retry-After": str(math.ceil(error.retry_after_sec))} if isinstance(error, RetryLater) else {}
    return problem(error.code, error.detail, status, wait)


def install(app: FastAPI, page: Callable[[str, str, int], Response]) -> None:
    """Installs error handlers on an application that turn every error into a problem.

    `page` makes the page of an unknown path for a browser.
    """

    @app.exception_handler(Refusal)
    def refusal(_: Request, error: Refusal) -> JSONResponse:
        return refused(error)

    @app.exception_handler(StoreUnavailable)
    @app.exception_handler(DiskUnavailable)
    @app.exception_handler(IndexUnavailable)
    def away(_: Request, error: StoreUnavailable | DiskUnavailable | IndexUnavailable) -> JSONResponse:
        return problem(error.code, error.detail, HTTPStatus.SERVICE_UNAVAILABLE)

    @app.exception_handler(RequestValidationError)
    def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        faults = [{"where": ".".join(map(str, each["loc"])), "detail": each["msg"]} for each in error.errors()]
        detail = "; ".join(f"{each['where']}: {each['detail']}" for each in faults[:MAX_FAULTS])
        return problem("invalid_input", detail, HTTPStatus.UNPROCESSABLE_ENTITY, errors=faults[:MAX_FAULTS])

    @app.exception_handler(HTTPException)
    def other(request: Request, error: HTTPException) -> Response:
        code, headers = HTTPStatus(error.status_code).name.lower(), dict(error.headers or {})
        if error.status_code == HTTPStatus.NOT_FOUND and "text/html" in request.headers.get("accept", ""):
            return page(code, "There is no such page here.", error.status_code)
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            # The framework lists the methods of only one route of the path.
            headers["Allow"] = ", ".join(_allowed(request))
        return problem(code, str(error.detail), error.status_code, headers)

    @app.exception_handler(Exception)
    def failed(request: Request, _: Exception) -> JSONResponse:
        detail = "the request failed here; the log has more under its request id"
        known = getattr(request.state, "request_id", "")
        return problem("internal_error", detail, HTTPStatus.INTERNAL_SERVER_ERROR, {"X-Request-ID": known})


def _allowed(request: Request) -> list[str]:
    """The methods that the path of a request accepts; HEAD wherever GET is accepted."""
    routes = request.app.routes
    taken = {
        method
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE")
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in routes)
    }
    return sorted({*taken, "HEAD"} if "GET" in taken else taken)


_PROBLEM = schemas.component(
    "Problem",
    {
        "type": "object",
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "code": {"type": "string", "description": "The reason, as in logs, metrics and journals"},
            "detail": {"type": "string", "description": "What is wrong and what to do"},
        },
        "required": ["type", "title", "status", "code", "detail"],
    },
)


def answers(*statuses: int) -> dict[int | str, Spec]:
    """Documentation of the problems that a route may answer with, including those of all routes with a caller."""
    return documented(*ALWAYS, *statuses)


def documented(*statuses: int) -> dict[int | str, Spec]:
    """Documentation of the problems with these statuses."""
    return {
        status: {"description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: {"schema": _PROBLEM}}}
        for status in sorted(set(statuses))
    }
