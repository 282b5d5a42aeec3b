"""`scrapy opml [FILE]`: the subscriptions as OPML, for other programs; `scrapy subscribe FILE` reads it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from feedcrawl.commands import OnStores

if TYPE_CHECKING:
    from argparse import Namespace

    from feedcrawl.wiring import Wiring


class Command(OnStores, ScrapyCommand):
    """Writes to standard output, or to a file."""

    def syntax(self) -> str:
        """How it is called."""
        return "[FILE]"

    def short_desc(self) -> str:
        """For `scrapy`."""
        return "Export the subscriptions as OPML (`subscribe` imports)"

    def answer(self, wired: Wiring, args: list[str], opts: Namespace) -> int:  # noqa: ARG002 - no options
        """All feeds, by URL."""
        from feedcrawl.domain.lists import write_opml  # noqa: PLC0415 - see the package
        from feedcrawl.ending import DONE, UNUSABLE, say  # noqa: PLC0415
        from feedcrawl.services import subscriptions  # noqa: PLC0415

        if len(args) > 1:
            raise UsageError("name one file, or none for standard output", print_help=False)
        feeds = (feed for batch in subscriptions.batches(wired.registry, [], 500) for feed in batch)
        document = write_opml(sorted(map(subscriptions.listed, feeds), key=lambda feed: feed.url))
        if not args or args[0] == "-":
            sys.stdout.buffer.write(document)
            return DONE
        try:
            Path(args[0]).write_bytes(document)
        except OSError as error:
            say("opml", f"{args[0]} cannot be written: {error.strerror}")
            return UNUSABLE
        return DONE
