"""The work of `scrapy webhooks`: sends events to URLs until a signal, or prints how many wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from feedcrawl.console.operations.consuming import consume
from feedcrawl.console.output import DONE, write_json
from feedcrawl.console.stores import on
from feedcrawl.domain.errors import ConfigError
from feedcrawl.domain.operations.webhooks import secret_of
from feedcrawl.extensions import logs
from feedcrawl.outgoing.addresses import is_own
from feedcrawl.services.operations.consumer import backlog
from feedcrawl.services.operations.events import TYPES
from feedcrawl.services.operations.webhooks import Guard, Receiver, group_of, webhook
from feedcrawl.wiring import Wiring

if TYPE_CHECKING:
    from argparse import Namespace

    from feedcrawl.services.operations.consumer import Consumer


@on(Wiring, makes_data=True)
def run(wired: Wiring, args: list[str], opts: Namespace) -> int:
    """Sends until SIGTERM or Ctrl-C."""
    if args:
        raise UsageError("it takes no name", print_help=False)
    urls = _listed(wired.config.webhook_urls)
    if not urls:
        raise ConfigError("FEEDCRAWL_WEBHOOK_URLS names no URL: set it to one or several, comma separated")
    if opts.status:
        write_json([_status(wired, url) for url in urls])
        return DONE
    consumers = [_consumer(wired, url) for url in urls]
    logs.install(wired.settings)
    return consume("webhooks", *consumers, once=opts.once, sentence="{sent} events sent, {refused} refused")


def _consumer(wired: Wiring, url: str) -> Consumer:
    config = wired.config
    types = _listed(config.webhook_events)
    if unknown := sorted(set(types) - TYPES):
        raise ConfigError(f"FEEDCRAWL_WEBHOOK_EVENTS: {unknown[0]} is none of {', '.join(sorted(TYPES))}")
    if not config.webhook_secret:
        raise ConfigError("FEEDCRAWL_WEBHOOK_SECRET must be set: receivers verify the sender by it")
    secret = secret_of(config.webhook_secret)
    wired.gate.passed(url)
    receiver = Receiver(url, Guard(wired.gate, is_own, config.hosts_file), secret=secret, types=types, now=wired.now)
    return webhook(wired.events, receiver, url, worker=wired.worker)


def _listed(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _status(wired: Wiring, url: str) -> dict[str, str | int | None]:
    found = backlog(wired.events, group_of(url))
    counts = (found.unacknowledged, found.waiting) if found else (None, None)
    return {"url": url.partition("?")[0], "group": group_of(url), "unacknowledged": counts[0], "waiting": counts[1]}
