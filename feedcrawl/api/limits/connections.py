"""Connections to the API: HTTP/1.1 as uvicorn speaks it, and how many may be open without a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

    from starlette.types import ASGIApp

HEAD_SEC: Final = 10.0
"""How long the head of a request may take; uvicorn itself waits for ever, and open connections are counted."""
UNREAD_SEC: Final = 30.0
"""How long a caller may read nothing of an answer that is larger than the buffers between us."""
CONNECTIONS: Final = 200
"""Open at a time. More are answered with 503, but only if each of them has a request under way."""
IDLE_OF_ONE: Final = 64
"""Connections of one address without a whole request; one more ends the oldest of them."""
KEEP_ALIVE_SEC: Final = 5
_HEADERS: Final = [("Cross-Origin-Resource-Policy", "same-origin")]
"""On all answers, those of uvicorn's own limits included: no page of another site may load one."""


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
    """Ends if no request has begun within `HEAD_SEC` of the connection, or of the first byte after the last request.

    A connection without a request gives way to a new one if its address has too many of them, or if all places are
    taken: whoever opens connections and says little takes the places of his own, and never those of requests.
    """

    _timer: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _idle_since: float = 0.0

    @property
    def is_idle(self) -> bool:
        """True if no request is under way: none came yet, or its head is incomplete, or all are answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Waits for the first request."""
        super().connection_made(transport)
        self._idle_since = self.loop.time()
        self._timer = self.loop.call_later(HEAD_SEC, transport.abort)
        self._make_room()

    def data_received(self, data: bytes) -> None:
        """Reads it, and waits for the rest of a head."""
        super().data_received(data)
        if self.is_idle and self._timer is None:
            self._timer = self.loop.call_later(HEAD_SEC, self.transport.abort)
        elif not self.is_idle:
            _stop(self._timer)
            self._timer = None

    def on_response_complete(self) -> None:
        """Is idle again."""
        self._idle_since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Waits for the caller to read on."""
        super().pause_writing()
        self._unread = self.loop.call_later(UNREAD_SEC, self.transport.abort)

    def resume_writing(self) -> None:
        """The caller reads."""
        _stop(self._unread)
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Waits no more."""
        _stop(self._timer)
        _stop(self._unread)
        super().connection_lost(exc)

    def _make_room(self) -> None:
        alive = [each for each in self.connections if isinstance(each, Connection) and not each.transport.is_closing()]
        idle = [each for each in alive if each.is_idle and not each.transport.get_write_buffer_size()]
        own = [each for each in idle if each.client and self.client and each.client[0] == self.client[0]]
        is_full = self.limit_concurrency is not None and len(alive) >= self.limit_concurrency
        crowd = own if len(own) > IDLE_OF_ONE else idle if is_full else []
        if crowd:
            min(crowd, key=lambda each: each._idle_since).transport.abort()  # noqa: SLF001 - its own kind


def _stop(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
