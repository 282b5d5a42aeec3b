"""`scrapy crawl feeds`: polls the feeds that are due and fetches the articles they name."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import CloseSpider

from feedcrawl.domain.lists import read_list
from feedcrawl.parsing import Done
from feedcrawl.services import subscriptions
from feedcrawl.spiders.answers import PARSE_WALL_SEC
from feedcrawl.spiders.base import FrontierSpider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from scrapy.http import Response

    from feedcrawl.items import FeedPoll
    from feedcrawl.services.subscriptions import Refused, Wish

BATCH = 50
"""Feeds that are subscribed to between two turns of the event loop."""
NO_USABLE_ARGUMENT = "feedcrawl/no_usable_argument"
_WORDS = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "": False,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
}


class FeedsSpider(FrontierSpider):
    """Arguments: `feeds` (URLs, files or addresses of OPML or of a URL a line; comma separated), `category` (for what
    is named in `feeds`), `now=1` (whatever the schedule says), `forever=1` (stays when nothing is due).
    """

    name = "feeds"

    def __init__(self, feeds: str = "", category: str = "", now: str = "", forever: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.feeds = subscriptions.split_names(feeds)
        self.categories = tuple(filter(None, (each.strip() for each in category.split(","))))
        self.now = switch("now", now)
        self.forever = switch("forever", forever)

    async def start(self) -> AsyncIterator[Any]:
        """Subscribes to what was asked for; the frontier does the rest."""
        await asyncio.sleep(0)
        wishes, refused = subscriptions.read_wishes(self.feeds, self.categories)
        self._tell(refused)
        ids = await self._subscribe(wishes)
        if self.feeds and not ids:
            self._useless()
            raise CloseSpider("no_usable_argument")
        if self.now:
            await self._make_due(ids)
        self.leases.on_change(0)
        return
        yield  # the frontier has the requests; this makes a generator

    async def unfold(self, poll: FeedPoll, response: Response) -> bool:
        """Whether an address that was never a feed and serves a list of feeds gave way to those."""
        if poll.feed.polls.last_success_at is not None or poll.result not in subscriptions.LISTS:
            return False
        read = await self.wired.parsers.run(read_list, response.body, wall_sec=PARSE_WALL_SEC)
        if not isinstance(read, Done):
            return False
        said, found = poll.feed.subscription, read.value
        # A page of plain text is a list only if it has nothing but addresses.
        if poll.result == "text" and not all("://" in feed.url for feed in found.feeds):
            return False
        ids = await self._subscribe(subscriptions.wishes_of(found, said.categories))
        if not ids:
            return False
        subscriptions.unsubscribe(self.wired.registry, self.wired.frontier, poll.feed.id)
        self.leases.done(poll.lease, status="dead", reason="list")  # its task is gone: only the lease is left to forget
        details = {"url": said.url, "feeds": len(ids), "left_out": found.left_out}
        self.logger.info("list_subscribed", extra=details)
        if self.now:
            await self._make_due(ids)
        return True

    async def _subscribe(self, wishes: Sequence[Wish]) -> list[str]:
        ids: dict[str, None] = {}
        wired = self.wired
        for first in range(0, len(wishes), BATCH):
            batch = wishes[first : first + BATCH]
            found, refused = subscriptions.subscribe_all(wired.registry, wired.frontier, batch, wired.now())
            ids.update(dict.fromkeys(found))
            self._tell(refused)
            await asyncio.sleep(0)
        return list(ids)

    async def _make_due(self, ids: Sequence[str]) -> None:
        """These feeds, or all if none is named."""
        wired = self.wired
        for feeds in subscriptions.batches(wired.registry, ids, BATCH):
            subscriptions.poll_now(wired.frontier, feeds)
            await asyncio.sleep(0)

    def _tell(self, refused: Sequence[Refused]) -> None:
        for bad in refused:
            self.logger.error("feed_refused", extra={"url": bad.url, "reason": bad.code, "detail": bad.detail})

    def _useless(self) -> None:
        assert self.crawler.stats is not None
        self.crawler.stats.set_value(NO_USABLE_ARGUMENT, value=True)


def switch(name: str, value: object) -> bool:
    """A spider argument that is on or off; ValueError for any other word."""
    try:
        return _WORDS[str(value).strip().lower()]
    except KeyError:
        raise ValueError(f"{name}={value} is neither on nor off: write {name}=1 or {name}=0") from None
