"""Separates new from known (step 2): entries of a poll, and an article already fetched from another URL."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

from feedcrawl import wiring
from feedcrawl.items import Article, FeedPoll
from feedcrawl.services.subscriptions import lineage
from feedcrawl.telemetry.tracing import traced

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from feedcrawl.services.articles.merging import Merging
    from feedcrawl.store.subscriptions.entries import Entries
    from feedcrawl.telemetry.tracing import Tracer


class DedupePipeline:
    """Reads the known entries or article in one round trip; the only write is the claim of an article.

    From this step to the commit, a poll with entries blocks the event loop for some milliseconds. When several child
    processes finish at once these times would add up; so each such poll waits for a turn of the event loop of its own,
    and responses are received in between.
    """

    def __init__(self, entries: Entries, merging: Merging, *, tracer: Tracer) -> None:
        self._entries = entries
        self._merging = merging
        self._tracer = tracer
        self._turn = asyncio.Lock()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Shares the crawler's stores."""
        wired = wiring.of(crawler)
        return cls(wired.entries, wired.merging, tracer=wired.tracer)

    @traced("dedupe")
    async def process_item(self, item: object) -> object:
        """The item, its new and changed entries separated from the known ones."""
        if isinstance(item, FeedPoll) and item.received.parsed is not None:
            async with self._turn:
                await asyncio.sleep(0)
            return lineage.compare(item, self._entries)
        if isinstance(item, Article):
            self._merging.settle(item)
        return item
