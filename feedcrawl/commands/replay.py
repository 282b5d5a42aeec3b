"""`scrapy replay`: extracts articles again from the archive and prints the differences; `--write` stores them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.console.command import StoreCommand

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(StoreCommand):
    """Sends no request. Exit status 2 if no capture in the archive matched."""

    work_module = "feedcrawl.console.archive.replay"

    def syntax(self) -> str:
        """The arguments, for the usage line."""
        return "[options]"

    def short_desc(self) -> str:
        """The line of this command in the list of commands."""
        return "Extract archived pages again, and print the differences; --write stores them"

    def add_options(self, parser: ArgumentParser) -> None:
        """The conditions."""
        super().add_options(parser)
        parser.add_argument("--since", metavar="TIME", help="fetched since: 2026-11-28, or 2026-11-28T12:00 (UTC)")
        parser.add_argument("--until", metavar="TIME", help="fetched until the end of this day, or before this moment")
        parser.add_argument("--feed", metavar="URL|ID", help="named by this feed")
        parser.add_argument("--host", help="fetched from this host")
        parser.add_argument("--uid", help="fetched for the article with this uid")
        parser.add_argument("--url", help="fetched from this URL")
        parser.add_argument("--write", action="store_true", help="store the differences, and send their events")
        parser.add_argument(
            "--json", action="store_true", help="a line of JSON for each page, and a last line with the counts"
        )
