"""`scrapy fixture`: pages saved as test cases, from the archive or the web, and the extraction compared with
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.console.command import WithoutStores

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


class Command(WithoutStores):
    """Exit status 1 if a page differs from its expectation or cannot be fetched, 2 if no page is named."""

    requires_project = True
    work_module = "feedcrawl.console.archive.fixture"

    def syntax(self) -> str:
        """The arguments, for the usage line."""
        return "[--to DIR] URL|FETCH_ID | --check [--accept] DIR"

    def short_desc(self) -> str:
        """The line of this command in the list of commands."""
        return "Save a page with its article as a test case, or check the extraction against such cases"

    def add_options(self, parser: ArgumentParser) -> None:
        """--to, --check, --accept."""
        super().add_options(parser)
        parser.add_argument("--to", metavar="DIR", default="fixtures", help="where cases are saved (%(default)s)")
        parser.add_argument(
            "--check", action="store_true", help="extract all cases of DIR again, and print the differences"
        )
        parser.add_argument("--accept", action="store_true", help="with --check: save the present results as expected")

    def process_options(self, args: list[str], opts: Namespace) -> None:
        """Reads the command line."""
        super().process_options(args, opts)
        assert self.settings is not None
        self.settings.set("LOG_LEVEL", "WARNING", priority="spider")  # messages of the extractors would hide the result

    def run(self, args: list[str], opts: Namespace) -> None:
        """Checks, or saves one page."""
        self.exitcode = self.work.run(self.crawler_process, args, opts)
