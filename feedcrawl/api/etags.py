"""ETags of responses: a strong ETag from the body's bytes, and 304 for a caller that has this version (RFC 9110)."""

from __future__ import annotations

import hashlib
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from starlette.datastructures import Headers, MutableHeaders

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BYTES: Final = 4 << 20
"""Larger responses are not hashed."""
_OF_A_BODY: Final = ("content-length", "content-type", "content-encoding")


class ETags:
    """For complete responses to GET with status 200. A streamed response has the ETag that its route set, if any."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, and the response with its ETag."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        known_tags = Headers(scope=scope).get("if-none-match")
        delayed: Message | None = None
        is_over = False

        async def tagged(message: Message) -> None:
            nonlocal delayed, is_over
            if message["type"] == "http.response.start" and message["status"] == 200:
                delayed = message
                return
            start, delayed = delayed, None
            if start is not None:
                is_untagged = message.get("more_body") and "etag" not in Headers(raw=start["headers"])
                start = start if is_untagged else _tag(start, message, known_tags)
                await send(start)
            if not is_over:
                is_over = start is not None and start["status"] == HTTPStatus.NOT_MODIFIED
                await send({"type": message["type"]} if is_over else message)

        await self._app(scope, receive, tagged)


def _tag(start: Message, body: Message, known_tags: str | None) -> Message:
    """The head of the response with its ETag; a 304, which has no body, if the caller has this version."""
    headers = MutableHeaders(raw=list(start["headers"]))
    content = body.get("body", b"")
    if "etag" not in headers and len(content) <= MAX_BYTES:
        headers["ETag"] = etag_of(content)
    headers.setdefault("Cache-Control", "private, no-cache")
    if "etag" not in headers or not is_known(headers["etag"], known_tags):
        return {**start, "headers": headers.raw}
    for name in _OF_A_BODY:
        del headers[name]
    return {**start, "status": 304, "headers": headers.raw}


def etag_of(content: bytes) -> str:
    """The strong ETag of a response body."""
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def is_known(etag: str, known_tags: str | None) -> bool:
    """True if If-None-Match contains an ETag, by weak comparison (RFC 9110 section 13.1.2)."""
    if known_tags is None:
        return False
    return known_tags.strip() == "*" or etag in (each.strip().removeprefix("W/") for each in known_tags.split(","))
