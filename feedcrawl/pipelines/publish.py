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

    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.domain.operations.events import Event
    from feedcrawl.services.articles.files import FileService
    from feedcrawl.services.articles.media import MediaService
    from feedcrawl.services.articles.merging import Merging
    from feedcrawl.services.frontier.leases import Leases
    from feedcrawl.services.push.publishing import Publisher
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.operations.streams import Events
    from feedcrawl.store.redis.client import Client, Pipeline
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
        client: Client,
        *,
        caches_pages: bool,
        now: Callable[[], datetime],
        tracer: Tracer,
    ) -> None:
        self._stores = stores
        self._leases = leases
        self._client = client
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
        return cls(stores, wired.leases, wired.client, caches_pages=cached, now=wired.now, tracer=wired.tracer)

    @traced("events")
    def process_item(self, item: object) -> object:
        """The item, published. Raises LeaseLost."""
        if isinstance(item, FeedPoll) and item.received.parsed is not None:
            self._poll(item)
        elif isinstance(item, Article) and item.writes is not None:
            self._article(item, item.writes)
        return item

    def _poll(self, poll: FeedPoll) -> None:
        if not self._leases.confirms(poll.lease):
            raise LeaseLost(poll.lease)
        stores, writes = self._stores, self._client.pipeline(transaction=False)
        withdrawn = withdrawals.of_entries(writes, stores.articles, poll.feed.id, poll.found.entries.deleted)
        self._announce(writes, poll.lease, lineage.entry_events(poll) + withdrawn)
        lineage.save(poll, stores.entries, writes)
        self._send(writes)

    def _article(self, article: Article, writes: Pipeline) -> None:
        if not article.ended and not self._leases.confirms(article.lease):
            raise LeaseLost(article.lease)
        stores, cached = self._stores, self._cache(article)
        page = [tasks.webpage_event(article, cached=cached)] if article.html else []
        withdrawn = withdrawals.of_page(writes, stores.articles, article)
        self._announce(writes, article.lease, [*page, *publication.events(article, stores.merging), *withdrawn])
        stores.media.finish(writes, article)
        self._send(writes)
        stores.files.enqueue_pending(article)
        if article.status == "success" and article.merged_into is None:
            stores.publisher.stored(article)
        article.writes = None

    def _announce(self, writes: Pipeline, lease: Lease, events: list[Event]) -> None:
        in_order(writes)
        self._stores.events.add(writes, events, traceparent(lease.task.payload))
        in_order(writes)

    def _send(self, writes: Pipeline) -> None:
        writes.execute()
        self._stores.events.trim(self._now().timestamp())

    def _cache(self, article: Article) -> bool:
        if not article.html or not self._caches_pages:
            return False
        self._stores.articles.cache_page(tasks.page_key(article.url), article.html, self._now().timestamp())
        return True
