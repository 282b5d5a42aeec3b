"""`scrapy feeds`: the subscriptions, the watched sitemaps, and their state."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from feedcrawl.console.command import StoreCommand
from feedcrawl.domain.subscriptions.sorting import COLUMNS, SHOWN

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


ACTIONS = ("move", "undo-move", "undo-migration", "set", "pause", "resume", "login")


class Command(StoreCommand):
    """A table for people, JSON for programs. Exit status 2 if a feed that was named is not subscribed."""

    work_module = "feedcrawl.console.subscriptions.feeds"

    def run(self, args: list[str], opts: Namespace) -> None:
        """Runs the listing, or the action that the first word names; only an action imports what changes feeds."""
        if opts.budget or (args and args[0] in ACTIONS):
            self.work_module = "feedcrawl.console.subscriptions.feed_actions"
        elif len(args) > 1 and re.fullmatch("[a-z-]+", args[0]):  # a word that cannot be an address
            raise UsageError(f"{args[0]!r} is no action; there are: {', '.join(ACTIONS)}", print_help=False)
        super().run(args, opts)

    def syntax(self) -> str:
        """The arguments, for the usage line."""
        return (
            "[--category NAME] [--failing] [--sort NAME [--reverse]] [--columns NAME,…] [--json] [--sitemaps] [URL|ID…]"
            " | --budget | move FEED URL | undo-move|undo-migration FEED | set FEED NAME=VALUE…"
            " | pause|resume FEED | login FEED USER:PASSWORD|'NAME: VALUE'|@FILE…"
        )

    def short_desc(self) -> str:
        """The line of this command in the list of commands."""
        return "List subscribed feeds and watched sitemaps, or those named; move, pause, log in, override their cadence"

    def add_options(self, parser: ArgumentParser) -> None:
        """Conditions, order and format of the list."""
        super().add_options(parser)
        parser.add_argument("--budget", action="store_true", help="show the demand of polls and the predicted delay")
        parser.add_argument("--category", metavar="NAME", help="only the feeds of a category")
        parser.add_argument("--failing", action="store_true", help="only the feeds whose last poll failed")
        parser.add_argument("--sort", metavar="NAME", default="feed", help=f"{', '.join(COLUMNS)}")
        parser.add_argument("--reverse", action="store_true", help="the greatest first")
        parser.add_argument("--columns", metavar="NAME,…", help=f"of the table: {', '.join(SHOWN)}")
        parser.add_argument("--json", action="store_true", help="a JSON array, or an object if one feed is named")
        parser.add_argument("--sitemaps", action="store_true", help="the watched sitemaps, parts of indexes included")
