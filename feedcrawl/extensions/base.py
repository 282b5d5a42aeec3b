"""Base of the extensions that repeat a step while a spider runs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self, TypeVar

from scrapy import signals

from feedcrawl import wiring

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider
    from scrapy.crawler import Crawler

T = TypeVar("T")


class Periodic:
    """Repeats `step` from the start of the spider to its end, for spiders that `serves` accepts."""

    first_sec = 0.0
    """Time before the first step."""

    def __init__(self, crawler: Crawler) -> None:
        assert crawler.stats is not None
        self._stats = crawler.stats
        self._wired = wiring.of(crawler)
        self._running: asyncio.Future[None] | None = None
        crawler.signals.connect(self.spider_opened, signals.spider_opened)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Shares the crawler's stores."""
        return cls(crawler)

    def serves(self, spider: Spider) -> bool:  # noqa: ARG002 - for subclasses
        """True if the extension works for this spider."""
        return True

    async def step(self) -> float | None:
        """Does the work once; returns the seconds until the next step, None for no further step."""
        raise NotImplementedError

    def spider_opened(self, spider: Spider) -> None:
        """Starts the steps."""
        if self.serves(spider):
            self._running = asyncio.ensure_future(self._run())

    async def spider_closed(self) -> None:
        """Stops the steps; a running step ends at its next await."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])

    async def _run(self) -> None:
        await asyncio.sleep(self.first_sec)
        while (wait_sec := await self.step()) is not None:
            await asyncio.sleep(wait_sec)


async def to_its_end(function: Callable[..., T], *args: object) -> T:
    """Runs a function in a thread; waits for its end even if the extension is stopped meanwhile."""
    work = asyncio.ensure_future(asyncio.to_thread(function, *args))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await work
        raise
