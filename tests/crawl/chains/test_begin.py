import asyncio
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.core.scraper import Scraper
from scrapy.core.spidermw import SpiderMiddlewareManager
from scrapy.crawler import Crawler
from scrapy.signalmanager import SignalManager
from scrapy.spidermiddlewares.start import StartSpiderMiddleware
from scrapy.spidermiddlewares.urllength import UrlLengthMiddleware
from scrapy.spiders import Spider

from feedcrawl.crawl import garbage
from feedcrawl.crawl.chains.begin import prepare, use_plain_chains
from feedcrawl.crawl.chains.downloads import PlainMiddlewares
from feedcrawl.crawl.chains.scraping import PlainScraper
from feedcrawl.crawl.chains.signals import ItemSignals, PlainSignals


class OfAProject(DownloaderMiddlewareManager):
    """A chain of a project's own."""


def engine(kind: type[DownloaderMiddlewareManager]) -> Any:
    crawler = Crawler(Spider)
    layers = SpiderMiddlewareManager(StartSpiderMiddleware(crawler), UrlLengthMiddleware(9), crawler=crawler)
    scraper = Scraper.__new__(Scraper)
    vars(scraper).update(crawler=crawler, signals=crawler.signals, spidermw=layers)
    return SimpleNamespace(downloader=SimpleNamespace(middleware=kind(crawler=crawler)), scraper=scraper)


def test_scrapys_chains_are_replaced() -> None:
    found = engine(DownloaderMiddlewareManager)
    use_plain_chains(found)
    assert type(found.downloader.middleware) is PlainMiddlewares
    assert type(found.scraper) is PlainScraper
    assert type(found.scraper.signals) is ItemSignals
    assert type(found.scraper.crawler.signals) is PlainSignals
    assert found.scraper.signals.sender is found.scraper.crawler.signals.sender is found.scraper.crawler
    assert PlainSignals.send_catch_log_async is SignalManager.send_catch_log_async  # tasks of their own at the start
    assert list(found.scraper.spidermw.methods["process_spider_output"])[1] is None


def test_new_generators_are_not_noted_by_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "collect_less", lambda: None)

    async def hooks() -> tuple[object, object]:
        finalizer = sys.get_asyncgen_hooks().finalizer
        prepare(SimpleNamespace(engine=None))
        after = sys.get_asyncgen_hooks()
        return after.firstiter, finalizer is not None and after.finalizer == finalizer

    assert asyncio.run(hooks()) == (None, True)


def test_the_chain_of_a_project_stays() -> None:
    found = engine(OfAProject)
    use_plain_chains(found)
    assert type(found.downloader.middleware) is OfAProject
