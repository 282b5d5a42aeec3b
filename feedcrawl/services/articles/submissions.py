"""Enqueues many article tasks, from a sitemap or a site, in turns with the event loop."""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar

from feedcrawl.domain.urls import canonicalize
from feedcrawl.services.articles.tasks import keeps_slash

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from feedcrawl.domain.frontier.tasks import Again, Task
    from feedcrawl.services.frontier.leases import Leases
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.redis.client import Client

T = TypeVar("T")

BATCH: Final = 64
"""Tasks that are enqueued between two turns of the event loop."""


class Submissions:
    """Enqueues article tasks with the settings of their categories. Safe to repeat; may raise StoreUnavailable."""

    def __init__(self, client: Client, articles: Articles, leases: Leases) -> None:
        self._client = client
        self._articles = articles
        self._leases = leases

    async def submit(self, tasks: Iterator[tuple[Task, Again]], categories: Sequence[str]) -> int:
        """Enqueue each task with the reason why it comes again; returns the number of tasks new to the frontier."""
        queued = 0
        for batch in batches(tasks):
            queued += self._submit(batch, categories)
            await asyncio.sleep(0)
        return queued

    def _submit(self, batch: Sequence[tuple[Task, Again]], categories: Sequence[str]) -> int:
        if categories:
            self._want(batch, categories)
        enqueued = self._leases.enqueue_each((task, 0.0, again) for task, again in batch)
        known = [task.id for (task, _), answer in zip(batch, enqueued, strict=True) if answer == "known"]
        if known and categories:
            self._articles.categorize_known(known, categories)
        return enqueued.count("queued")

    def _want(self, batch: Sequence[tuple[Task, Again]], categories: Sequence[str]) -> None:
        links = [canonicalize(task.url, keep_trailing_slash=keeps_slash(task)) for task, again in batch if not again]
        with self._client.pipeline(transaction=False) as pipe:
            for task, _ in batch:
                self._articles.request_categories(pipe, task.id, categories)
            for category in categories:
                self._articles.category_links(pipe, category, links)
            pipe.execute()


def batches(items: Iterator[T]) -> Iterator[list[T]]:
    """The items in batches."""
    while batch := list(islice(items, BATCH)):
        yield batch
