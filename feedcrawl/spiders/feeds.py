"""`scrapy crawl feeds`: polls the feeds that are due and fetches the articles they name."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from feedcrawl.domain.lists import read_list
from feedcrawl.services import subscriptions
from feedcrawl.services.subscriptions import Wish
from feedcrawl.spiders.base import FrontierSpider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class FeedsSpider(FrontierSpider):
    """Arguments: `feeds` (URLs, files, OPML, comma separated), `category`, `now=1`, `forever=1`."""

    name = "feeds"

    def __init__(self, feeds: str = "", category: str = "", now: str = "", forever: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.feeds = [part for part in (each.strip() for each in feeds.split(",")) if part]
        self.categories = tuple(part for part in (each.strip() for each in category.split(",")) if part)
        self.now = _on(now)
        self.forever = _on(forever)

    async def start(self) -> AsyncIterator[Any]:
        """Subscribes to what was asked for; the frontier does the rest."""
        await asyncio.sleep(0)
        wired = self.wired
        wishes = [wish for name in self.feeds for wish in self.wishes(name)]
        ids, refused = subscriptions.subscribe_all(wired.registry, wired.frontier, wishes, wired.now())
        for bad in refused:
            self.logger.error("feed_refused", extra={"url": bad.url, "reason": bad.code, "detail": bad.detail})
        if self.feeds and not ids:
            self.crawler.stats.set_value("feedcrawl/no_usable_argument", value=True)  # type: ignore[union-attr]
        if self.now:
            chosen = wired.registry.load(ids).values() if ids else wired.registry.all()
            subscriptions.poll_now(wired.frontier, list(chosen))
        self.leases.on_change(0)
        for nothing in ():
            yield nothing

    def wishes(self, name: str) -> list[Wish]:
        """The feeds that one part of `feeds` names: a file's, or itself."""
        path = Path(name).expanduser()
        if "://" in name or not path.exists():
            return [Wish(name, self.categories)]
        return [Wish(url, (*self.categories, *folders), title) for url, folders, title in read_list(path.read_bytes())]


def _on(value: str) -> bool:
    return str(value).lower() in ("1", "true", "yes", "on")
