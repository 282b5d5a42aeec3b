"""Informs other programs (step 5): sends queued commands and events in one round trip (on a cluster: several)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from feedcrawl import wiring
from feedcrawl.domain.frontier.traces import traceparent
from feedcrawl.exceptions import LeaseLost
from feedcrawl.items import Article, FeedPoll
from feedcrawl.services.articles import publication, tasks, withdrawals
from feedcrawl.services.subscriptions import lineage
from feedcrawl.store.redis.connection import in_order
from feedcrawl.telemetry.tracing import traced

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from scrapy.crawler import Crawler

    from feedcrawl.domain.operations.events import Event
    from feedcrawl.services.articles.files import FileService
    from feedcrawl.services.articles.media import MediaService
    from feedcrawl.services.articles.merging import Merging
    from feedcrawl.services.frontier.leases import Leases
    from feedcrawl.services.push.publishing import Publisher
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.operations.streams import Events
    from feedcrawl.store.redis.client import Pipeline
    from feedcrawl.store.subscriptions.entries import Entries
    from feedcrawl.telemetry.tracing import Tracer


@dataclass(frozen=True, slots=True)
class PublishedStores:
    """The stores and services to which a published item is written."""

    events: Events
    entries: Entries
    articles: Articles
    merging: Merging
    media: MediaService
    files: FileService
    publisher: Publisher


class PublishPipeline:
    """Writes events after their records and before the task ends: a kill may repeat an event but loses none."""

    def __init__(
        self,
        stores: PublishedStores,
        leases: Leases,
        *,
        caches_pages: bool,
        now: Callable[[], datetime],
        tracer: Tracer,
    ) -> None:
        self._stores = stores
        self._leases = leases
        self._caches_pages = caches_pages
        self._now = now
        self._tracer = tracer

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Shares the crawler's stores."""
        wired = wiring.of(crawler)
        stores = PublishedStores(
            wired.events, wired.entries, wired.articles, wired.merging, wired.media, wired.files, wired.publisher
        )
        cached = bool(wired.config.page_cache_ttl_sec)
        return cls(stores, wired.leases, caches_pages=cached, now=wired.now, tracer=wired.tracer)

    @traced("events")
    def process_item(self, item: object) -> object:
        """The item, published. Raises LeaseLost."""
        if not isinstance(item, (FeedPoll, Article)) or item.writes is None:
            return item
        writes = item.writes
        if not (isinstance(item, Article) and item.ended) and not self._leases.confirms(item.lease):
            raise LeaseLost(item.lease)
        if isinstance(item, FeedPoll):
            events = self._entries(writes, item)
        else:
            events = self._article(writes, item, cached=self._cache(item))
        in_order(writes)
        self._stores.events.add(writes, events, traceparent(item.lease.task.payload))
        in_order(writes)
        if isinstance(item, FeedPoll):
            lineage.save(item, self._stores.entries, writes)
        if isinstance(item, Article):
            self._stores.media.finish(writes, item)
        writes.execute()
        self._stores.events.trim(self._now().timestamp())
        if isinstance(item, Article):
            self._stores.files.ask(item)
            if item.status == "success" and item.merged_into is None:
                self._stores.publisher.stored(item)
        item.writes = None
        return item

    def _cache(self, article: Article) -> bool:
        if not article.html or not self._caches_pages:
            return False
        self._stores.articles.cache_page(tasks.page_key(article.url), article.html, self._now().timestamp())
        return True

    def _entries(self, writes: Pipeline, item: FeedPoll) -> list[Event]:
        found = lineage.entry_events(item)
        return found + withdrawals.of_entries(writes, self._stores.articles, item.feed.id, item.entries.deleted)

    def _article(self, writes: Pipeline, item: Article, *, cached: bool) -> list[Event]:
        page = [tasks.webpage_event(item, cached=cached)] if item.html else []
        withdrawn = withdrawals.of_page(writes, self._stores.articles, item)
        return [*page, *publication.events(item, self._stores.merging), *withdrawn]
