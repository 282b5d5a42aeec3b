"""Shared parts of the page routes: error pages, forms, and the context of every page."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import Depends, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from feedcrawl.api.access import COOKIE, Caller, needs
from feedcrawl.api.limits.places import HEAVY
from feedcrawl.api.pages import templates
from feedcrawl.api.problems import RETRY_SEC, STATUSES
from feedcrawl.domain.errors import Refusal
from feedcrawl.store.disk.files import DiskUnavailable
from feedcrawl.store.redis.errors import StoreUnavailable

MAX_FIELDS = 40
MAX_PASTED_BYTES = 16 << 20
"""Size of a list that is pasted into a form; the limit of all uploads holds too."""


class PageRoute(APIRoute):
    """A route whose errors are pages too; a caller that must log in is redirected to the login."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[None, None, Response]]:
        """The handler of the route, which turns every named error into a page."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handle(request)
            except Refusal as error:
                if error.code in ("token_missing", "token_unknown"):
                    return _to_login(request)
                return error_page(error.code, error.detail, STATUSES.get(error.code, HTTPStatus.BAD_REQUEST))
            except (StoreUnavailable, DiskUnavailable) as error:
                return error_page(error.code, error.detail, HTTPStatus.SERVICE_UNAVAILABLE)
            except RequestValidationError as error:
                first = error.errors()[0]
                return error_page("bad_request", f"{first['loc'][-1]}: {first['msg']}", HTTPStatus.UNPROCESSABLE_ENTITY)
            except HTTPException as error:
                status = HTTPStatus(error.status_code)
                return error_page(status.name.lower(), str(error.detail), status)

        return handled


def context(request: Request, now: datetime, caller: Caller | None, here: str) -> dict[str, object]:
    """The context of every page: its reader, its path, and the time."""
    return {
        "caller": caller,
        "by_cookie": COOKIE in request.cookies,
        "may_write": caller is not None and "write" in caller.scopes,
        "here": here,
        "now": now,
    }


def confirm(
    request: Request, now: datetime, caller: Caller, here: str, *, back: str, verb: str, **words: str
) -> Response:
    """The page that asks before `verb` is done to the thing whose page is at `back`.

    `words`: question, subject, consequence, and the label of the button.
    """
    values = {"action": f"{back}/{verb}", "back": back, "given": {}, **words}
    return templates.render("confirm.html", context(request, now, caller, here) | values)


def _to_login(request: Request) -> Response:
    address = f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
    back = address if request.method == "GET" else "/"
    answer = RedirectResponse(f"/login{templates.query(next=back if back != '/' else '')}", 303, templates.HEADERS)
    if COOKIE in request.cookies:  # of a token that was revoked
        answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer


def error_page(code: str, detail: str, status: int) -> Response:
    """A page for a problem, with the navigation of all pages."""
    phrase = HTTPStatus(status).phrase
    values = {"caller": None, "nav": True, "here": "", "now": None, "title": phrase, "detail": detail, "code": code}
    answer = templates.render("error.html", values, status)
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        answer.headers["Retry-After"] = str(RETRY_SEC)
    return answer


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form that was sent; the last value of a repeated field. Refusal (`bad_form`) for too many."""
    text = (await request.body()).decode("utf-8", "replace")
    try:
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS))
    except ValueError:
        raise Refusal("bad_form", f"a form has at most {MAX_FIELDS} fields") from None


@dataclass(frozen=True, slots=True)
class Uploaded:
    """A form with a file: its text fields, and the content of the file or, without a file, of the field `list`."""

    fields: dict[str, str]
    body: bytes


async def upload_of(request: Request) -> Uploaded:
    """The fields and the file of a multipart form. Refusal (`bad_form`)."""
    try:
        async with request.form(max_files=1, max_fields=MAX_FIELDS, max_part_size=MAX_PASTED_BYTES) as form:
            fields = {name: value for name, value in form.items() if isinstance(value, str)}
            files = [await value.read() for value in form.values() if not isinstance(value, str)]
    except HTTPException as error:
        raise Refusal("bad_form", f"the form cannot be read: {error.detail}") from None
    return Uploaded(fields, (files[0] if files else b"") or fields.get("list", "").encode())


HEAVY_PAGE = [Depends(needs("read")), HEAVY]
"""The dependencies of a page whose making is heavy work."""
Text = Annotated[str, Query(max_length=500)]
Form = Annotated[dict[str, str], Depends(form_of)]
Upload = Annotated[Uploaded, Depends(upload_of)]
