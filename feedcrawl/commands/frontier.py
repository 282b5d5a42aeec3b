"""`scrapy frontier`: statistics of all tasks, their URLs, their hosts, and the reason why a host waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from feedcrawl.console.command import StoreCommand
from feedcrawl.domain.frontier.tasks import Kind

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(StoreCommand):
    """Exit status 2 if the named URL or host is not in the frontier."""

    work_module = "feedcrawl.console.frontier.tasks"

    def syntax(self) -> str:
        """How it is called."""
        return "[figures|urls|hosts|host NAME…] [options]"

    def short_desc(self) -> str:
        """For `scrapy`."""
        return "Show what is queued: counts, lateness, URLs, and why a host waits"

    def add_options(self, parser: ArgumentParser) -> None:
        """The conditions of `urls`."""
        super().add_options(parser)
        parser.add_argument("--host", help="urls: of this host")
        parser.add_argument("--source", metavar="NAME", help="urls: of this source")
        parser.add_argument("--status", metavar="NAME", help="urls: pending, fetching, fetched or dead")
        parser.add_argument("--kind", metavar="NAME", help=f"urls: {', '.join(get_args(Kind))}")
        parser.add_argument(
            "--limit", metavar="N", type=int, default=50, help="urls, hosts: about so many (%(default)s)"
        )
        parser.add_argument(
            "--cursor", metavar="N", type=int, default=0, help="urls: go on where an earlier call ended"
        )
        parser.add_argument("--json", action="store_true", help="a JSON object, or an array of hosts")
