"""`scrapy crawl site`: crawls the listing pages of a source now, and fetches the articles that they list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from feedcrawl.domain.frontier.tasks import SITE_KINDS, SITE_LANE
from feedcrawl.services import sites
from feedcrawl.spiders.base import FrontierSpider

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.domain.sites.sources import Source

OTHER_SPIDERS_SEC = 60.0
"""Seconds beyond the linger time for which the listing pages of another source are left to other spiders."""


class SiteSpider(FrontierSpider):
    """Arguments: `source` (the name of a source) or `url` (the base URL of a site that has no settings), `depth`
    (the number of links to follow from the base).
    """

    name = "site"
    lanes = ("page", SITE_LANE)
    site: Source

    def __init__(self, source: str = "", url: str = "", depth: str = "", **kwargs: str) -> None:
        super().__init__(**kwargs)
        self.source = source
        self.url = url
        if depth and not depth.isdecimal():
            raise ValueError(f"depth={depth} is not a whole number of links")
        self.depth = int(depth) if depth else None

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: object, **kwargs: object) -> Self:
        """The spider with its source; BadSources if the source does not exist."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.site = sites.the_source(spider.wired.sources, spider.source, spider.url)
        return spider

    async def begin(self) -> None:
        """Begin at the base of the source now, or continue an interrupted run."""
        if not sites.pages_left(self.wired.frontier, self.site.name):
            task = sites.site_task(self.site, is_known=bool(self.source), max_depth=self.depth)
            self.wired.frontier.enqueue([task], again="operator")

    def request_for(self, lease: Lease) -> Request | None:
        """The request of a task; the listing pages of other sources are left to other spiders."""
        if lease.task.kind in SITE_KINDS and lease.task.source != self.site.name:
            wait = self.wired.config.linger_sec + OTHER_SPIDERS_SEC
            self.leases.give_back(lease, reason="another_source", delay_sec=wait)
            return None
        return super().request_for(lease)
