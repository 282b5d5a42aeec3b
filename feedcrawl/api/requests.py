"""Request ids: the caller's `X-Request-ID` or a new id, in the response, in log lines and in records of the
request.
"""

from __future__ import annotations

import logging
import re
import time
import uuid
from contextvars import ContextVar
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

logger = logging.getLogger(__name__)

REQUEST_ID: ContextVar[str | None] = ContextVar("request_id", default=None)
_VALID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class Requests:
    """Gives each request an id, and logs its result with its route; paths may contain secrets and are not logged."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        name = given if _VALID.fullmatch(given) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = name
        REQUEST_ID.set(name)
        began, status = time.monotonic(), 500

        async def named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = name
                headers.setdefault("X-Content-Type-Options", "nosniff")
                headers.setdefault("Cache-Control", "no-store")  # otherwise browsers cache a 404 or a 308
            await send(message)

        try:
            await self._app(scope, receive, named)
        finally:
            logger.info("request", extra=_fields(scope, status, time.monotonic() - began))


def _fields(scope: Scope, status: int, took_sec: float) -> dict[str, object]:
    route = getattr(scope.get("route"), "path", None)
    fields = {"method": scope["method"], "route": route, "http_status": status, "seconds": round(took_sec, 4)}
    return fields | {"actor": scope["state"].get("actor")}


class Heads:
    """Answers HEAD like GET, without the content (RFC 9110 section 9.3.2)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on as a GET and ends the response after its head."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        is_over = False

        async def head(message: Message) -> None:
            nonlocal is_over
            if is_over:
                return  # the rest of a stream, which the server's http.disconnect ends
            if message["type"] == "http.response.body":
                is_over, message = True, {"type": message["type"]}
            await send(message)

        await self._app({**scope, "method": "GET"}, receive, head)


class WithRequestId(logging.Filter):
    """Adds the request id to each log record of a request."""

    def filter(self, record: logging.LogRecord) -> bool:
        """True for every record."""
        name = REQUEST_ID.get()
        if name is not None:
            record.request_id = name
        return True
