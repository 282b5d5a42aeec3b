"""One module for each kind of task: builds its requests and reads their responses.

They are imported at their first use (PEP 562), since Scrapy imports every spider to find one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.public_names import imported_later

if TYPE_CHECKING:
    from feedcrawl.handlers.archive import ArchiveTasks
    from feedcrawl.handlers.article import ArticleTasks
    from feedcrawl.handlers.discovery import unfold
    from feedcrawl.handlers.feed import FeedTasks
    from feedcrawl.handlers.file import FileTasks
    from feedcrawl.handlers.gap import GapTasks
    from feedcrawl.handlers.listing import ListingTasks
    from feedcrawl.handlers.lists import BATCH, Lists, log_refused
    from feedcrawl.handlers.site_search import SearchTasks
    from feedcrawl.handlers.sitemap import SitemapTasks
    from feedcrawl.handlers.websub import HubTasks

__all__ = [
    "BATCH",
    "ArchiveTasks",
    "ArticleTasks",
    "FeedTasks",
    "FileTasks",
    "GapTasks",
    "HubTasks",
    "ListingTasks",
    "Lists",
    "SearchTasks",
    "SitemapTasks",
    "log_refused",
    "unfold",
]

if not TYPE_CHECKING:  # with `__getattr__`, a type checker would accept any name of the package
    __getattr__ = imported_later(__name__)
