"""The work of `scrapy unsubscribe`: removes feeds and sitemaps and prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from feedcrawl.console.output import DONE, UNUSABLE, say, write
from feedcrawl.console.stores import on
from feedcrawl.hints import program
from feedcrawl.services.sites import watched, watching
from feedcrawl.services.subscriptions import finding, registering
from feedcrawl.wiring.stores import Stores

if TYPE_CHECKING:
    from argparse import Namespace


@on(Stores)
def run(wired: Stores, args: list[str], opts: Namespace) -> int:  # noqa: ARG001 - no options
    """Unsubscribes from each feed; a sitemap, and the parts of its index, are watched no more."""
    if not args:
        raise UsageError(f"name feeds or sitemaps by URL or id: `{program()} feeds` lists them", print_help=False)
    status = UNUSABLE
    for name in args:
        feed = finding.find(wired.registry, name)
        if feed is None:
            status = DONE if _forget_sitemap(wired, name) else status
        elif registering.unsubscribe(wired.registry, wired.frontier, feed.id):
            write(f"{feed.id}  {feed.subscription.url}")
            status = DONE
    return status


def _forget_sitemap(wired: Stores, name: str) -> bool:
    found = watched.find(wired.sitemaps, name)
    if found is None:
        say("unsubscribe", f"{name} is neither subscribed nor watched; `{program()} feeds` lists feeds and sitemaps")
        return False
    watching.forget(wired.sitemaps, wired.frontier, found.sitemap)
    write(f"{found.id}  {found.sitemap.url}")
    return True
