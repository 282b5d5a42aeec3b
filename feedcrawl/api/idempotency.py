"""`Idempotency-Key`: a repeated POST, whose first response was lost, gets the cached response.

A key is valid for one caller, method and path, for a day. The same key with another body is an error of the caller.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Final, Required, TypedDict

from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from feedcrawl.api.access import identify
from feedcrawl.api.problems import RetryLater, problem, refused
from feedcrawl.domain.errors import Refusal
from feedcrawl.store.redis.errors import StoreUnavailable

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from feedcrawl.store.operations.cached_responses import CachedResponses

MAX_CHARS: Final = 255
MAX_BYTES: Final = 256 << 10
"""Size of a cached response. Responses to long lists are larger; repeating such a request queues or subscribes
nothing twice.
"""
_KEPT_HEADERS: Final = ("content-type", "location", "etag", "link")
_NOT_KEPT: Final = frozenset({401, 403, 408, 409, 413, 429})
"""Statuses that do not tell the result of the request, so they are not cached; neither are 500 and above."""


class Idempotency:
    """The layer after the body has been read (`request.state.body`). A request without a caller is left to the
    route to refuse.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the cached response, or passes the request on and caches the response."""
        request = Request(scope, receive) if scope["type"] == "http" else None
        if request is None or request.method != "POST" or "idempotency-key" not in request.headers:
            await self._app(scope, receive, send)
            return
        try:
            name = await _name(request)
        except Refusal as error:
            await refused(error)(scope, receive, send)
            return
        if name is None:
            await self._app(scope, receive, send)
            return
        await self._once(request, name, receive, send)

    async def _once(self, request: Request, name: str, receive: Receive, send: Send) -> None:
        answers: CachedResponses = request.app.state.wired.cached_responses
        mark = hashlib.sha256(getattr(request.state, "body", b"")).hexdigest()
        try:
            kept = await run_in_threadpool(_begin, answers, name, mark)
        except Refusal as error:
            await refused(error)(request.scope, receive, send)
        except StoreUnavailable as error:
            await problem(error.code, error.detail, 503)(request.scope, receive, send)
        else:
            if kept is not None:
                await kept(request.scope, receive, send)
                return
            answer = _Answer(send)
            try:
                await self._app(request.scope, receive, answer)
            finally:
                await run_in_threadpool(_keep, answers, name, answer.record(mark))
            await answer.end()


async def _name(request: Request) -> str | None:
    """The name of a request's cached response; None without a caller. Refusal for an invalid key."""
    key = request.headers["idempotency-key"]
    if not (0 < len(key) <= MAX_CHARS and key.isascii() and key.isprintable()):
        raise Refusal("bad_idempotency_key", f"an Idempotency-Key has up to {MAX_CHARS} visible characters of ASCII")
    try:
        caller = await identify(request)
    except (Refusal, StoreUnavailable):
        return None
    return hashlib.sha256("\n".join((caller.actor, request.url.path, request.url.query, key)).encode()).hexdigest()


class _Cached(TypedDict, total=False):
    mark: Required[str]
    status: int
    headers: dict[str, str]
    body: str


def _begin(answers: CachedResponses, name: str, mark: str) -> Response | None:
    text = answers.begin(name, mark)
    if text is None:
        return None
    cached: _Cached = json.loads(text) if text.startswith("{") else {"mark": text}
    if cached["mark"] != mark:
        raise Refusal("idempotency_mismatch", "this Idempotency-Key was used with another body")
    if "status" not in cached:
        raise RetryLater("idempotency_in_progress", "a request with this Idempotency-Key is under way", 1)
    return Response(b64decode(cached["body"]), cached["status"], {**cached["headers"], "Idempotency-Replayed": "true"})


def _keep(answers: CachedResponses, name: str, record: str | None) -> None:
    """Caches a response, or frees the key of a response that must not be repeated."""
    try:
        answers.forget(name) if record is None else answers.keep(name, record)
    except StoreUnavailable:
        return  # the response is sent all the same; the key is free in a minute


class _Answer:
    """Sends a response and records it. Its last part waits until it is cached: a caller that has it may repeat
    the request.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._body = bytearray()
        self._last: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
        else:
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                self._last = message
                return
        await self._send(message)

    async def end(self) -> None:
        """Sends the part that was held back."""
        if self._last is not None:
            await self._send(self._last)

    def record(self, mark: str) -> str | None:
        """The cached form of the response; None if it must not be repeated."""
        if self._start is None or self._start["status"] >= 500 or self._start["status"] in _NOT_KEPT:
            return None
        if len(self._body) > MAX_BYTES:
            return None
        given = Headers(raw=self._start["headers"])
        headers = {name: given[name] for name in _KEPT_HEADERS if name in given}
        status, body = self._start["status"], b64encode(self._body).decode()
        return json.dumps({"mark": mark, "status": status, "headers": headers, "body": body})
