"""`scrapy unsubscribe URL|ID…`: stops polling feeds; their entries and articles stay."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from feedcrawl.commands import OnStores, printable

if TYPE_CHECKING:
    from argparse import Namespace

    from feedcrawl.wiring.stores import Stores


class Command(OnStores, ScrapyCommand):
    """Exit status 2 if none of the named feeds is subscribed."""

    only_stores = True

    def syntax(self) -> str:
        """How it is called."""
        return "URL|ID…"

    def short_desc(self) -> str:
        """For `scrapy`."""
        return "Stop polling feeds; what they brought stays"

    def answer(self, wired: Stores, args: list[str], opts: Namespace) -> int:  # noqa: ARG002 - no options
        """Unsubscribes from each."""
        from feedcrawl.commands.exit_status import DONE, UNUSABLE, say  # noqa: PLC0415 - see the package
        from feedcrawl.services.subscriptions import finding, registering  # noqa: PLC0415

        if not args:
            raise UsageError("name feeds by URL or id: `scrapy feeds` lists them", print_help=False)
        status = UNUSABLE
        for name in args:
            feed = finding.find(wired.registry, name)
            if feed is None:
                say("unsubscribe", f"{name} is not subscribed; `scrapy feeds` lists what is")
            elif registering.unsubscribe(wired.registry, wired.frontier, feed.id):
                sys.stdout.write(printable(f"{feed.id}  {feed.subscription.url}") + "\n")
                status = DONE
        return status
