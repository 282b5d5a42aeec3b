"""The work of `scrapy api`: serves until SIGTERM or Ctrl-C."""

from __future__ import annotations

import logging
import os
import signal
import socket
from typing import TYPE_CHECKING, Final

import uvicorn

from feedcrawl.api.app import create_app
from feedcrawl.api.limits.connections import server_config
from feedcrawl.api.requests import WithRequestId
from feedcrawl.console.output import DONE, FAILED, say
from feedcrawl.console.stores import on
from feedcrawl.extensions import logs
from feedcrawl.wiring import Wiring

if TYPE_CHECKING:
    from argparse import Namespace


BACKLOG: Final = 2048
"""Connections that wait to be accepted, as uvicorn has."""


@on(Wiring, makes_data=True)
def run(wired: Wiring, args: list[str], opts: Namespace) -> int:  # noqa: ARG001 - no arguments
    """Serves; the stores are opened before the port."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: None)  # uvicorn ends and raises the signal again; the stores must be closed
    logs.install(wired.settings)
    for handler in logging.root.handlers:
        handler.addFilter(WithRequestId())
    _ = wired.source_book  # a sources file that cannot be used stops the start
    host, port = wired.config.api_host, wired.config.api_port
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else error  # `strerror` repeats the address as Python shows it
        say("api", f"nothing can be served at {host} port {port}: {why} (FEEDCRAWL_API_PORT)")
        return FAILED
    drain_sec = round(wired.config.drain_sec)
    with listening:
        config = server_config(create_app(wired), timeout_graceful_shutdown=drain_sec, host=host, port=port)
        uvicorn.Server(config).run(sockets=[listening])
    return DONE
