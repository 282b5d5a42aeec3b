"""Shared parts of the page routes: error pages, forms, and the context of every page."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from feedcrawl.api.access import COOKIE, Caller
from feedcrawl.api.pages import templates
from feedcrawl.api.problems import RETRY_SEC, STATUSES
from feedcrawl.domain.errors import Refusal
from feedcrawl.store.disk.files import DiskUnavailable
from feedcrawl.store.redis.errors import StoreUnavailable

MAX_FIELDS = 20


class PageRoute(APIRoute):
    """A route whose errors are pages too; a caller that must log in is redirected to the login."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of the route, which raises nothing that has a name."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handle(request)
            except Refusal as error:
                if error.code in ("token_missing", "token_unknown"):
                    return _to_login(request)
                return _error(error.code, error.detail, STATUSES.get(error.code, HTTPStatus.BAD_REQUEST))
            except (StoreUnavailable, DiskUnavailable) as error:
                return _error(error.code, error.detail, HTTPStatus.SERVICE_UNAVAILABLE)
            except RequestValidationError as error:
                first = error.errors()[0]
                return _error("bad_request", f"{first['loc'][-1]}: {first['msg']}", HTTPStatus.UNPROCESSABLE_ENTITY)
            except HTTPException as error:
                status = HTTPStatus(error.status_code)
                return _error(status.name.lower(), str(error.detail), status)

        return handled


def context(request: Request, now: datetime, caller: Caller | None, here: str) -> dict[str, Any]:
    """The context of every page: its reader, its path, and the time."""
    return {
        "caller": caller,
        "by_cookie": COOKIE in request.cookies,
        "may_write": caller is not None and "write" in caller.scopes,
        "here": here,
        "now": now,
    }


def _to_login(request: Request) -> Response:
    asked = f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
    back = asked if request.method == "GET" else "/"
    answer = RedirectResponse(f"/login{templates.query(next=back if back != '/' else '')}", 303, templates.HEADERS)
    if COOKIE in request.cookies:  # of a token that was revoked
        answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer


def _error(code: str, detail: str, status: int) -> Response:
    phrase = HTTPStatus(status).phrase
    values = {"caller": None, "here": "", "now": None, "title": phrase, "detail": detail, "code": code}
    answer = templates.render("error.html", values, status)
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        answer.headers["Retry-After"] = str(RETRY_SEC)
    return answer


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form that was sent; of repeated ones the last. Refusal (`bad_form`) for too many."""
    text = (await request.body()).decode("utf-8", "replace")
    try:
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS))
    except ValueError:
        raise Refusal("bad_form", f"a form has at most {MAX_FIELDS} fields") from None


Form = Annotated[dict[str, str], Depends(form_of)]
