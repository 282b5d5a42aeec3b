"""`scrapy restore`: continues with a server that has lost its data, or that the data directory does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.console.command import StoreCommand

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(StoreCommand):
    """Safe to repeat; existing records of the server stay as they are."""

    work_module = "feedcrawl.console.operations.restore"

    def syntax(self) -> str:
        """The arguments, for the usage line."""
        return "[--accept | --again]"

    def short_desc(self) -> str:
        """The line of this command in the list of commands."""
        return "Restore the subscriptions of the data directory on a server that has lost its data"

    def add_options(self, parser: ArgumentParser) -> None:
        """--accept, --again."""
        super().add_options(parser)
        parser.add_argument("--accept", action="store_true", help="take the server as it is, and restore nothing")
        parser.add_argument("--again", action="store_true", help="restore what is missing on a server that seems whole")
