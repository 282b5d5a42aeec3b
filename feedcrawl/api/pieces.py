"""Large responses that many callers share: sent in pieces, so that no caller needs a copy of the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fastapi.responses import Response

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

PIECE: Final = 64 << 10


class Pieces(Response):
    """A response whose body is sent as fast as its caller reads, `PIECE` bytes at a time."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's signature
        """Sends the answer."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        content = memoryview(self.body)
        for first in range(0, len(content), PIECE):
            piece = bytes(content[first : first + PIECE])
            await send({"type": "http.response.body", "body": piece, "more_body": first + PIECE < len(content)})
        if not content:
            await send({"type": "http.response.body", "body": b""})
