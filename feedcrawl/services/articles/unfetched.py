"""Ends of tasks whose article another URL has already brought: they are merged into it without a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from feedcrawl.services.articles.tasks import merged_event, requested_url

if TYPE_CHECKING:
    from datetime import datetime

    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.services.articles.media import MediaService
    from feedcrawl.services.articles.merging import Merging
    from feedcrawl.services.articles.repeats import Repeats
    from feedcrawl.services.frontier.leases import Leases
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.operations.streams import Events
    from feedcrawl.store.redis.client import Client


@dataclass(frozen=True, slots=True)
class Unfetched:
    """Merges tasks into stored articles. Raises StoreUnavailable."""

    client: Client
    articles: Articles
    events: Events
    media: MediaService
    merging: Merging
    leases: Leases
    repeats: Repeats

    def merge(self, lease: Lease, target: str, now: datetime) -> None:
        """Gives the article `target` the categories and page records of the task, and ends the task as fetched.

        A program that queued the URL gets the events of the article once more.
        """
        store, task, url = self.articles, lease.task, requested_url(lease.task)
        with self.client.pipeline(transaction=False) as pipe:
            categories = store.requested_categories(lease.id, target)
            store.add_other_url(pipe, target, url)
            store.attempted(pipe, [lease.id], now.timestamp())
            store.categorize(pipe, target, categories | ({task.category} if task.category else set()))
            if target != lease.id:
                store.merge(pipe, lease.id, target)
                self.events.add(pipe, [merged_event(lease.id, target, url, task.url)])
            self.media.finish_unfetched(pipe, lease.id, target, now)
            pipe.execute()
        for edited in self.merging.edited_as_well(task, target):
            self.leases.enqueue([edited], again="edited")
        self.repeats.announce_stored(lease, target)
        self.leases.done(lease, status="fetched", reason="already_stored", patch={"url": url})
