"""`scrapy api`: serves the HTTP API until it is stopped."""

from __future__ import annotations

import logging
import signal
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand

from feedcrawl.commands import OnStores
from feedcrawl.extras import missing

if TYPE_CHECKING:
    from argparse import Namespace

    from feedcrawl.wiring import Wiring


class Command(OnStores, ScrapyCommand):
    """Exit status 2 if the packages of the `api` extra are not installed."""

    makes_data = True

    def short_desc(self) -> str:
        """For `scrapy`."""
        return "Serve the HTTP API"

    def answer(self, wired: Wiring, args: list[str], opts: Namespace) -> int:  # noqa: ARG002 - no arguments
        """Serves; the stores are opened before the port."""
        from feedcrawl.commands.exit_status import DONE, UNUSABLE, say  # noqa: PLC0415 - see the package

        try:
            import uvicorn  # noqa: PLC0415

            from feedcrawl.api.app import create_app  # noqa: PLC0415
            from feedcrawl.api.limits.connections import server_config  # noqa: PLC0415
            from feedcrawl.api.requests import WithRequestId  # noqa: PLC0415
        except ModuleNotFoundError as error:
            say("api", missing(error, "api"))
            return UNUSABLE
        from feedcrawl.extensions import logs  # noqa: PLC0415

        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, lambda *_: None)  # uvicorn ends and raises the signal again; the stores must be closed
        assert self.settings is not None
        logs.install(self.settings)
        for handler in logging.root.handlers:
            handler.addFilter(WithRequestId())
        _ = wired.source_book  # a sources file that cannot be used stops the start
        address = {"host": wired.config.api_host, "port": wired.config.api_port}
        drain_sec = round(wired.config.drain_sec)
        uvicorn.Server(server_config(create_app(wired), timeout_graceful_shutdown=drain_sec, **address)).run()
        return DONE
