"""Limits of one request: length of its query, size of its body, rate of its caller."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Final

from starlette.datastructures import MutableHeaders
from starlette.requests import Request

from feedcrawl.api.access import identify
from feedcrawl.api.limits.bodies import Bodies, check_json
from feedcrawl.api.problems import problem, refused
from feedcrawl.domain.errors import Refusal
from feedcrawl.store.redis.errors import StoreUnavailable

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from feedcrawl.config import Config

MAX_QUERY_BYTES: Final = 4096
LOGIN: Final = "/login"
MAX_LOGIN_BYTES: Final = 64 << 10
"""Size of the login form, the only body that callers without a token may send."""
EXEMPT: Final = ("/healthz", "/readyz", "/websub/", "/rsscloud/")
"""For supervisors and hubs, which have limits of their own."""


class Limits:
    """Refuses requests over a limit before a route sees them.

    The body of a caller with a token is read whole, within its limits, and must be strict JSON if its type is JSON: no
    repeated name, no NaN. The body of a caller without a token is not read, except the form of `/login`: the route
    refuses the request by its head alone.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on with its body, or answers with the problem."""
        if scope["type"] != "http" or scope["path"].startswith(EXEMPT):
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        async with AsyncExitStack() as stack:
            try:
                body = await _body(request, stack)
            except Refusal as error:
                await turned_away(request, refused(error))(scope, receive, send)
            except StoreUnavailable as error:
                await turned_away(request, problem(error.code, error.detail, 503))(scope, receive, send)
            else:
                is_unread = body is None and has_body(request)
                given = _given(body or b"", receive) if has_body(request) else receive
                await self._app(scope, given, _last(send) if is_unread else send)


def has_body(request: Request) -> bool:
    """True if the head of a request announces a body."""
    return not {"content-length", "transfer-encoding"}.isdisjoint(request.headers.keys())


def turned_away(request: Request, answer: Response) -> Response:
    """The response; the connection ends after it if the rest of a body would have to be read first."""
    if has_body(request):
        answer.headers["Connection"] = "close"
    return answer


async def _body(request: Request, stack: AsyncExitStack) -> bytes | None:
    """The body, read within its limits and counted until `stack` ends; None if there is none, or it must not be
    read.
    """
    if len(request.scope["query_string"]) > MAX_QUERY_BYTES:
        raise Refusal("query_too_long", f"a query has at most {MAX_QUERY_BYTES} bytes")
    request.app.state.rates.count(request.client.host if request.client else "", request.method)
    if not has_body(request):
        return None
    is_json = "json" in request.headers.get("content-type", "").partition(";")[0].lower()
    limit = await _limit(request, is_json=is_json)
    if limit is None:
        return None
    bodies: Bodies = request.app.state.bodies
    body = await stack.enter_async_context(bodies.read(request, limit))
    if is_json and body:
        check_json(body)
    request.state.body = body
    return body


async def _limit(request: Request, *, is_json: bool) -> int | None:
    """Size limit of the body; None if it must not be read, since the caller has no token."""
    config: Config = request.app.state.wired.config
    if request.url.path == LOGIN:
        return MAX_LOGIN_BYTES
    try:
        await identify(request)
    except Refusal:
        return None
    return config.api_max_body_bytes if is_json else config.api_max_upload_bytes


def _given(body: bytes, receive: Receive) -> Receive:
    """Receives the body at once, and then the later messages (the caller's disconnect)."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def given() -> Message:
        return waiting.pop() if waiting else await receive()

    return given


def _last(send: Send) -> Send:
    """Sends a response and then ends the connection, since the body of the request is still being sent."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message)["Connection"] = "close"
        await send(message)

    return sent
