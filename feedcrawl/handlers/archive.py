"""Tasks of kind `archive`: each request reads one document of a feed's archives as one item; the task then moves
on to the next document.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, cast

from scrapy import Request

from feedcrawl.crawl.failures import sentence
from feedcrawl.domain.subscriptions.archives import walk_from
from feedcrawl.handlers.base import TaskHandler, archived, challenge_detail, limits, transfer_of
from feedcrawl.items import FeedPoll, FeedReceived, FeedRequested
from feedcrawl.parsing import Done
from feedcrawl.services.subscriptions import backfill

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from scrapy.http import Response
    from twisted.python.failure import Failure

    from feedcrawl.domain.frontier.outcome import Outcome
    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.domain.subscriptions.records import Feed

logger = logging.getLogger(__name__)


class ArchiveTasks(TaskHandler):
    """Archive documents. Each is fetched once and in full: no conditional requests, and no effect on the cadence."""

    _feeds: dict[str, Feed]

    def prepare(self, leases: Sequence[Lease]) -> None:
        """Load the feeds of a batch."""
        self._feeds = self.wired.registry.load([backfill.feed_id_of(lease) for lease in leases])
        self._accesses = self.wired.registry.accesses(self._feeds.values())

    def request(self, lease: Lease) -> Request | None:
        """The request of one document."""
        feed = self.polled(lease, self._feeds.get(backfill.feed_id_of(lease)))
        if feed is None:
            return None
        config = self.wired.config
        meta = {
            "feed": feed,
            "raw": {"feed_id": feed.id},
            "dont_obey_robotstxt": True,  # an archive is part of a subscribed feed
            **limits(config.fetch_timeout_sec, config.max_feed_bytes),
        }
        url = lease.task.url
        headers = self.feed_headers(lease, feed, self._accesses.get(feed.id), meta)
        return Request(url, self.parse, "GET", headers, meta=meta, errback=self.failed, dont_filter=True)

    async def parse(self, response: Response) -> AsyncIterator[FeedPoll]:
        """The document as an item, parsed in a child process."""
        request = cast("Request", response.request)
        outcome: Outcome = request.meta["outcome"]
        if outcome.kind != "fetched":
            self._fail(request, outcome, http_status=response.status, detail=challenge_detail(response))
            return
        feed: Feed = request.meta["feed"]
        requested = FeedRequested(
            lease=request.meta["lease"], poll_id=f"{feed.id}@{request.url}", sources=self.wired.sources, feed=feed
        )
        read = await self.read_document(requested, response, self.how(feed))
        if not isinstance(read, Done):
            self._end(request, read.code, detail=read.detail, http_status=response.status, dead_letter=True)
            return
        received = FeedReceived(
            **transfer_of(request, "fetched", self.wired.now(), response),
            **archived(request),
            final_url=response.url,
            parsed=read.value.parsed,
            identified=read.value.identified,
        )
        yield FeedPoll(requested, received)

    async def failed(self, failure: Failure) -> None:
        """Handle a document that got no response."""
        settled = self.settled(failure)
        if settled is not None:
            self._fail(*settled, http_status=settled[0].meta.get("http_status"), detail=sentence(failure.value))

    def _fail(self, request: Request, outcome: Outcome, *, http_status: int | None = None, detail: str = "") -> None:
        """Give the task back, or end the walk."""
        if self.is_final(request, outcome):
            self._end(request, outcome.reason, detail=detail, http_status=http_status, dead_letter=outcome.dead_letter)
        else:
            self.give_back(request, outcome, http_status)

    def _end(self, request: Request, reason: str, *, detail: str, http_status: int | None, dead_letter: bool) -> None:
        lease, feed = request.meta["lease"], request.meta["feed"]
        line = backfill.journal_line(feed, walk_from(lease.task.payload), reason, self.wired.now(), detail)
        self.leases.done(
            lease,
            status="dead",
            reason=reason,
            commit=self.wired.registry.note(feed.id, line),
            dead_letter=dead_letter,
            http_status=http_status,
        )
        logger.warning("archives_failed", extra={"feed_id": feed.id, "url": request.url, "reason": reason})
