"""`scrapy opml [FILE]`: the subscriptions as a list for other programs; `scrapy subscribe FILE` reads it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from feedcrawl.commands import OnStores

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from feedcrawl.wiring.stores import Stores


SUFFIXES = {".txt": "text", ".csv": "csv", ".json": "json"}


class Command(OnStores, ScrapyCommand):
    """Writes to standard output, or to a file."""

    only_stores = True

    def syntax(self) -> str:
        """How it is called."""
        return "[--format opml|text|csv|json] [FILE]"

    def short_desc(self) -> str:
        """For `scrapy`."""
        return "Export the subscriptions as OPML, text, CSV or JSON (`subscribe` imports)"

    def add_options(self, parser: ArgumentParser) -> None:
        """--format."""
        super().add_options(parser)
        forms = ("opml", "text", "csv", "json")
        parser.add_argument(
            "--format", choices=forms, metavar="NAME", help="default: by the name of the file, else opml"
        )

    def answer(self, wired: Stores, args: list[str], opts: Namespace) -> int:
        """All feeds, by URL."""
        from feedcrawl.commands.exit_status import DONE, UNUSABLE, say  # noqa: PLC0415 - see the package
        from feedcrawl.services.subscriptions import registering  # noqa: PLC0415

        if len(args) > 1:
            raise UsageError("name one file, or none for standard output", print_help=False)
        form = opts.format or SUFFIXES.get(Path(args[0] if args else "").suffix.lower(), "opml")
        document = registering.exported(wired.registry, form)
        if not args or args[0] == "-":
            sys.stdout.buffer.write(document)
            return DONE
        try:
            Path(args[0]).write_bytes(document)
        except OSError as error:
            say("opml", f"{args[0]} cannot be written: {error.strerror}")
            return UNUSABLE
        return DONE
