"""Tasks of kind `site` and `listing`: follow the listing pages of a source, and enqueue the articles that they name.

A `site` task requests the base of a source, which begins a run, and comes back after its `spider_interval_sec`. Each
`listing` task is one further page of a run.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, cast

from scrapy import Request

from feedcrawl.crawl.failures import sentence
from feedcrawl.domain.sites.links import read_links
from feedcrawl.domain.urls import hostname, same_site
from feedcrawl.handlers.base import PARSE_WALL_SEC, TaskHandler, limits
from feedcrawl.parsing import Done
from feedcrawl.services.articles.tasks import requested_url
from feedcrawl.services.sites import crawling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.http import Response
    from twisted.python.failure import Failure

    from feedcrawl.domain.frontier.outcome import Outcome
    from feedcrawl.domain.frontier.payloads import Patch
    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.domain.sites.sources import Source

logger = logging.getLogger(__name__)


class ListingTasks(TaskHandler):
    """Requests listing pages, as robots.txt allows, each once per run."""

    def prepare(self, leases: Sequence[Lease]) -> None:
        """Nothing to load: the task names its source."""

    def request(self, lease: Lease) -> Request | None:
        """The request of a listing page; None if its source is crawled no more."""
        if crawling.source_of(lease.task, self.wired.sources) is None:
            self.leases.done(lease, status="dead", reason="not_crawled")
            return None
        config = self.wired.config
        meta = {
            "html_only": True,
            **limits(config.article_timeout_sec, config.max_article_bytes),
        }
        return Request(lease.task.url, self.parse, meta=meta, errback=self.failed, dont_filter=True)

    async def parse(self, response: Response) -> None:
        """Enqueue what a page names, then end the page."""
        request = cast("Request", response.request)
        lease: Lease = request.meta["lease"]
        outcome = request.meta["outcome"]
        source = crawling.source_of(lease.task, self.wired.sources)
        if outcome.kind != "fetched":
            self._refuse(request, outcome, response.status)
            return
        if source is not None and same_site(response.url, source.base_url) and "download_stopped" not in response.flags:
            await self._read(lease, response, source)
        self._end(lease, "listing_read")

    async def failed(self, failure: Failure) -> None:
        """Handle a page that got no response."""
        settled = self.settled(failure)
        if settled is not None:
            self._refuse(*settled, None, sentence(failure.value))

    async def _read(self, lease: Lease, response: Response, source: Source) -> None:
        task, wired = lease.task, self.wired
        read = await self.read(
            lease, read_links, response.body, url=response.url, source=source, wall_sec=PARSE_WALL_SEC
        )
        if not isinstance(read, Done):
            details = {"url": response.url, "reason": read.code, "detail": read.detail}
            logger.warning("listing_unread", extra=details)
            return
        found, known = read.value, wired.sources
        options = crawling.options_of(source, response.url, task.depth)
        new = await wired.submissions.submit(crawling.submitted(found.articles, known, options), source.categories)
        others = crawling.submitted(found.external, known, crawling.external(options))
        new += await wired.submissions.submit(others, ())
        limit = wired.config.site_max_pages
        run = crawling.SiteRun(source, wired.site_runs, wired.frontier, wired.leases, max_pages=limit)
        run.begin(is_base=task.kind == "site")
        deepest = task.payload.get("max_depth", wired.config.site_depth)
        followed = run.follow(crawling.listing_tasks(found.listings, task, source) if task.depth < deepest else [])
        self.stats.inc_value("feedcrawl/site/pages")
        self.stats.inc_value("feedcrawl/site/articles_new", new)
        counts = {"depth": task.depth, "new": new, "followed": followed}
        logger.info("listing_read", extra={"source": source.name, "url": response.url, **counts})

    def _refuse(self, request: Request, outcome: Outcome, http_status: int | None, detail: str = "") -> None:
        """Give a failed page back, or end it; the base of a source is tried again at the next run."""
        lease: Lease = request.meta["lease"]
        if self.ending(request, outcome, http_status) != "dead":
            return
        details = {"source": lease.task.source, "url": request.url, "reason": outcome.reason, "detail": detail[:200]}
        if lease.task.kind == "site":
            logger.warning("site_unread", extra=details)
            self._end(lease, outcome.reason)
            return
        logger.info("listing_refused", extra=details)
        self.leases.done(
            lease,
            status="dead",
            reason=outcome.reason,
            patch={"url": requested_url(lease.task)},
            dead_letter=outcome.dead_letter,
            http_status=http_status,
        )

    def _end(self, lease: Lease, reason: str) -> None:
        """End a page; the base of a source of the operator's comes again after the source's interval."""
        task = lease.task
        source = self.wired.sources.get(task.source or "")
        patch: Patch = {"url": requested_url(task), "host": hostname(requested_url(task)), "payload": None}
        if task.kind == "site" and source is not None and source.crawls:
            interval = source.spider_interval_sec or self.wired.config.site_interval_sec
            self.leases.done(lease, status="pending", reason=reason, delay_sec=interval, patch=patch)
        else:
            self.leases.done(lease, status="fetched", reason=reason, patch=patch)
