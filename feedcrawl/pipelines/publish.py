"""Tells other programs (step 5): sends the queued commands and the events, in one round trip but for a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from feedcrawl import wiring
from feedcrawl.domain.frontier.traces import traceparent
from feedcrawl.exceptions import LeaseLost
from feedcrawl.items import Article, FeedPoll
from feedcrawl.services.articles import publication, tasks
from feedcrawl.services.subscriptions import lineage, polling
from feedcrawl.store.redis.connection import in_order
from feedcrawl.telemetry.tracing import traced

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from feedcrawl.domain.operations.events import Event
    from feedcrawl.wiring import Wiring

PRUNE_EVERY = 100
"""Articles between two looks for attempts that are over."""


class PublishPipeline:
    """Events are written after what they speak of, and before the task ends, so that a kill repeats but never loses."""

    def __init__(self, wired: Wiring) -> None:
        self._wired = wired
        self._articles = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Shares the crawler's stores."""
        return cls(wiring.of(crawler))

    @traced("events")
    def process_item(self, item: Any) -> Any:
        """The item, published."""
        writes = getattr(item, "writes", None)
        if writes is None:
            return item
        if not getattr(item, "ended", False) and not self._wired.leases.confirms(item.lease):
            raise LeaseLost(item.lease)
        cached = isinstance(item, Article) and self._cache(item)
        events = polling.entry_events(item) if isinstance(item, FeedPoll) else self._article(item, cached=cached)
        in_order(writes)
        self._wired.events.add(writes, events, traceparent(item.lease.task.payload))
        in_order(writes)
        if isinstance(item, FeedPoll):
            lineage.save(item, self._wired.entries, writes)
        if isinstance(item, Article):
            self._wired.media.finish(writes, item)
        writes.execute()
        self._wired.events.trim()
        if isinstance(item, Article):
            self._wired.files.ask(item)
            self._prune()
        item.writes = None
        return item

    def _prune(self) -> None:
        """Every so often: what has to leave grows no faster than articles come."""
        if self._articles % PRUNE_EVERY == 0:
            self._wired.articles.prune_attempted()
        self._articles += 1

    def _cache(self, article: Article) -> bool:
        if not article.html or not self._wired.config.page_cache_ttl_sec:
            return False
        self._wired.articles.cache_page(tasks.page_key(article.url), article.html)
        return True

    def _article(self, item: Article, *, cached: bool) -> list[Event]:
        page = [tasks.webpage_event(item, cached=cached)] if item.html else []
        return page + publication.told(item, self._wired.joins)
