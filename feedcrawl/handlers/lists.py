"""Addresses that serve a list of feeds: subscribed like a feed, and replaced by the feeds of the list when polled.

So a list from the web passes the same guard, pace and limits as any feed. Only an address that an operator named is
replaced, one level deep: a stranger's list must not create subscriptions.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from feedcrawl.domain.subscriptions.lists import read_list
from feedcrawl.handlers.base import PARSE_WALL_SEC
from feedcrawl.parsing import Done
from feedcrawl.services.subscriptions import registering
from feedcrawl.services.subscriptions.discovery import stage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from scrapy.http import Response

    from feedcrawl.domain.http.url_gate import Gate
    from feedcrawl.domain.subscriptions.listed import FeedList
    from feedcrawl.domain.subscriptions.records import Feed
    from feedcrawl.domain.subscriptions.specs import Refused, SubscriptionSpec
    from feedcrawl.items import FeedPoll
    from feedcrawl.parsing import ParserPool
    from feedcrawl.services.frontier.leases import Leases
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.subscriptions.registry import Registry

logger = logging.getLogger(__name__)

BATCH = 25
"""Feeds that are subscribed between two turns of the event loop."""
LOGGED = 100
"""The most refused feeds of one list that are logged with their reasons."""

_DETAILS = {
    "became_a_list": "it was a feed and stays subscribed; to get these feeds, unsubscribe and subscribe it again",
    "list_not_named": "only an address that an operator names is replaced by the feeds that it lists",
}


@dataclass(frozen=True, slots=True)
class Lists:
    """Subscribes to the feeds of lists. `max_feeds`: the most feeds that are read from one list."""

    registry: Registry
    frontier: Frontier
    leases: Leases
    gate: Gate
    parsers: ParserPool
    now: Callable[[], datetime]
    max_feeds: int

    async def unfold(self, poll: FeedPoll, response: Response) -> list[str] | FeedPoll:
        """The ids of the feeds that replace an address serving a list; the poll then needs no commit.

        Otherwise the poll: as it was if the document is no list; for an address that has been a feed, or that no
        operator named, with the reason as its result (`became_a_list`, `list_not_named`).
        """
        found = await self._listed(poll.received.result, response)
        if found is None:
            return poll
        subscription = poll.feed.subscription
        kept = _kept(poll.feed)
        if kept is not None:
            return poll.judged(f"the address serves a list of {len(found.feeds)} feeds; {_DETAILS[kept]}", kept)
        specs, refused = await self._passed(registering.specs_of(found, subscription.categories))
        log_refused(refused)
        subscribed = await self.subscribe(registering.with_archives(specs) if subscription.backfill else specs)
        ids = [each for each in subscribed if each != subscription.id]  # a list may name itself
        if not ids:
            return poll
        registering.unsubscribe(self.registry, self.frontier, poll.feed.id)
        self.leases.done(poll.lease, status="dead", reason="list")  # the task is gone: only forgets the lease
        details = {"url": subscription.url, "host": poll.lease.task.host, "feeds": len(ids)}
        logger.info("list_subscribed", extra=details | {"left_out": found.left_out, "refused": len(refused)})
        return ids

    async def subscribe(self, specs: Sequence[SubscriptionSpec]) -> list[str]:
        """Subscribe to each feed, in turns with the event loop; returns the feeds' ids. Refused feeds are logged."""
        ids: dict[str, None] = {}
        refused: list[Refused] = []
        for first in range(0, len(specs), BATCH):
            batch = specs[first : first + BATCH]
            found, bad = registering.subscribe_all(self.registry, self.frontier, batch, self.now())
            ids.update(dict.fromkeys(found))
            refused += bad
            await asyncio.sleep(0)
        log_refused(refused)
        return list(ids)

    async def _passed(self, specs: Sequence[SubscriptionSpec]) -> tuple[list[SubscriptionSpec], list[Refused]]:
        """The specs whose URL may be fetched, and the others; judged in turns with the event loop."""
        good: list[SubscriptionSpec] = []
        refused: list[Refused] = []
        for first in range(0, len(specs), BATCH):
            passed, bad = registering.passed(self.gate, specs[first : first + BATCH])
            good += passed
            refused += bad
            await asyncio.sleep(0)
        return good, refused

    async def _listed(self, result: str, response: Response) -> FeedList | None:
        """The list in a document, given the poll's result; None if the document is no list."""
        if result not in registering.LISTS:
            return None
        limit = self.max_feeds
        read = await self.parsers.run(read_list, response.body, limit=limit, wall_sec=PARSE_WALL_SEC)
        if not isinstance(read, Done):
            return None
        # Plain text and JSON of any program may mention addresses: a list contains nothing else.
        if result != "opml" and not all("://" in feed.url for feed in read.value.feeds):
            return None
        found: FeedList = read.value
        return found


def _kept(feed: Feed) -> str | None:
    """The reason (a key of `_DETAILS`) why a subscription stays although its address serves a list; None if the
    list replaces it.
    """
    if feed.polls.last_success_at is not None:
        return "became_a_list"
    subscription = feed.subscription
    return (
        None if subscription.unfolds and not subscription.no_discovery and stage(feed) == "page" else "list_not_named"
    )


def log_refused(refused: Sequence[Refused]) -> None:
    """Log the first refusals, one line each, and one line with the number of the others."""
    for bad in refused[:LOGGED]:
        logger.error("feed_refused", extra={"url": bad.url, "reason": bad.code, "detail": bad.detail})
    if refused[LOGGED:]:
        logger.error("feeds_refused", extra={"more": len(refused) - LOGGED})
