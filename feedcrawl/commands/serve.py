"""`scrapy serve`: everything that one machine needs, as one process tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.console.command import StoreCommand

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(StoreCommand):
    """Ends with status 0 after SIGTERM or Ctrl-C, with 2 if a part cannot use its settings."""

    work_module = "feedcrawl.console.operations.serve"
    extra = "api"

    def syntax(self) -> str:
        """The arguments, for the usage line."""
        return "[--workers N] [--no-api]"

    def short_desc(self) -> str:
        """The line of this command in the list of commands."""
        return "Keep the embedded server, workers, API and consumers of events of one machine running"

    def add_options(self, parser: ArgumentParser) -> None:
        """--workers, --no-api."""
        super().add_options(parser)
        parser.add_argument(
            "--workers", metavar="N", type=int, default=1, help="number of crawling processes; default 1"
        )
        parser.add_argument("--no-api", action="store_true", help="serve neither API nor dashboard")
