"""Queues the Redis records that consumers read (step 4); the publish step sends them together with the events."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Self

from feedcrawl import wiring
from feedcrawl.items import Article, FeedPoll
from feedcrawl.services.articles import publication
from feedcrawl.services.sites import gaps
from feedcrawl.services.subscriptions import backfill, polling
from feedcrawl.telemetry.tracing import traced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.crawler import Crawler

    from feedcrawl.services.articles.files import FileService
    from feedcrawl.services.articles.merging import Merging
    from feedcrawl.services.frontier.leases import Leases
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.redis.client import Client
    from feedcrawl.telemetry.tracing import Tracer


class StorePipeline:
    """Queues entries and category links of a poll, and the HASH and indexes of an article or of its failure."""

    def __init__(
        self,
        client: Client,
        leases: Leases,
        *,
        articles: Articles,
        merging: Merging,
        files: FileService,
        max_archive_pages: int,
        tracer: Tracer,
    ) -> None:
        self._client = client
        self._leases = leases
        self._articles = articles
        self._merging = merging
        self._files = files
        self._max_archive_pages = max_archive_pages
        self._tracer = tracer

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Shares the crawler's stores."""
        wired = wiring.of(crawler)
        return cls(
            wired.client,
            wired.leases,
            articles=wired.articles,
            merging=wired.merging,
            files=wired.files,
            max_archive_pages=wired.config.max_archive_pages,
            tracer=wired.tracer,
        )

    @traced("store")
    def process_item(self, item: object) -> object:
        """The item. A poll's tasks are enqueued before its lineages are saved: known entries are not enqueued."""
        if isinstance(item, FeedPoll):
            return self._poll(item) if item.received.parsed is not None else item
        if isinstance(item, Article):
            item.writes = self._client.pipeline(transaction=False)
            publication.queue(item.writes, item, self._articles, self._merging)
            if item.merged_into == item.uid:
                for task in self._merging.edited_as_well(item.lease.task, item.uid):
                    self._leases.enqueue([task], again="edited")
        return item

    def _poll(self, poll: FeedPoll) -> FeedPoll:
        self._entries(poll)
        onward = backfill.walk_step(poll, limit=self._max_archive_pages)
        poll = replace(poll, found=replace(poll.found, onward=onward))
        walk = backfill.first_task(poll)
        if walk is not None:
            self._leases.enqueue([walk], again="retry" if onward and onward.walk.gap else "")
        elif poll.found.entries.possibly_missed and (filling := gaps.first_task(poll)) is not None:
            self._leases.enqueue([filling])
        return poll

    def _entries(self, poll: FeedPoll) -> None:
        tasks = list(polling.entry_tasks(poll))
        categories = poll.feed.subscription.categories
        if categories:
            self._categorize(poll, [task.id for task, _ in tasks], categories)
        if tasks:
            enqueued = self._leases.enqueue_each((task, 0.0, again) for task, again in tasks)
            known = [task.id for (task, _), answer in zip(tasks, enqueued, strict=True) if answer == "known"]
            if known and categories:
                self._articles.categorize_known(known, categories)
        self._files.enqueue_pending(poll)

    def _categorize(self, poll: FeedPoll, uids: Sequence[str], categories: Sequence[str]) -> None:
        pipe, store = self._client.pipeline(transaction=False), self._articles
        for uid in uids:
            store.request_categories(pipe, uid, categories)
        linked = (entry["canonical_link"] for entry in poll.found.entries.new if entry["article_uid"])
        links = list({link for link in linked if link and "#" not in link})  # readers of links know whole pages only
        for category in categories:
            store.category_links(pipe, category, links)
        pipe.execute()
