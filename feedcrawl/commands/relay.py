"""`scrapy relay`: sends events of the stream to Kafka, until it is stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.console.command import StoreCommand

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(StoreCommand):
    """Several may run: one sends, the others wait to take its place."""

    work_module = "feedcrawl.console.operations.relay"
    extra = "kafka"
    takes_names = False

    def syntax(self) -> str:
        """The arguments, for the usage line."""
        return "[--once | --status]"

    def short_desc(self) -> str:
        """The line of this command in the list of commands."""
        return "Send events to Kafka (FEEDCRAWL_KAFKA_BOOTSTRAP), or print how many wait"

    def add_options(self, parser: ArgumentParser) -> None:
        """--once, --status."""
        super().add_options(parser)
        parser.add_argument("--once", action="store_true", help="end when all events are sent")
        parser.add_argument("--status", action="store_true", help="print the number of waiting events as JSON, and end")
