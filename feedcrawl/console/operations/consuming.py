"""Runs a consumer of the event stream until a signal."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from feedcrawl.services.operations.consumer import Consumer


def consume(consumer: Consumer, *, once: bool) -> bool:
    """Consume until SIGTERM or Ctrl-C, with `once` until all events are processed; False if that is impossible."""
    return asyncio.run(_run(consumer, once=once))


async def _run(consumer: Consumer, *, once: bool) -> bool:
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    return await consumer.run(stop, once=once)


def worker_name() -> str:
    """A name for this process that no other process has."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
