"""The work of `scrapy opml`: writes the subscriptions in one of four formats."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from feedcrawl.console.output import DONE, UNUSABLE, say
from feedcrawl.console.stores import on
from feedcrawl.services.subscriptions import listing
from feedcrawl.wiring.stores import Stores

if TYPE_CHECKING:
    from argparse import Namespace


SUFFIXES = {".txt": "text", ".csv": "csv", ".json": "json"}


@on(Stores)
def run(wired: Stores, args: list[str], opts: Namespace) -> int:
    """All feeds, by URL."""
    if len(args) > 1:
        raise UsageError("name one file, or none for standard output", print_help=False)
    form = opts.format or SUFFIXES.get(Path(args[0] if args else "").suffix.lower(), "opml")
    document = listing.exported(wired.registry, form)
    if not args or args[0] == "-":
        sys.stdout.buffer.write(document)
        return DONE
    try:
        Path(args[0]).write_bytes(document)
    except OSError as error:
        say("opml", f"{args[0]} cannot be written: {error.strerror}")
        return UNUSABLE
    return DONE
