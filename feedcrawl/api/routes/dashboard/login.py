"""Login to the dashboard with a token, which the browser keeps in a cookie, and logout."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import RedirectResponse, Response

from feedcrawl.api.access import COOKIE, check_origin
from feedcrawl.api.dependencies import Wired
from feedcrawl.api.pages import templates
from feedcrawl.api.pages.route import Form, PageRoute, context
from feedcrawl.api.queries import known_parameters
from feedcrawl.config import Config
from feedcrawl.services.operations import tokens

COOKIE_SEC = 30 * 86_400
UNKNOWN = "The token is unknown or revoked."

router = APIRouter(include_in_schema=False, route_class=PageRoute, dependencies=[Depends(known_parameters)])


def own_path(text: str) -> str:
    """The path of this server that a form names; `/` for an address elsewhere."""
    leads_away = not text.startswith("/") or text.startswith(("//", "/\\")) or not text.isprintable()
    return "/" if leads_away else text


@router.get("/login")
def ask(request: Request, wired: Wired, target: Annotated[str, Query(alias="next", max_length=2000)] = "/") -> Response:
    """The form for a token."""
    values = {"next": own_path(target), "refused": ""}
    return templates.render("login.html", context(request, wired.now(), None, "/login") | values)


@router.post("/login")
def log_in(request: Request, wired: Wired, form: Form) -> Response:
    """Keeps the token in a cookie that scripts cannot read and other sites do not send."""
    check_origin(request)
    text, back = form.get("token", "").strip(), own_path(form.get("next", "/"))
    if tokens.find(wired.tokens, text) is None:
        values = {"next": back, "refused": UNKNOWN}
        return templates.render(
            "login.html", context(request, wired.now(), None, "/login") | values, HTTPStatus.UNAUTHORIZED
        )
    answer = RedirectResponse(back, 303, templates.HEADERS)
    secure = _is_secure(request, wired.config)
    answer.set_cookie(COOKIE, text, max_age=COOKIE_SEC, httponly=True, samesite="strict", secure=secure)
    return answer


@router.post("/logout")
def log_out(request: Request, wired: Wired) -> Response:
    """Deletes the cookie; the token itself stays valid elsewhere."""
    check_origin(request)
    answer = RedirectResponse("/login", 303, templates.HEADERS)
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict", secure=_is_secure(request, wired.config))
    return answer


def _is_secure(request: Request, config: Config) -> bool:
    """True if browsers reach this server over TLS, directly or through a proxy."""
    public = config.public_url or ""
    by_name = public.startswith("https://") and request.headers.get("host") == public.removeprefix("https://").strip(
        "/"
    )
    return request.url.scheme == "https" or by_name
