"""`scrapy index`: keeps the search index equal to the stored articles, until it is stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.console.command import StoreCommand

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(StoreCommand):
    """Any number may run beside crawls and the API: one process writes, the others wait to take its place."""

    work_module = "feedcrawl.console.search.index"
    takes_names = False

    def syntax(self) -> str:
        """The arguments, for the usage line."""
        return "[--once | --status] [--rebuild]"

    def short_desc(self) -> str:
        """The line of this command in the list of commands."""
        return "Keep the search index of articles, build it anew, or print its state"

    def add_options(self, parser: ArgumentParser) -> None:
        """--once, --status, --rebuild."""
        super().add_options(parser)
        parser.add_argument("--once", action="store_true", help="end when all stored articles are indexed")
        parser.add_argument("--status", action="store_true", help="print the number of documents as JSON, and end")
        parser.add_argument(
            "--rebuild", action="store_true", help="build the index anew from articles/; meanwhile the old one answers"
        )
