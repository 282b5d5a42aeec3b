"""`scrapy api`: serves the HTTP API until it is told to stop."""

from __future__ import annotations

import logging
import signal
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand

from feedcrawl.commands import OnStores

if TYPE_CHECKING:
    from argparse import Namespace

    from feedcrawl.wiring import Wiring

KEEP_ALIVE_SEC = 5
CONNECTIONS = 200
"""Open at a time; more are answered with 503."""


class Command(OnStores, ScrapyCommand):
    """Exit status 2 where the packages of the `api` extra are not installed."""

    def short_desc(self) -> str:
        """For `scrapy`."""
        return "Serve the HTTP API"

    def answer(self, wired: Wiring, args: list[str], opts: Namespace) -> int:  # noqa: ARG002 - no arguments
        """Serves; the stores are open before anyone is listened to."""
        from feedcrawl.commands.exit_status import DONE, UNUSABLE, say  # noqa: PLC0415 - see the package

        try:
            import uvicorn  # noqa: PLC0415

            from feedcrawl.api.app import create_app  # noqa: PLC0415
            from feedcrawl.api.connections import Connection  # noqa: PLC0415
            from feedcrawl.api.requests import WithRequestId  # noqa: PLC0415
        except ModuleNotFoundError as error:
            say("api", f"{error.name} is not installed: pip install 'feedcrawl[api]'")
            return UNUSABLE
        from feedcrawl.extensions import logs  # noqa: PLC0415

        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, lambda *_: None)  # uvicorn ends and raises it again; stores must close
        assert self.settings is not None
        logs.install(self.settings)
        for handler in logging.root.handlers:
            handler.addFilter(WithRequestId())
        _ = wired.connection
        uvicorn.run(
            create_app(wired),
            host=wired.config.api_host,
            port=wired.config.api_port,
            http=Connection,
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_SEC,
            limit_concurrency=CONNECTIONS,
            timeout_graceful_shutdown=round(wired.config.drain_sec),
        )
        return DONE
