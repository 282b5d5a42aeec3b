"""The work of `scrapy relay`: sends events to Kafka until a signal, or prints how many wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.console.operations.consuming import consume
from feedcrawl.console.output import DONE, write_json
from feedcrawl.console.stores import on
from feedcrawl.domain.errors import ConfigError
from feedcrawl.extensions import logs
from feedcrawl.services.operations.consumer import backlog
from feedcrawl.services.operations.kafka import Brokers, access_of
from feedcrawl.services.operations.relay import GROUP, relay
from feedcrawl.wiring.stores import Stores

if TYPE_CHECKING:
    from argparse import Namespace

    from feedcrawl.services.operations.consumer import Consumer


@on(Stores, makes_data=True)
def run(wired: Stores, args: list[str], opts: Namespace) -> int:  # noqa: ARG001 - no names
    """Relays until SIGTERM or Ctrl-C."""
    if opts.status:
        return _show_status(wired)
    consumer = _consumer(wired)
    logs.install(wired.settings)
    return consume("relay", consumer, once=opts.once, sentence="{sent} events sent, {refused} refused")


def _consumer(wired: Stores) -> Consumer:
    config = wired.config
    if not config.kafka_bootstrap:
        raise ConfigError("FEEDCRAWL_KAFKA_BOOTSTRAP names no brokers: set it to host:port, several comma separated")
    topics = {"webpage_fetched": config.kafka_webpage_topic, "new_entry": config.kafka_entry_topic}
    brokers = Brokers(config.kafka_bootstrap, access_of(config))
    return relay(wired.events, brokers, topics, worker=wired.worker)


def _show_status(wired: Stores) -> int:
    found = backlog(wired.events, GROUP)
    if found is None:
        write_json({"unacknowledged": None, "waiting": None, "behind_sec": None})
        return DONE
    behind = 0.0 if found.oldest_at is None else round(max(wired.now().timestamp() - found.oldest_at, 0.0), 3)
    write_json({"unacknowledged": found.unacknowledged, "waiting": found.waiting, "behind_sec": behind})
    return DONE
