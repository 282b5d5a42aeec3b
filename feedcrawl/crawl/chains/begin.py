"""What is set for a worker before its first task."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.core.scraper import Scraper
from scrapy.signalmanager import SignalManager

from feedcrawl.crawl import garbage
from feedcrawl.crawl.chains.downloads import PlainMiddlewares
from feedcrawl.crawl.chains.outputs import join_outputs
from feedcrawl.crawl.chains.scraping import PlainScraper
from feedcrawl.crawl.chains.signals import ItemSignals, PlainSignals

if TYPE_CHECKING:
    from scrapy.core.engine import ExecutionEngine
    from scrapy.crawler import Crawler


def prepare(crawler: Crawler) -> None:
    """Set the chains of a crawler's engine and the garbage collection of its process for many short requests."""
    if crawler.engine is not None and isinstance(crawler.engine.scraper, Scraper):
        use_plain_chains(crawler.engine)
    garbage.collect_less()
    # asyncio notes each new generator in a set, for a loop that `asyncio.run` ends: a poll has some 28.
    sys.set_asyncgen_hooks(firstiter=None)


def use_plain_chains(engine: ExecutionEngine) -> None:
    """Replace Scrapy's own chains, which no setting names; those of a project's own class stay."""
    middlewares, scraper = engine.downloader.middleware, engine.scraper
    if type(middlewares) is DownloaderMiddlewareManager:
        middlewares.__class__ = PlainMiddlewares  # which has no state of its own
    if type(scraper) is Scraper:
        scraper.__class__ = PlainScraper
    if type(scraper.crawler.signals) is SignalManager:
        scraper.crawler.signals.__class__ = PlainSignals  # all parts of the crawler share the object
    scraper.signals = ItemSignals(scraper.crawler)
    join_outputs(scraper.spidermw)
