"""`scrapy merges list|show|undo`: merged articles, the reason of each merge, and how to separate them again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.console.command import StoreCommand

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(StoreCommand):
    """Exit status 2 if the named article was not merged."""

    work_module = "feedcrawl.console.articles.merges"

    def syntax(self) -> str:
        """The arguments, for the usage line."""
        return "list [--limit N] [--json] | show UID|URL [--json] | undo UID|URL…"

    def short_desc(self) -> str:
        """The line of this command in the list of commands."""
        return "List articles that were merged as one story, and undo merges"

    def add_options(self, parser: ArgumentParser) -> None:
        """--limit and --json."""
        super().add_options(parser)
        parser.add_argument(
            "--limit", metavar="N", type=int, default=20, help="merges listed, newest first (%(default)s)"
        )
        parser.add_argument("--json", action="store_true", help="a JSON array, or an object if one merge is named")
