"""`scrapy subscribe URL|FILE…`: subscribes to feeds; for a page, to its feed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.console.command import StoreCommand

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(StoreCommand):
    """Exit status 2 if no argument was usable, 3 if a page needs a choice and everything else succeeded."""

    work_module = "feedcrawl.console.subscriptions.subscribe"

    def syntax(self) -> str:
        """The arguments, for the usage line."""
        options = "[--category NAME[,NAME…]] [--pick N|all] [--override NAME=VALUE]… [--login LOGIN]…"
        return f"{options} [--backfill] [--as-is] URL|FILE…"

    def short_desc(self) -> str:
        """The line of this command in the list of commands."""
        return "Subscribe to feeds: their URLs or those of pages, files or addresses with a list of them"

    def add_options(self, parser: ArgumentParser) -> None:
        """--category, --pick, --override, --login, --backfill, --as-is."""
        super().add_options(parser)
        parser.add_argument(
            "--category", metavar="NAME[,NAME…]", default="", help="categories of the subscriptions, comma separated"
        )
        parser.add_argument("--pick", default="", metavar="N|all", help="which of the feeds that a page offers")
        parser.add_argument(
            "--override", action="append", default=[], metavar="NAME=VALUE", help="an override; may repeat"
        )
        parser.add_argument(
            "--login",
            action="append",
            default=[],
            metavar="USER:PASSWORD|'NAME: VALUE'|@FILE",
            help="of a private feed, for its own origin alone; may repeat",
        )
        parser.add_argument("--backfill", action="store_true", help="read the archives of these feeds too, once")
        parser.add_argument("--as-is", action="store_true", help="subscribe to URLs without requesting them first")
