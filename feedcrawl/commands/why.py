"""`scrapy why FEED|SITEMAP`: the next poll, the rules that set its time, and the results of the last polls.
`scrapy why ARTICLE`: what each extractor and each source of a field found on the archived page, and what was chosen;
of a page that is not archived, how its task ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.console.command import StoreCommand

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(StoreCommand):
    """Exit status 2 if there is no such feed, sitemap, archived article or task."""

    work_module = "feedcrawl.console.subscriptions.why"

    def syntax(self) -> str:
        """The arguments, for the usage line."""
        return "[--lines N] [--diff] URL|ID"

    def short_desc(self) -> str:
        """The line of this command in the list of commands."""
        return "Explain when a feed or sitemap is polled next, or what was found on an article's page"

    def add_options(self, parser: ArgumentParser) -> None:
        """--lines, --diff."""
        super().add_options(parser)
        parser.add_argument(
            "--diff", action="store_true", help="show what the publisher changed since the previous version"
        )
        parser.add_argument("--lines", metavar="N", type=int, default=10, help="lines of its journal (%(default)s)")
