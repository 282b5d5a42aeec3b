"""`scrapy crawl sitemaps`: reads the sitemaps that are due and fetches the articles that are new in them."""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import TYPE_CHECKING

from scrapy.exceptions import CloseSpider

from feedcrawl import handlers
from feedcrawl.domain.cadence.catch_up import rests
from feedcrawl.domain.frontier.tasks import LANES, SITE_LANE
from feedcrawl.domain.sitemaps.tasks import task_id
from feedcrawl.services import sites, subscriptions
from feedcrawl.services.sites import watched
from feedcrawl.spiders.base import NAMED_REFUSED, NO_USABLE_ARGUMENT, FrontierSpider, switch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from feedcrawl.domain.subscriptions.specs import SubscriptionSpec
    from feedcrawl.services.sites.sitemaps import SitemapPoll


class SitemapsSpider(FrontierSpider):
    """Arguments: `sitemaps` (comma separated: URLs of sitemaps or of pages of a site, files with one URL per
    line), `category` (for the sitemaps named in `sitemaps`), `now=1` (poll at once, whatever the schedule),
    `forever=1` (keep running when nothing is due).
    """

    name = "sitemaps"
    lanes = (*LANES, SITE_LANE)

    def __init__(self, sitemaps: str = "", category: str = "", now: str = "", forever: str = "", **kwargs: str) -> None:
        super().__init__(**kwargs)
        self.sitemaps = subscriptions.split_names(sitemaps)
        self.categories = tuple(filter(None, (each.strip() for each in category.split(","))))
        self.now = switch("now", now)
        self.forever = switch("forever", forever)
        self.named: set[str] = set()

    async def begin(self) -> None:
        """Watch the sitemaps of the arguments; the frontier schedules the polls."""
        began = self.wired.now()
        specs, refused = subscriptions.read_specs(
            self.sitemaps, self.categories, self.wired.gate, limit=self.wired.config.max_feeds_per_list
        )
        handlers.log_refused(refused)
        self.named = subscriptions.url_keys(spec.url for spec in specs if spec.named)
        ids = await self._watch(specs)
        if self.sitemaps and not ids:
            assert self.crawler.stats is not None
            self.crawler.stats.set_value(NO_USABLE_ARGUMENT, value=True)
            raise CloseSpider("no_usable_argument")
        if self.now:
            await self._make_due(ids, began)
        if not self.sitemaps and not self.wired.sources and not self.wired.sitemaps.count():
            self.logger.warning("no_sitemaps", extra={"detail": "no sitemap is watched: -a sitemaps=URL, or a source"})

    def refuses_sitemap(self, poll: SitemapPoll) -> bool:
        """True if an address that this run named, and no poll knew, has nothing to poll: its watch ends."""
        received = poll.received
        if poll.watched.record.last_fetch_at is not None or subscriptions.url_key(poll.sitemap.url) not in self.named:
            return False
        if not subscriptions.is_nowhere(received.status, received.result):
            return False
        assert self.crawler.stats is not None
        self.crawler.stats.set_value(NAMED_REFUSED, value=True)
        return True

    async def _watch(self, specs: Sequence[SubscriptionSpec]) -> list[str]:
        ids: dict[str, None] = {}
        for first in range(0, len(specs), handlers.BATCH):
            sitemaps, refused = sites.sitemaps_from(specs[first : first + handlers.BATCH], self.wired.now())
            handlers.log_refused(refused)
            found = sites.watch(self.wired.sitemaps, self.wired.frontier, sitemaps)
            sites.settle_settings(self.wired.sitemaps, sitemaps, found)
            ids.update(dict.fromkeys(found))
            await asyncio.sleep(0)
        return list(ids)

    async def _make_due(self, ids: Sequence[str], began: datetime) -> None:
        """Make these sitemaps due, or all if none is named, parts of an index included. A sitemap that is due, or was
        polled since the run began, is not made due again.
        """
        store, frontier = self.wired.sitemaps, self.wired.frontier
        found = iter(store.load(ids).values()) if ids else store.all()
        while batch := list(islice(found, handlers.BATCH)):
            idle = [each for each in batch if task_id(each.sitemap.id) not in self.wired.leases.leased]
            resting = [each for each in idle if rests(each.record.last_fetch_at, each.record.next_at, began)]
            watched.poll_now(frontier, resting)
            await asyncio.sleep(0)
