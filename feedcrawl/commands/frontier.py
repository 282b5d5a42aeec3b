"""`scrapy frontier`: statistics of all tasks, their URLs, their hosts, and the reason why a host waits."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from typing import TYPE_CHECKING, get_args

from feedcrawl.console.command import StoreCommand
from feedcrawl.domain.frontier.tasks import Kind, Origin

if TYPE_CHECKING:
    from argparse import ArgumentParser

STATUSES = ("pending", "fetching", "fetched", "dead", "quarantined")


class Command(StoreCommand):
    """Exit status 2 if the named URL or host is not in the frontier."""

    work_module = "feedcrawl.console.frontier.tasks"

    def syntax(self) -> str:
        """The arguments, for the usage line."""
        return "[figures|urls|hosts|host NAME…] [options]"

    def short_desc(self) -> str:
        """The line of this command in the list of commands."""
        return "Show what is queued: counts, lateness, URLs, and why a host waits"

    def add_options(self, parser: ArgumentParser) -> None:
        """The conditions of `urls`."""
        super().add_options(parser)
        parser.add_argument("--host", type=str.lower, help="urls: of this host")
        parser.add_argument("--source", metavar="NAME", help="urls: of this source")
        parser.add_argument("--status", choices=STATUSES, metavar="NAME", help=f"urls: {', '.join(STATUSES)}")
        parser.add_argument("--kind", choices=get_args(Kind), metavar="NAME", help=f"urls: {', '.join(get_args(Kind))}")
        parser.add_argument(
            "--origin", choices=get_args(Origin), metavar="NAME", help=f"urls: {', '.join(get_args(Origin))}"
        )
        parser.add_argument("--category", metavar="NAME", help="urls: of this category")
        parser.add_argument("--parent", metavar="URL", help="urls: named by this feed, sitemap or page")
        parser.add_argument("--text", help="urls: with this part in the URL")
        parser.add_argument("--depth", metavar="N", type=_number, help="urls: so many links from a base")
        parser.add_argument(
            "--priority", metavar="N", type=int, choices=range(1, 11), help="urls: of this priority, 1 to 10"
        )
        parser.add_argument("--error", metavar="CODE", help="urls: whose last failure or end has this reason code")
        parser.add_argument("--min-retries", metavar="N", type=_number, help="urls: with at least so many failed tries")
        parser.add_argument("--min-fetches", metavar="N", type=_number, help="urls: fetched at least so often")
        parser.add_argument(
            "--url-hash", metavar="SHA256", type=_digest, help="urls: whose canonical URL has this hash"
        )
        parser.add_argument(
            "--content-hash", metavar="SHA256", type=_digest, help="urls: whose article's text has this hash"
        )
        for what, text in (("discovered", "discovered"), ("fetched", "fetched"), ("next-fetch", "to be fetched next")):
            parser.add_argument(f"--{what}-after", metavar="TIME", help=f"urls: {text} then (RFC 3339) or later")
            parser.add_argument(f"--{what}-before", metavar="TIME", help=f"urls: {text} then or earlier")
        parser.add_argument(
            "--limit", metavar="N", type=int, default=50, help="urls, hosts: about so many (%(default)s)"
        )
        parser.add_argument(
            "--cursor", metavar="N", type=int, default=0, help="urls: go on where an earlier call ended"
        )
        parser.add_argument("--json", action="store_true", help="a JSON object, or an array of hosts")


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise ArgumentTypeError(f"must be a number of 0 or more, not {text!r}")
    return int(text)


def _digest(text: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{64}", text):
        raise ArgumentTypeError(f"must be 64 hexadecimal digits, not {text!r}")
    return text
