"""Authentication and authorization of callers.

A token comes as `Authorization: Bearer …`, or in the cookie that the dashboard's login sets. If the API listens only on
loopback, a caller that uses a loopback name and no proxy needs no token. A request that a browser sends on behalf of
another site is refused if it would change data, with or without a token.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.security import APIKeyCookie, HTTPBearer

from feedcrawl.api.dependencies import wiring_of
from feedcrawl.api.problems import CROSS_SITE
from feedcrawl.api.queries import known_parameters
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.operations.tokens import SCOPES, Scope, granted
from feedcrawl.hints import program
from feedcrawl.services.operations import tokens
from feedcrawl.store.operations.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


LOCAL: Final = "local"
"""The actor of callers on this machine without a token."""
COOKIE: Final = "feedcrawl_token"
SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_FORWARDED: Final = ("forwarded", "via", "x-real-ip", "x-forwarded-")
"""Prefixes of the header names that proxies add."""
_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::[0-9]{1,5})?")
"""A valid Host header: a lenient parser could read an invalid value as another host."""
_BEARER: Final = HTTPBearer(auto_error=False, description="A token of `scrapy token create`")
_BY_COOKIE: Final = APIKeyCookie(name=COOKIE, auto_error=False, description="The same token, as the dashboard keeps it")


@dataclass(frozen=True, slots=True)
class Caller:
    """An actor's name and scopes. `token_id` is the id of its token; None for a caller on this machine without a
    token.
    """

    actor: str
    scopes: frozenset[Scope]
    token_id: str | None = None


def is_loopback(host: str) -> bool:
    """True if a host (of a listening address or of a Host header) is this machine's loopback."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def caller_of(request: Request, known: Tokens, api_host: str) -> Caller:
    """The caller of a request. Looks up its token in the store. Refusal: `token_missing`, `token_unknown`,
    `cross_site`.
    """
    if request.method not in SAFE_METHODS:
        check_origin(request)
    text = shown_token(request)
    if text is not None:
        token = tokens.find(known, text)
        if token is None:
            raise Refusal(
                "token_unknown", f"the token is unknown or revoked: `{program()} token list` lists the valid tokens"
            )
        return Caller(token.actor, granted(token.scope), token.id)
    if is_loopback(api_host) and _is_local(request):
        return Caller(LOCAL, frozenset(SCOPES))
    raise Refusal("token_missing", f"send `Authorization: Bearer TOKEN`; `{program()} token create NAME` makes one")


async def identify(request: Request) -> Caller:
    """As `caller_of`, but at most once per request and without blocking other requests."""
    found: Caller | None = getattr(request.state, "caller", None)
    if found is None:
        wired = wiring_of(request)
        found = await run_in_threadpool(caller_of, request, wired.tokens, wired.config.api_host)
        request.state.caller, request.state.actor = found, found.actor
    return found


@cache
def needs(scope: Scope) -> Callable[..., Awaitable[Caller]]:
    """The dependency of a route that requires a scope: 401 without a token, 403 for a lesser scope, 429 over the
    rate.
    """

    async def caller(
        request: Request, _bearer: Annotated[object, Depends(_BEARER)], _cookie: Annotated[object, Depends(_BY_COOKIE)]
    ) -> Caller:
        found = await identify(request)
        if found.token_id is not None:
            request.app.state.rates.count(found.token_id, request.method)
        if scope not in found.scopes:
            having = ", ".join(sorted(found.scopes))
            raise Refusal("scope_missing", f"this route requires scope {scope}; the token has {having}")
        await known_parameters(request)
        return found

    return caller


Reader = Annotated[Caller, Depends(needs("read"))]
Writer = Annotated[Caller, Depends(needs("write"))]
"""The caller of a route that requires a scope."""


@cache
def needs_unless_open(setting: str) -> Callable[..., Awaitable[None]]:
    """The dependency of a route that requires the scope `read`, unless a setting of `Config` opens the route to all."""
    reader = needs("read")

    async def caller(
        request: Request, bearer: Annotated[object, Depends(_BEARER)], cookie: Annotated[object, Depends(_BY_COOKIE)]
    ) -> None:
        if getattr(wiring_of(request).config, setting):
            await known_parameters(request)
        else:
            await reader(request, bearer, cookie)

    return caller


def shown_token(request: Request) -> str | None:
    """The text of the request's token, valid or not; None without a token.

    A token in the header takes precedence over the cookie, which browsers send automatically.
    """
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return text.strip()
    return request.cookies.get(COOKIE)


def _is_local(request: Request) -> bool:
    """True if only this machine can have sent the request.

    A web page whose host name was made to resolve to this machine sends that name as Host.
    """
    if any(name.startswith(_FORWARDED) for name in request.headers):
        return False
    client = request.client
    host = _HOST.fullmatch(request.headers.get("host", ""))
    return host is not None and is_loopback(host[1]) and (client is None or is_loopback(client.host))


def check_origin(request: Request) -> None:
    """Refusal (`cross_site`) for a request that a browser sends for a page of another origin.

    A request with a cookie must name its origin; programs, which have no cookie, send no origin.
    """
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    own = request.headers.get("host", "").lower()
    is_own = _host_of(origin) == own != "" if origin is not None else site in ("same-origin", "none")
    if not is_own and (origin is not None or site is not None or _has_cookie_alone(request)):
        raise Refusal(
            CROSS_SITE, "a request that changes data must come from this origin, or have a token in its header"
        )


def _host_of(origin: str) -> str:
    return origin.partition("://")[2].lower()


def _has_cookie_alone(request: Request) -> bool:
    return COOKIE in request.cookies and "authorization" not in request.headers
