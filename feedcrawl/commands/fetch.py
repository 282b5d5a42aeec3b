"""`scrapy fetch URL`: Scrapy's; queue and stores are not touched."""

from __future__ import annotations

from scrapy.commands import fetch

from feedcrawl.console.command import WithoutStores


class Command(WithoutStores, fetch.Command):
    """Prints the body, or the headers."""
