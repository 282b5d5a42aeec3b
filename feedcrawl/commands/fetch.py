"""`scrapy fetch URL`: Scrapy's; queue and stores are not touched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.commands import fetch

from feedcrawl.commands import without_stores

if TYPE_CHECKING:
    from argparse import Namespace


class Command(fetch.Command):
    """Prints the body, or the headers."""

    def process_options(self, args: list[str], opts: Namespace) -> None:
        """Reads the command line."""
        super().process_options(args, opts)
        assert self.settings is not None
        without_stores(self.settings)
