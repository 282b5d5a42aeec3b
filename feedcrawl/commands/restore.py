"""`scrapy restore`: continues with a server that has lost its data, or that the data directory does not know."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from feedcrawl.commands import OnStores

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from feedcrawl.wiring import Wiring


class Command(OnStores, ScrapyCommand):
    """Safe to repeat; existing records of the server stay as they are."""

    any_server = True

    def syntax(self) -> str:
        """How it is called."""
        return "[--accept]"

    def short_desc(self) -> str:
        """For `scrapy`."""
        return "Subscribe anew on a server that has lost its data, to what the data directory remembers"

    def add_options(self, parser: ArgumentParser) -> None:
        """--accept."""
        super().add_options(parser)
        parser.add_argument("--accept", action="store_true", help="take the server as it is, and restore nothing")

    def answer(self, wired: Wiring, args: list[str], opts: Namespace) -> int:
        """Restores, and accepts the server from now on."""
        from feedcrawl.commands.exit_status import DONE  # noqa: PLC0415 - see the package

        if args:
            raise UsageError(
                "restore takes no arguments: it restores the subscriptions of the data directory", print_help=False
            )
        if opts.accept:
            wired.generation.accept()
            sys.stdout.write("the server is taken as it is\n")
            return DONE
        came = wired.snapshots.restore(wired.now())
        sys.stdout.write(f"{came.feeds} feeds, {came.sitemaps} sitemaps and {came.articles} articles are there again\n")
        return DONE
