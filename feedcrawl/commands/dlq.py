"""`scrapy dlq`: the dead letters; list them, show one, try them again, or drop them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.console.command import StoreCommand

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(StoreCommand):
    """Conditions select dead letters; all given conditions must hold. Exit status 2 if none matched."""

    work_module = "feedcrawl.console.frontier.dlq"

    def syntax(self) -> str:
        """The arguments, for the usage line."""
        return "list|show|replay|drop [options] [URL|UID…]"

    def short_desc(self) -> str:
        """The line of this command in the list of commands."""
        return "List the URLs that were given up (dead letters), have them tried again, or drop them"

    def add_options(self, parser: ArgumentParser) -> None:
        """The conditions."""
        super().add_options(parser)
        parser.add_argument("--reason", metavar="CODE", help="given up for this reason: http_404, total_timeout, …")
        parser.add_argument("--host", help="of this host")
        parser.add_argument("--older-than", metavar="AGE", help="given up longer ago: 90s, 15m, 12h, 7d")
        parser.add_argument("--newer-than", metavar="AGE", help="given up since then")
        parser.add_argument("--limit", metavar="N", help="at most so many, oldest first")
        parser.add_argument("--all", action="store_true", help="replay or drop all dead letters")
        parser.add_argument("--json", action="store_true", help="for programs: an array, or an object with the counts")
