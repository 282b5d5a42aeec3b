"""What one request and one caller may ask for: how often, how long a query, how large a body, how long it may take.

Rates are those of one process of the API: what is counted here is spared to Redis.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from starlette.requests import Request

from feedcrawl.api.access import SAFE_METHODS, identify
from feedcrawl.api.problems import ComeAgain, problem, refused
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.operations.quota import admit
from feedcrawl.store.redis.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from feedcrawl.config import Config

MAX_QUERY_BYTES: Final = 4096
MAX_STRANGERS_BODY_BYTES: Final = 64 << 10
"""Of whoever has not shown yet that he may send anything."""
BODY_SEC: Final = 30.0
CALLERS: Final = 10_000
"""Whose requests are counted; more push out those who have been silent longest."""
EXEMPT: Final = ("/healthz", "/readyz", "/websub/")
"""Asked by supervisors and hubs, which have limits of their own."""


class Rates:
    """Requests of each token and address, those that change something once more by themselves. Of any thread."""

    def __init__(self, per_minute: float, writes_per_minute: float) -> None:
        self._limits = {"all": per_minute, "writes": writes_per_minute}
        self._tats: OrderedDict[tuple[str, str], float] = OrderedDict()
        self._lock = Lock()

    def count(self, caller: str, method: str) -> None:
        """Counts a request; ComeAgain (`too_many_requests`) where it is one too many."""
        kinds = ("all",) if method in SAFE_METHODS else ("all", "writes")
        with self._lock:
            wait = max(self._count((caller, kind)) for kind in kinds)
        if wait:
            limits = " and ".join(f"{self._limits[kind]:g} a minute ({kind})" for kind in kinds)
            raise ComeAgain("too_many_requests", f"more than {limits}; come again in {math.ceil(wait)} s", wait)

    def _count(self, key: tuple[str, str]) -> float:
        limit = self._limits[key[1]]
        if not limit:
            return 0.0
        tat, wait = admit(self._tats.pop(key, 0.0), time.monotonic(), limit)
        self._tats[key] = tat
        if len(self._tats) > CALLERS:
            self._tats.popitem(last=False)
        return wait


class Limits:
    """Refuses what is too much before a route sees it. A body is read whole, within its limits, and must be strict JSON
    where it says that it is JSON: no name twice, no NaN.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes it on with its body, or answers with the problem."""
        if scope["type"] != "http" or scope["path"].startswith(EXEMPT):
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            receive = await _bounded(request)
        except Refusal as error:
            await _turned_away(request, refused(error))(scope, receive, send)
        except StoreUnavailable as error:
            await _turned_away(request, problem(error.code, error.detail, 503))(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _has_body(request: Request) -> bool:
    return not {"content-length", "transfer-encoding"}.isdisjoint(request.headers.keys())


def _turned_away(request: Request, answer: Response) -> Response:
    """The answer, after which the connection ends where the rest of a body would have to be read to go on."""
    if _has_body(request):
        answer.headers["Connection"] = "close"
    return answer


async def _bounded(request: Request) -> Receive:
    """What gives the app the request, its body read already; Refusal for what is too much."""
    if len(request.scope["query_string"]) > MAX_QUERY_BYTES:
        raise Refusal("query_too_long", f"a query has at most {MAX_QUERY_BYTES} bytes")
    request.app.state.rates.count(request.client.host if request.client else "", request.method)
    if not _has_body(request):
        return request.receive
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refusal("bad_encoding", "send the body as it is, without a content encoding")
    is_json = "json" in request.headers.get("content-type", "").partition(";")[0].lower()
    body = await _read(request, await _limit(request, is_json=is_json))
    if is_json and body:
        _check_json(body)
    request.state.body = body
    return _told(body, request.receive)


async def _limit(request: Request, *, is_json: bool) -> int:
    config: Config = request.app.state.wired.config
    allowed = config.api_max_body_bytes if is_json else config.api_max_upload_bytes
    try:
        await identify(request)
    except Refusal:
        return min(allowed, MAX_STRANGERS_BODY_BYTES)
    return allowed


async def _read(request: Request, limit: int) -> bytes:
    """The whole body; nothing is read past the limit, and nothing at all where it is said to be larger."""
    said = request.headers.get("content-length", "0")
    too_large = Refusal("too_large", f"a body of this kind may have {limit} bytes")
    if not said.isdigit() or int(said) > limit:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SEC):
            async for piece in request.stream():
                body += piece
                if len(body) > limit:
                    raise too_large
    except TimeoutError:
        raise Refusal("too_slow", f"a body must have arrived within {BODY_SEC:g} s") from None
    return bytes(body)


def _told(body: bytes, receive: Receive) -> Receive:
    """Gives the body at once, and then whatever comes: that the caller has gone."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def told() -> Message:
        return waiting.pop() if waiting else await receive()

    return told


def _check_json(body: bytes) -> None:
    """Refusal (`bad_json`) for what two readers may understand in two ways, or that is no JSON at all."""
    try:
        value = json.loads(body, object_pairs_hook=_once, parse_constant=_no_number)
        if b"\\u" in body:
            json.dumps(value, ensure_ascii=False).encode()  # half of a surrogate pair is no text
    except (ValueError, RecursionError) as error:
        raise Refusal("bad_json", f"the body is no JSON that can be used: {str(error)[:200]}") from None


def _once(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")
