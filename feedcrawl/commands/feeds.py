"""`scrapy feeds`: the subscriptions and their state."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand

from feedcrawl.commands import OnStores, printable

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from rich.table import Table

    from feedcrawl.wiring.stores import Stores

PIPE_WIDTH = 10_000
"""Columns of a table that is not written to a terminal: a program that reads a pipe needs whole URLs."""


class Command(OnStores, ScrapyCommand):
    """A table for people, JSON for programs. Exit status 2 if a feed that was named is not subscribed."""

    only_stores = True

    def syntax(self) -> str:
        """How it is called."""
        return "[--json] [URL|ID…] | --budget | move FEED URL | undo-move|undo-migration FEED | set FEED NAME=VALUE…"

    def short_desc(self) -> str:
        """For `scrapy`."""
        return "List the subscribed feeds or those named, move them, override their cadence"

    def add_options(self, parser: ArgumentParser) -> None:
        """--json, --budget."""
        super().add_options(parser)
        parser.add_argument("--budget", action="store_true", help="show the demand of polls and the predicted delay")
        parser.add_argument("--json", action="store_true", help="a JSON array, or an object if one feed is named")

    def answer(self, wired: Stores, args: list[str], opts: Namespace) -> int:
        """The named feeds, or all by URL; or the action that the first word names."""
        from feedcrawl.commands import feed_actions  # noqa: PLC0415 - see the package
        from feedcrawl.commands.exit_status import DONE, UNUSABLE, say  # noqa: PLC0415
        from feedcrawl.services.subscriptions import finding  # noqa: PLC0415

        if opts.budget:
            return feed_actions.budget(wired)
        if args and args[0] in feed_actions.ACTIONS:
            return feed_actions.act(wired, args[0], args[1:])
        named = [(name, finding.find(wired.registry, name)) for name in args]
        feeds = [feed for _, feed in named if feed is not None]
        if not args:
            batches = finding.batches(wired.registry, [], 500)
            feeds = sorted((feed for batch in batches for feed in batch), key=lambda feed: feed.subscription.url)
        bounds = {
            "min_interval_sec": wired.config.min_interval_sec,
            "max_interval_sec": wired.config.max_interval_sec,
        }
        shown = [feed.public(**bounds) for feed in feeds]
        if not opts.json:
            _write_table(shown)
        elif shown or not args:
            sys.stdout.write(json.dumps(shown[0]) + "\n" if len(args) == 1 else array(shown))
        unknown = [name for name, feed in named if feed is None]
        for name in unknown:
            say("feeds", f"{name} is not subscribed; `scrapy feeds` lists what is")
        return UNUSABLE if unknown else DONE


def array(feeds: list[dict[str, Any]]) -> str:
    """A JSON array, one feed per line."""
    return "[" + ",\n".join(map(json.dumps, feeds)) + "]\n"


def _write_table(feeds: list[dict[str, Any]]) -> None:
    from rich.console import Console  # noqa: PLC0415 - see the package

    console = Console(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False)
    console.print(table(feeds))


def table(feeds: list[dict[str, Any]]) -> Table:
    """One row per feed; text from the web is shown as text, without markup or control characters."""
    from rich import box  # noqa: PLC0415 - see the package
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    shown = Table(box=box.SIMPLE, pad_edge=False)
    for name in ("feed", "title", "categories", "last result", "last fetch", "next poll", "errors", "id"):
        shown.add_column(name, overflow="fold")
    for feed in feeds:
        schedule, stats = feed["schedule"], feed["stats"]
        cells = (
            feed["url"],
            feed["title"],
            ", ".join(feed["categories"]),
            stats["last_result"] or "never polled",
            _minute(stats["last_fetch_at"]),
            _minute(schedule["next_at"]) or "now",
            stats["consecutive_failures"] or "",
            feed["id"],
        )
        shown.add_row(*(Text(printable(cell)) for cell in cells))
    return shown


def _minute(moment: str | None) -> str:
    return moment[:16].replace("T", " ") + "Z" if moment else ""
