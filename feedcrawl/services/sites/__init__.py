"""Use cases of sites: sitemaps, sources, crawling a site without a feed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.public_names import imported_later

if TYPE_CHECKING:
    from feedcrawl.services.sites.crawling import pages_left, site_task
    from feedcrawl.services.sites.sources import the_source
    from feedcrawl.services.sites.watching import settle_settings, sitemaps_from, watch

__all__ = [
    "pages_left",
    "settle_settings",
    "site_task",
    "sitemaps_from",
    "the_source",
    "watch",
]

if not TYPE_CHECKING:  # with `__getattr__`, a type checker would accept any name of the package
    __getattr__ = imported_later(__name__)
