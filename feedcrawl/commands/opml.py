"""`scrapy opml [FILE]`: the subscriptions as a list for other programs; `scrapy subscribe FILE` reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.console.command import StoreCommand

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(StoreCommand):
    """Writes to standard output, or to a file."""

    work_module = "feedcrawl.console.subscriptions.opml"

    def syntax(self) -> str:
        """The arguments, for the usage line."""
        return "[--format opml|text|csv|json] [FILE]"

    def short_desc(self) -> str:
        """The line of this command in the list of commands."""
        return "Export the subscriptions as OPML, text, CSV or JSON (`subscribe` imports)"

    def add_options(self, parser: ArgumentParser) -> None:
        """--format."""
        super().add_options(parser)
        forms = ("opml", "text", "csv", "json")
        parser.add_argument(
            "--format", choices=forms, metavar="NAME", help="default: by the name of the file, else opml"
        )
