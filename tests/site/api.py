"""The API of a data directory, served on loopback in a thread of its own."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

import uvicorn
from ports import free_port  # noqa: F401 (who serves an API needs both)

from feedcrawl.api.app import create_app
from feedcrawl.api.limits.connections import server_config
from feedcrawl.wiring import Wiring


@contextlib.contextmanager
def serving(wired: Wiring, port: int) -> Iterator[str]:
    """The URL at which the API answers."""
    server = uvicorn.Server(server_config(create_app(wired), port=port))
    thread = threading.Thread(target=server.run, name="api", daemon=True)
    thread.start()
    end = time.monotonic() + 10
    while not server.started:
        assert time.monotonic() < end, "the API does not start"
        time.sleep(0.005)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)
