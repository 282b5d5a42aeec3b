"""`scrapy unsubscribe URL|ID…`: stops polling feeds and sitemaps; their entries and articles stay."""

from __future__ import annotations

from feedcrawl.console.command import StoreCommand


class Command(StoreCommand):
    """Exit status 2 if none of the named feeds and sitemaps exists."""

    work_module = "feedcrawl.console.subscriptions.unsubscribe"

    def syntax(self) -> str:
        """The arguments, for the usage line."""
        return "URL|ID…"

    def short_desc(self) -> str:
        """The line of this command in the list of commands."""
        return "Stop polling feeds and sitemaps; their entries and articles stay"
