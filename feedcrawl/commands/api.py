"""`scrapy api`: serves the HTTP API until it is stopped."""

from __future__ import annotations

from feedcrawl.console.command import StoreCommand


class Command(StoreCommand):
    """Exit status 2 if the packages of the `api` extra are not installed."""

    work_module = "feedcrawl.console.operations.api"
    extra = "api"

    def short_desc(self) -> str:
        """The line of this command in the list of commands."""
        return "Serve the HTTP API"
