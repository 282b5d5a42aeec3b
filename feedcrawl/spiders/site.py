"""`scrapy crawl site`: follows the listing pages of a source and fetches the articles that they list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, signals

from feedcrawl.domain.sites.links import read_links
from feedcrawl.domain.urls import same_site
from feedcrawl.handlers.base import PARSE_WALL_SEC
from feedcrawl.parsing import Done
from feedcrawl.services.frontier.requests import request_to_task
from feedcrawl.services.sites import crawling, sources
from feedcrawl.services.sites.crawling import SiteRun
from feedcrawl.spiders.base import FrontierSpider
from feedcrawl.store.redis.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from feedcrawl.domain.frontier.tasks import Task
    from feedcrawl.domain.sites.sources import Source


class SiteSpider(FrontierSpider):
    """Arguments: `source` (the name of a source) or `url` (the base URL of a site that has no settings), `depth`
    (the number of links to follow from the base).
    """

    name = "site"
    lanes = ("page",)
    site: Source
    run: SiteRun

    def __init__(self, source: str = "", url: str = "", depth: str = "", **kwargs: Any) -> None:
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
        spider.site = sources.the_source(spider.wired.sources, spider.source, spider.url)
        if spider.depth is None:
            spider.depth = spider.wired.config.site_depth
        crawler.signals.connect(spider.spider_closed, signals.spider_closed)
        return spider

    async def begin(self) -> None:
        """Start at the base of the source, or continue an interrupted run."""
        wired = self.wired
        limit = wired.config.site_max_pages
        self.run = SiteRun(self.site, wired.site_runs, wired.frontier, wired.leases, max_pages=limit)
        self.run.follow([self._page(self.site.base_url, 0)])

    async def parse_listing(self, response: Response) -> None:
        """Submit the articles that a page lists, and follow its links to listing pages."""
        depth = response.meta.get("depth", 0)
        if not same_site(response.url, self.site.base_url) or "download_stopped" in response.flags:
            return
        read = await self.wired.parsers.run(
            read_links, response.body, url=response.url, source=self.site, wall_sec=PARSE_WALL_SEC
        )
        if not isinstance(read, Done):
            self.logger.warning(
                "listing_unread", extra={"url": response.url, "reason": read.code, "detail": read.detail}
            )
            return
        found, submissions = read.value, self.wired.submissions
        wish, known = crawling.wish_of(self.site, response.url, depth), self.wired.sources
        new = await submissions.submit(crawling.submitted(found.articles, known, wish), self.site.categories)
        new += await submissions.submit(crawling.submitted(found.external, known, crawling.external(wish)), ())
        followed = self.run.follow(self._pages(found.listings, depth + 1))
        self._tell(response.url, depth, new, followed)

    def spider_closed(self, reason: str) -> None:
        """Mark the run as finished, unless it was interrupted: then the next invocation continues it."""
        if reason == "finished" and hasattr(self, "run"):
            try:
                self.run.end()
            except StoreUnavailable:
                self.logger.debug("run_not_ended")  # the run expires by itself

    def _pages(self, urls: Iterable[str], depth: int) -> list[Task]:
        assert self.depth is not None
        return [self._page(url, depth) for url in urls] if depth <= self.depth else []

    def _page(self, url: str, depth: int) -> Task:
        request = Request(url, self.parse_listing, meta={"depth": depth, "html_only": True})
        return request_to_task(request.to_dict(spider=self), self.name)

    def _tell(self, url: str, depth: int, new: int, followed: int) -> None:
        assert self.crawler.stats is not None
        self.crawler.stats.inc_value("feedcrawl/site/pages")
        self.crawler.stats.inc_value("feedcrawl/site/articles_new", new)
        self.logger.info("listing_read", extra={"url": url, "depth": depth, "new": new, "followed": followed})
