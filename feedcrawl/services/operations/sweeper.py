"""Checks that each feed, sitemap and WebSub lease has exactly one task: pending, or leased to a worker.

The order of the steps guarantees this; the sweeper verifies it. Tasks that are missing after a kill between subscribing
and enqueueing, a lost write, or a manual change of the store are enqueued again.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.sitemaps.tasks import sitemap_task
from feedcrawl.services.push.websub import lease_task
from feedcrawl.services.subscriptions.registering import poll_task
from feedcrawl.store.redis import keys

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from feedcrawl.domain.frontier.tasks import Task
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.push.websub import HubSubscriptions
    from feedcrawl.store.redis.client import Client
    from feedcrawl.store.sites.sitemaps import Sitemaps
    from feedcrawl.store.subscriptions.registry import Registry

logger = logging.getLogger(__name__)

PAGE: Final = 250
"""Feeds per server step: about 2 ms."""
TURN_SEC: Final = 55
"""Seconds after its last page for which a worker stays the sweeper. Less than the time between two passes."""
_MENDED: Final = frozenset({"stray", "twice", "unleased"})
_FEED: Final = "feed:"
_SITEMAP: Final = "sitemap:"
_PUSH: Final = "websub:"


class Sweeper:
    """One pass over all recurring tasks of the fleet. Methods may raise StoreUnavailable; each may be repeated."""

    def __init__(
        self,
        client: Client,
        frontier: Frontier,
        *,
        registry: Registry,
        sitemaps: Sitemaps,
        hub_subscriptions: HubSubscriptions,
        worker: str,
    ) -> None:
        self._client = client
        self._frontier = frontier
        self._registry = registry
        self._sitemaps = sitemaps
        self._hub_subscriptions = hub_subscriptions
        self._worker = worker

    def count(self) -> int:
        """The number of feeds, sitemaps and WebSub leases to check."""
        return self._registry.count() + self._sitemaps.count() + self._hub_subscriptions.count()

    def begin(self) -> bool:
        """True if this worker is the sweeper now; another worker may be after `TURN_SEC`."""
        return bool(self._client.set(keys.SWEEPER, self._worker, nx=True, ex=TURN_SEC))

    def pages(self) -> Iterator[list[str]]:
        """Check page by page, and yield the missing tasks of each; ends early if another worker took over."""
        for store, kind in ((self._registry, _FEED), (self._sitemaps, _SITEMAP), (self._hub_subscriptions, _PUSH)):
            for shard, ids in store.pages(PAGE):
                yield self._look(shard, [f"{kind}{each}" for each in ids])
                if not self._goes_on():
                    return
        unleased, freed = self._frontier.audit()
        if unleased or freed:
            logger.warning("frontier_mended", extra={"holders_without_lease": unleased, "hosts_held_by_nobody": freed})

    def repair(self, suspects: Sequence[str]) -> int:
        """Enqueue the given tasks that are still missing, due at once; returns the number enqueued.

        To be called a moment after `pages` found them, so that a worker that was about to enqueue one has done so.
        """
        missing = self._frontier.sweep(suspects) if suspects else {}
        tasks = [task for task in self._tasks(list(missing)) if missing[task.id] not in _MENDED]
        for task in tasks:
            _log_missing(task.id, missing[task.id], task.url)
        self._frontier.enqueue(tasks, again="retry")
        return len(tasks)

    def _look(self, shard: int, ids: list[str]) -> list[str]:
        found = self._frontier.sweep(ids, shard=shard)
        for each, state in found.items():
            if state in _MENDED:
                _log_missing(each, state)
        return [each for each, state in found.items() if state not in _MENDED]

    def _goes_on(self) -> bool:
        if self._client.get(keys.SWEEPER) != self._worker:
            return False
        return bool(self._client.expire(keys.SWEEPER, TURN_SEC))

    def _tasks(self, ids: Sequence[str]) -> Iterator[Task]:
        """The tasks of those feeds, sitemaps and WebSub leases that still exist."""
        bare = {each: each.partition(":")[2] for each in ids}
        feeds = self._registry.load([bare[each] for each in ids if each.startswith(_FEED)])
        yield from (poll_task(feed.subscription) for feed in feeds.values())
        subscriptions = self._hub_subscriptions.all_of([bare[each] for each in ids if each.startswith(_PUSH)])
        yield from (lease_task(each, at_hub.at) for each, at_hub in subscriptions.items())
        sitemaps = self._sitemaps.load([bare[each] for each in ids if each.startswith(_SITEMAP)])
        yield from (sitemap_task(watched.sitemap) for watched in sitemaps.values())


def _log_missing(task: str, state: str, url: str | None = None) -> None:
    kind, _, owner = task.partition(":")
    logger.error(f"{kind}_without_future", extra={f"{kind}_id": owner, "reason": state, "url": url})  # noqa: G004
