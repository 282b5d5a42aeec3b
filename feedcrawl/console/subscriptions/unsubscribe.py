"""The work of `scrapy unsubscribe`: removes subscriptions and prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from feedcrawl.console.output import DONE, UNUSABLE, say, write
from feedcrawl.console.stores import on
from feedcrawl.hints import program
from feedcrawl.services.subscriptions import finding, registering
from feedcrawl.wiring.stores import Stores

if TYPE_CHECKING:
    from argparse import Namespace


@on(Stores)
def run(wired: Stores, args: list[str], opts: Namespace) -> int:  # noqa: ARG001 - no options
    """Unsubscribes from each."""
    if not args:
        raise UsageError(f"name feeds by URL or id: `{program()} feeds` lists them", print_help=False)
    status = UNUSABLE
    for name in args:
        feed = finding.find(wired.registry, name)
        if feed is None:
            say("unsubscribe", f"{name} is not subscribed; `{program()} feeds` lists what is")
        elif registering.unsubscribe(wired.registry, wired.frontier, feed.id):
            write(f"{feed.id}  {feed.subscription.url}")
            status = DONE
    return status
