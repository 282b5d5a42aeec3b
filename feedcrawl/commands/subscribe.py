"""`scrapy subscribe URL|FILE…`: feeds to poll from now on."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from feedcrawl.commands import OnStores

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from feedcrawl.wiring import Wiring

BATCH = 100
"""Feeds that are written, and told, at a time."""


class Command(OnStores, ScrapyCommand):
    """Exit status 2 if nothing that was named could be used."""

    def syntax(self) -> str:
        """How it is called."""
        return "[--category NAME[,NAME…]] URL|FILE…"

    def short_desc(self) -> str:
        """For `scrapy`."""
        return "Subscribe to feeds: URLs, OPML files, files or addresses with a URL a line"

    def add_options(self, parser: ArgumentParser) -> None:
        """--category."""
        super().add_options(parser)
        parser.add_argument("--category", default="", help="categories of what is named, comma separated")

    def answer(self, wired: Wiring, args: list[str], opts: Namespace) -> int:
        """Subscribes to each; a line for each feed, and for each name that is of no use."""
        from feedcrawl.ending import DONE, UNUSABLE, say  # noqa: PLC0415 - see the package
        from feedcrawl.services import subscriptions  # noqa: PLC0415

        if not args:
            raise UsageError("name a feed's URL, or a file with a list of them", print_help=False)
        categories = tuple(filter(None, (each.strip() for each in opts.category.split(","))))
        names = [name for each in args for name in subscriptions.split_names(each)]
        wishes, refused = subscriptions.read_wishes(names, categories)
        ids = []
        for first in range(0, len(wishes), BATCH):
            batch = wishes[first : first + BATCH]
            found, bad = subscriptions.subscribe_all(wired.registry, wired.frontier, batch, wired.now())
            refused += bad
            ids += found
            for feed in wired.registry.load(found).values():
                sys.stdout.write(f"{feed.id}  {feed.subscription.url}\n")
        for each in refused:
            say("subscribe", f"{each.url}: {each.detail} ({each.code})")
        return DONE if ids else UNUSABLE
