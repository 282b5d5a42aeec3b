"""Connections to the API: HTTP/1.1 as uvicorn speaks it, and how many may be open without a request."""

from __future__ import annotations

from collections import Counter
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

    from starlette.types import ASGIApp

HEAD_SEC: Final = 10.0
"""Seconds for the head of a request; uvicorn has no such limit, and the number of open connections is limited."""
UNREAD_SEC: Final = 30.0
"""Seconds in which a caller may read nothing of a response that is larger than the buffers in between."""
CONNECTIONS: Final = 200
"""Open connections at a time. Further ones are answered with 503, but only if all of these have a request under
way.
"""
KEEP_ALIVE_SEC: Final = 5
_HEADERS: Final = [("Cross-Origin-Resource-Policy", "same-origin")]
"""Headers of all responses, also of uvicorn's own limits: no page of another site may load a response."""


def server_config(app: ASGIApp, **more: Any) -> uvicorn.Config:
    """The server of the API: connections within the limits of this module, no log of uvicorn's own."""
    return uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        headers=_HEADERS,
        timeout_keep_alive=KEEP_ALIVE_SEC,
        limit_concurrency=CONNECTIONS,
        **more,
    )


class Connection(H11Protocol):
    """Ends if no request head is complete within `HEAD_SEC` of the connection, or of the first byte after the last
    request.

    If all places are taken, a new connection ends an idle connection: the oldest of the address that has most idle
    ones. A caller that opens connections without requests takes places only from its own, never the place of a request.
    """

    _timer: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    idle_since: float = 0.0

    @property
    def is_idle(self) -> bool:
        """True if no request is under way: none came yet, or its head is incomplete, or all are answered."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def address(self) -> str:
        """The caller's IP address, empty if it is not known."""
        return self.client[0] if self.client else ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Waits for the first request."""
        super().connection_made(transport)
        self.idle_since = self.loop.time()
        self._timer = self.loop.call_later(HEAD_SEC, transport.abort)
        self._make_room()

    def data_received(self, data: bytes) -> None:
        """Reads the data, and waits for the rest of an incomplete head."""
        super().data_received(data)
        if self.is_idle and self._timer is None:
            self._timer = self.loop.call_later(HEAD_SEC, self.transport.abort)
        elif not self.is_idle:
            _stop(self._timer)
            self._timer = None

    def on_response_complete(self) -> None:
        """The connection is idle again."""
        self.idle_since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Waits until the caller reads again."""
        super().pause_writing()
        self._unread = self.loop.call_later(UNREAD_SEC, self.transport.abort)

    def resume_writing(self) -> None:
        """The caller reads again."""
        _stop(self._unread)
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancels the waiting."""
        _stop(self._timer)
        _stop(self._unread)
        super().connection_lost(exc)

    def _make_room(self) -> None:
        alive = [each for each in self.connections if isinstance(each, Connection) and not each.transport.is_closing()]
        if self.limit_concurrency is None or len(alive) < self.limit_concurrency:
            return
        idle = [each for each in alive if each.is_idle and not each.transport.get_write_buffer_size()]
        most = max(Counter(each.address for each in idle).items(), key=itemgetter(1))[0]  # this one is idle itself
        crowd = (each for each in idle if each.address == most)
        min(crowd, key=lambda each: each.idle_since).transport.abort()


def _stop(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
