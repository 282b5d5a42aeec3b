"""`scrapy redis`: how other programs reach the server, and keeping the embedded server running for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.console.command import StoreCommand

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(StoreCommand):
    """Prints a command line of redis-cli."""

    work_module = "feedcrawl.console.operations.server"

    def syntax(self) -> str:
        """The arguments, for the usage line."""
        return "[--keep]"

    def short_desc(self) -> str:
        """The line of this command in the list of commands."""
        return "Print how redis-cli and other programs reach the server"

    def add_options(self, parser: ArgumentParser) -> None:
        """--keep."""
        super().add_options(parser)
        parser.add_argument("--keep", action="store_true", help="keep the embedded server running until Ctrl-C")
