"""Tasks of kind `gap`: the time between two polls of a feed, looked up in the sitemaps of its site."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, cast

from scrapy import Request

from feedcrawl.domain.sitemaps.gaps import ROBOTS, read_document
from feedcrawl.handlers.base import PARSE_WALL_SEC, TaskHandler, limits
from feedcrawl.handlers.sitemap import HEADERS
from feedcrawl.parsing import Done
from feedcrawl.services.sites import gaps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.http import Response
    from twisted.python.failure import Failure

    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.domain.sitemaps.gaps import Gap
    from feedcrawl.domain.subscriptions.records import Feed

logger = logging.getLogger(__name__)


class GapTasks(TaskHandler):
    """Reads robots.txt, then the sitemaps that may cover the gap, one request at a time."""

    _feeds: dict[str, Feed]

    def prepare(self, leases: Sequence[Lease]) -> None:
        """Load the feeds of a batch."""
        self._feeds = self.wired.registry.load([gaps.feed_id_of(lease) for lease in leases])

    def request(self, lease: Lease) -> Request | None:
        """The request of the next document."""
        feed = self._feeds.get(gaps.feed_id_of(lease))
        if feed is None:  # unsubscribed while the task was in progress
            self.leases.done(lease, status="dead", reason="unsubscribed")
            return None
        meta = {
            "feed": feed,
            "dont_obey_robotstxt": True,  # robots.txt names sitemaps for crawlers to read
            **limits(self.wired.config.sitemap_timeout_sec, self.wired.config.max_sitemap_bytes),
        }
        return Request(lease.task.url, self.parse, "GET", HEADERS, meta=meta, errback=self.failed, dont_filter=True)

    async def parse(self, response: Response) -> None:
        """Enqueue the articles that a sitemap has of the gap, and go on to the next one."""
        request = cast("Request", response.request)
        lease, feed = request.meta["lease"], request.meta["feed"]
        is_robots = lease.task.url.endswith(ROBOTS)
        body = response.body if request.meta["outcome"].kind == "fetched" else b""
        gap = gaps.gap_of(lease)
        if not body and not is_robots:
            await self._go_on(request, gap, 0)
            return
        read = await self.read(lease, read_document, body, url=lease.task.url, gap=gap, wall_sec=PARSE_WALL_SEC)
        if not isinstance(read, Done):
            await self._go_on(request, gap, 0)
            return
        tasks = gaps.article_tasks(feed, read.value.urls, self.wired.sources, lease.task.url)
        queued = await self.wired.submissions.submit(tasks, feed.subscription.categories)
        further = gap.after(read.value.sitemaps, len(read.value.urls), sitemap=not is_robots)
        await self._go_on(request, further, queued)

    async def failed(self, failure: Failure) -> None:
        """Handle a document that got no response: given back if its host fails, else left out."""
        settled = self.settled(failure)
        if settled is None:
            return
        request, outcome = settled
        if self.is_final(request, outcome):
            await self._go_on(request, gaps.gap_of(request.meta["lease"]), 0)
        else:
            self.give_back(request, outcome, None)

    async def _go_on(self, request: Request, gap: Gap, queued: int) -> None:
        lease, feed = request.meta["lease"], request.meta["feed"]
        self.stats.inc_value("feedcrawl/gaps/articles", queued)
        patch = gaps.onward(gap)
        if patch is not None:
            self.leases.give_back(lease, reason="gap", patch=patch)
            return
        commit = self.wired.registry.note(feed.id, gaps.journal_line(feed, gap, gap.found, self.wired.now()))
        self.leases.done(lease, status="fetched", reason="gap_filled", commit=commit)
        details = {"feed_id": feed.id, "url": feed.subscription.url, "documents": gap.documents, "found": gap.found}
        logger.info("gap_filled", extra=details)
