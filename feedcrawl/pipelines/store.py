"""Queues what consumers read in Redis (step 4); the publish step sends it together with its events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from feedcrawl import wiring
from feedcrawl.items import Article, FeedPoll
from feedcrawl.services.articles import publication
from feedcrawl.services.subscriptions import backfill, polling
from feedcrawl.telemetry.tracing import traced

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from feedcrawl.wiring import Wiring


class StorePipeline:
    """Entries and category links of a poll, the HASH and indexes of an article or of its failure."""

    def __init__(self, wired: Wiring) -> None:
        self._wired = wired

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Shares the crawler's stores."""
        return cls(wiring.of(crawler))

    @traced("store")
    def process_item(self, item: Any) -> Any:
        """The item. Tasks of a poll go out here and its lineages later: what counts as known is not pushed again."""
        if isinstance(item, FeedPoll) and item.parsed is not None:
            item.writes = self._wired.client.pipeline(transaction=False)
            self._entries(item)
        elif isinstance(item, Article):
            item.writes = self._wired.client.pipeline(transaction=False)
            publication.queue(item, self._wired.articles, self._wired.joins)
            if item.merged_into == item.uid:
                for task in self._wired.joins.edited_as_well(item.lease.task, item.uid):
                    self._wired.leases.push([task], again="edited")
        return item

    def _entries(self, poll: FeedPoll) -> None:
        tasks = list(polling.entry_tasks(poll))
        categories = poll.feed.subscription.categories
        store = self._wired.articles
        for task, _ in tasks:
            store.want(poll.writes, task.id, categories)
        links = list({entry.canonical_link for entry in poll.new if entry.canonical_link and entry.article_uid})
        for category in categories:
            store.category_links(poll.writes, category, links)
        poll.writes.execute()
        if tasks:
            pushed = self._wired.leases.push_each((task, 0.0, again) for task, again in tasks)
            known = [task.id for (task, _), answer in zip(tasks, pushed, strict=True) if answer == "known"]
            if known and categories:
                store.categorize_known(known, categories)
        self._wired.files.ask(poll)
        if poll.possibly_missed and poll.walk is None:
            backfill.look_on(poll, limit=self._wired.config.max_archive_pages, gap=True)
        walk = backfill.first_task(poll)
        if walk is not None:
            self._wired.leases.push([walk], again="retry" if poll.walk and poll.walk.gap else "")
