"""`scrapy crawl SPIDER`: Scrapy's command with our log lines, checked arguments, and a meaningful exit status."""

from __future__ import annotations

import sys
from argparse import RawDescriptionHelpFormatter
from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import crawl
from scrapy.exceptions import UsageError

from feedcrawl.console.command import WithWork
from feedcrawl.hints import program

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


class Command(WithWork, crawl.Command):
    """Exit status: 0 when each task taken ended stored, dead with a reason, or back in the frontier; 1 when Redis, disk
    or a pipeline failed; 2 when no argument was usable.
    """

    default_settings: ClassVar[dict[str, object]] = {"LOG_INSTALL_ROOT_HANDLER": False}  # ours replaces Scrapy's
    work_module = "feedcrawl.console.operations.crawl"

    def add_options(self, parser: ArgumentParser) -> None:
        """Scrapy's options, and --verbose; the help lists the arguments of each spider."""
        super().add_options(parser)
        parser.add_argument("-v", "--verbose", action="store_true", help="log each poll and each article")
        if {"-h", "--help"} & set(sys.argv):
            parser.formatter_class = RawDescriptionHelpFormatter
            parser.epilog = self.work.spiders_help(self.settings)

    def process_options(self, args: list[str], opts: Namespace) -> None:
        """Reads the command line and the settings; an unusable setting ends the program with a sentence."""
        super().process_options(args, opts)
        assert self.settings is not None
        if opts.verbose:
            self.settings.set("FEEDCRAWL_LOG_LEVEL", "INFO", priority="cmdline")
        self.work.prepare(self.settings)

    def run(self, args: list[str], opts: Namespace) -> None:
        """Crawls, and sets the exit status."""
        if len(args) != 1:
            raise UsageError(f"name one spider: `{program()} list` tells which there are", print_help=False)
        assert self.crawler_process is not None
        self.exitcode = self.work.run(self.crawler_process, self._create_crawler, args[0], opts.spargs)
