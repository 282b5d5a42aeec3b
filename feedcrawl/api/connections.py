"""Connections to the API: HTTP/1.1 as uvicorn speaks it, for callers who come to the point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

HEAD_SEC: Final = 10.0
"""How long the head of a request may take; uvicorn itself waits for ever, and open connections are counted."""


class Connection(H11Protocol):
    """Ends where no request has begun within `HEAD_SEC`: of being opened, or of the first byte after the one before."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Waits for the first request."""
        super().connection_made(transport)
        self._timer = self.loop.call_later(HEAD_SEC, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Reads it, and waits for the rest of a head."""
        super().data_received(data)
        is_waiting = self.cycle is None or self.cycle.response_complete
        if is_waiting and self._timer is None:
            self._timer = self.loop.call_later(HEAD_SEC, self.transport.abort)
        elif not is_waiting:
            self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Waits no more."""
        self._stop()
        super().connection_lost(exc)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
