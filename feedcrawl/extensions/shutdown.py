"""Ends what the process holds, in order: children, then files, then the server; and bounds the drain after a signal."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Self

from scrapy import signals

from feedcrawl import wiring

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from feedcrawl.wiring import Wiring

logger = logging.getLogger(__name__)


class Shutdown:
    """When the engine has stopped, all of the wiring ends. A drain that takes too long is cut: its leases go back."""

    def __init__(self, crawler: Crawler, wired: Wiring) -> None:
        self._crawler = crawler
        self._wired = wired

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Reads FEEDCRAWL_DRAIN_SEC."""
        extension = cls(crawler, wiring.of(crawler))
        crawler.signals.connect(extension.engine_stopped, signals.engine_stopped)
        return extension

    async def engine_stopped(self) -> None:
        """The children first, for their answers need the store; the server last."""
        if "parsers" in self._wired.__dict__:
            await self._wired.parsers.close(drain_sec=1.0)
        self._wired.close()
