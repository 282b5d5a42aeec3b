"""`scrapy relay`: sends events of the stream to Kafka, until it is stopped."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import socket
import sys
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from feedcrawl.commands import OnStores
from feedcrawl.extras import missing

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from feedcrawl.services.operations.consumer import Consumer
    from feedcrawl.wiring import Wiring


class Command(OnStores, ScrapyCommand):
    """Any number may run: one sends, the others wait to take its place."""

    makes_data = True

    def syntax(self) -> str:
        """How it is called."""
        return "[--once | --status]"

    def short_desc(self) -> str:
        """For `scrapy`."""
        return "Send events on to Kafka (FEEDCRAWL_KAFKA_BOOTSTRAP), or tell how far behind that is"

    def add_options(self, parser: ArgumentParser) -> None:
        """--once, --status."""
        super().add_options(parser)
        parser.add_argument("--once", action="store_true", help="end when all that is there is sent")
        parser.add_argument("--status", action="store_true", help="print the number of waiting events as JSON, and end")

    def answer(self, wired: Wiring, args: list[str], opts: Namespace) -> int:
        """Relays until SIGTERM or Ctrl-C."""
        from feedcrawl.commands.exit_status import DONE, FAILED  # noqa: PLC0415 - see the package
        from feedcrawl.extensions import logs  # noqa: PLC0415

        if args:
            raise UsageError("it takes no name", print_help=False)
        if opts.status:
            sys.stdout.write(json.dumps(_status(wired)) + "\n")
            return DONE
        relay = _relay(wired)
        assert self.settings is not None
        logs.install(self.settings)
        ended_well = asyncio.run(_run(relay, once=opts.once))
        sys.stderr.write(f"scrapy relay: {relay.sent} events sent, {relay.refused} refused\n")
        return DONE if ended_well else FAILED


def _relay(wired: Wiring) -> Consumer:
    from feedcrawl.services.operations.relay import relay  # noqa: PLC0415 - see the package

    config = wired.config
    if not config.kafka_bootstrap:
        raise ValueError("FEEDCRAWL_KAFKA_BOOTSTRAP names no brokers: set it to host:port, several comma separated")
    try:
        from feedcrawl.services.operations.kafka import Brokers, access_of  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ValueError(missing(error, "kafka")) from error
    topics = {"webpage_fetched": config.kafka_webpage_topic, "new_entry": config.kafka_entry_topic}
    worker = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
    return relay(wired.events, Brokers(config.kafka_bootstrap, access_of(config)), topics, worker=worker)


async def _run(relay: Consumer, *, once: bool) -> bool:
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    return await relay.run(stop, once=once)


def _status(wired: Wiring) -> dict[str, float | None]:
    from feedcrawl.services.operations.consumer import backlog  # noqa: PLC0415 - see the package
    from feedcrawl.services.operations.relay import GROUP  # noqa: PLC0415

    found = backlog(wired.events, GROUP)
    if found is None:
        return {"unacknowledged": None, "waiting": None, "behind_sec": None}
    behind = 0.0 if found.oldest_at is None else round(max(wired.now().timestamp() - found.oldest_at, 0.0), 3)
    return {"unacknowledged": found.unacknowledged, "waiting": found.waiting, "behind_sec": behind}
