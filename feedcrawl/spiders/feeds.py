"""`scrapy crawl feeds`: polls the feeds that are due and fetches the articles that they link."""

from __future__ import annotations

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

from scrapy.exceptions import CloseSpider

from feedcrawl import handlers
from feedcrawl.domain.cadence.catch_up import rests
from feedcrawl.domain.frontier.tasks import LANES, SITE_LANE
from feedcrawl.hints import program
from feedcrawl.services import subscriptions
from feedcrawl.spiders.base import NAMED_REFUSED, NO_USABLE_ARGUMENT, FrontierSpider, switch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from scrapy.http import Response

    from feedcrawl.items import FeedPoll


class FeedsSpider(FrontierSpider):
    """Arguments: `feeds` (comma separated: feed URLs, and files or URLs of lists, OPML or one URL per line),
    `category` (for the feeds named in `feeds`), `now=1` (poll at once, whatever the schedule), `backfill=1` (also
    read the archives of these feeds, once), `forever=1` (keep running when nothing is due).
    """

    name = "feeds"
    lanes = (*LANES, SITE_LANE)

    def __init__(
        self, feeds: str = "", category: str = "", now: str = "", backfill: str = "", forever: str = "", **kwargs: str
    ) -> None:
        super().__init__(**kwargs)
        self.feeds = subscriptions.split_names(feeds)
        if (missing := subscriptions.missing_file(self.feeds)) is not None:
            raise ValueError(f"feeds={missing}: no such file here; an address begins with http:// or https://")
        self.categories = tuple(filter(None, (each.strip() for each in category.split(","))))
        self.now = switch("now", now)
        self.backfill = switch("backfill", backfill)
        self.forever = switch("forever", forever)
        self.named: set[str] = set()
        self._began: datetime | None = None

    async def begin(self) -> None:
        """Subscribe to the feeds of the arguments; the frontier schedules the polls."""
        self._began = self._began or self.wired.now()
        specs, refused = subscriptions.read_specs(
            self.feeds, self.categories, self.wired.gate, limit=self.wired.config.max_feeds_per_list
        )
        handlers.log_refused(refused)
        self.named = subscriptions.url_keys(spec.url for spec in specs if spec.named)
        ids = await self.lists.subscribe(subscriptions.with_archives(specs) if self.backfill else specs)
        if self.feeds and not ids:
            self._stop("no feed of the arguments can be subscribed")
        await self._apply_arguments(ids)
        if not self.feeds and not self.wired.sources and not self.wired.registry.count():
            self.logger.warning(
                "no_feeds", extra={"detail": f"no feed is subscribed: `{program()} subscribe URL`, or -a feeds=URL"}
            )

    def _stop(self, detail: str) -> NoReturn:
        """End the crawl before anything is requested."""
        assert self.crawler.stats is not None
        self.crawler.stats.set_value(NO_USABLE_ARGUMENT, value=True)
        self.logger.error("no_usable_argument", extra={"detail": detail})
        raise CloseSpider("no_usable_argument")

    @cached_property
    def lists(self) -> handlers.Lists:
        """The service that subscribes to the feeds of lists."""
        wired = self.wired
        stores = (wired.registry, wired.frontier, wired.leases)
        limit = wired.config.max_feeds_per_list
        return handlers.Lists(*stores, wired.gate, wired.parsers, wired.now, limit)

    async def unfold(self, poll: FeedPoll, response: Response | None) -> FeedPoll | None:
        """The poll as it ends; None if the document was a list of feeds, or a page that was replaced by its feed."""
        if not poll.feed.subscription.no_discovery:
            sought = await handlers.unfold(self.crawler, poll, response)
            if sought is None:
                return None
            poll = sought
        if response is not None:
            unfolded = await self.lists.unfold(poll, response)
            if isinstance(unfolded, list):
                await self._apply_arguments(unfolded)
                return None
            poll = unfolded
        return None if self._refuses(poll) else poll

    def _refuses(self, poll: FeedPoll) -> bool:
        """True if an address that this run named, and no poll knew, has nothing to poll: its subscription ends."""
        subscription = poll.feed.subscription
        if poll.feed.polls.last_fetch_at is not None or subscriptions.url_key(subscription.url) not in self.named:
            return False
        if not subscriptions.is_nowhere(poll.received.status, poll.received.result):
            return False
        assert self.crawler.stats is not None
        self.crawler.stats.set_value(NAMED_REFUSED, value=True)
        subscriptions.unsubscribe(self.wired.registry, self.wired.frontier, poll.feed.id)
        self.wired.leases.done(poll.lease, status="dead", reason="unsubscribed")
        details = {
            "url": subscription.url,
            "reason": poll.received.result,
            "detail": f"{poll.received.detail or 'nothing is there'}; it is not subscribed",
        }
        self.logger.error("feed_refused", extra=details)
        return True

    async def _apply_arguments(self, ids: Sequence[str]) -> None:
        """Apply the arguments to these feeds, or to all feeds if none is named. A feed that is due, or was polled since
        the run began, is not made due again.
        """
        if not (self.now or self.backfill):
            return
        began = self._began or self.wired.now()
        for feeds in subscriptions.batches(subscriptions.each(self.wired.registry, ids or None), handlers.BATCH):
            with_archives = subscriptions.request_archives(self.wired.registry, feeds) if self.backfill else []
            idle = [feed for feed in feeds if f"feed:{feed.id}" not in self.wired.leases.leased]
            resting = [each for each in idle if self.now and rests(each.polls.last_fetch_at, each.polls.next_at, began)]
            subscriptions.poll_now(
                self.wired.frontier, list({each.id: each for each in (*with_archives, *resting)}.values())
            )
            await asyncio.sleep(0)
