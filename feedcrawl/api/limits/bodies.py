"""Bodies of requests: the size of a body, the time that it may take, and the memory of all bodies together."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from starlette.requests import ClientDisconnect

from feedcrawl.api.limits.places import Places
from feedcrawl.api.problems import RetryLater
from feedcrawl.domain.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from starlette.requests import Request

BODY_SEC: Final = 30.0
ARRIVING: Final = 128
ARRIVING_OF_ONE: Final = 32
"""Bodies of one address that are being received: half-sent bodies must not take every place."""
BUSY_SEC: Final = 5.0
HELD_BYTES: Final = 64 << 20
"""Bodies of all requests that are under way, in the memory of one process."""


class Bodies:
    """The bodies that this process has in memory, for one event loop.

    `largest` is the size of one body: four of them fit whatever `HELD_BYTES` is.
    """

    def __init__(self, largest: int) -> None:
        self._limit = max(HELD_BYTES, 4 * largest)
        self._bytes = 0
        self._arriving = Places(ARRIVING, ARRIVING_OF_ONE, "too_many_bodies", "bodies may be on their way")

    @asynccontextmanager
    async def read(self, request: Request, limit: int) -> AsyncIterator[bytes]:
        """The whole body of at most `limit` bytes, whose bytes count until the block ends.

        Nothing is read past a limit, and nothing at all of a body whose Content-Length is over it. Refusal:
        `too_large`, `too_slow`, `bad_encoding`, `body_incomplete`; RetryLater: `too_many_bodies`.
        """
        if request.headers.get("content-encoding", "identity").lower() != "identity":
            raise Refusal("bad_encoding", "send the body as it is, without a content encoding")
        try:
            with self._arriving.taken(request.client.host if request.client else ""):
                async with asyncio.timeout(BODY_SEC):
                    body = await self._whole(request, limit)
        except TimeoutError:
            raise Refusal("too_slow", f"a body must have arrived within {BODY_SEC:g} s") from None
        except ClientDisconnect:
            raise Refusal("body_incomplete", "the connection ended within the body") from None
        try:
            yield body
        finally:
            self._bytes -= len(body)

    async def _whole(self, request: Request, limit: int) -> bytes:
        """The body, with its bytes counted; a failure uncounts them."""
        too_large = Refusal("too_large", f"a body of this kind may have {limit} bytes")
        length = request.headers.get("content-length", "0")
        if not length.isdigit() or int(length) > limit:
            raise too_large
        body = bytearray()
        try:
            async for piece in request.stream():
                if len(body) + len(piece) > limit:
                    raise too_large  # noqa: TRY301 - the bytes must be uncounted
                self._hold(len(piece))
                body += piece
        except BaseException:
            self._bytes -= len(body)
            raise
        return bytes(body)

    def _hold(self, size: int) -> None:
        if self._bytes + size > self._limit:
            raise RetryLater("too_many_bodies", "other bodies are being processed: try again", BUSY_SEC)
        self._bytes += size


def check_json(body: bytes) -> None:
    """Refusal (`bad_json`) for ambiguous JSON, or text that is not JSON."""
    try:
        value = json.loads(body, object_pairs_hook=_once, parse_constant=_no_number)
        if b"\\u" in body:
            json.dumps(value, ensure_ascii=False).encode()  # half of a surrogate pair is not text
    except (ValueError, RecursionError) as error:
        raise Refusal("bad_json", f"the body must be strict JSON: {str(error)[:200]}") from None


def _once(pairs: list[tuple[str, object]]) -> Mapping[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice in one object")
    return found


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")
