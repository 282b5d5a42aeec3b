"""`scrapy token create|list|revoke`: the tokens of the API's callers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.console.command import StoreCommand

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(StoreCommand):
    """Exit status 2 if an actor or scope is invalid, or a named token does not exist."""

    work_module = "feedcrawl.console.operations.token"

    def syntax(self) -> str:
        """The arguments, for the usage line."""
        return "create ACTOR [--scope read|write|admin] | list | revoke ID"

    def short_desc(self) -> str:
        """The line of this command in the list of commands."""
        return "Make, list and revoke the tokens of the HTTP API"

    def add_options(self, parser: ArgumentParser) -> None:
        """--scope, --json."""
        super().add_options(parser)
        parser.add_argument(
            "--scope",
            metavar="NAME",
            default="read",
            help="create: read, write or admin, each with the former (%(default)s)",
        )
        parser.add_argument("--json", action="store_true", help="create: a JSON object; list: a JSON object per line")
