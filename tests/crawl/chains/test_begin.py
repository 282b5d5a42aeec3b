from types import SimpleNamespace
from typing import Any

from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.core.spidermw import SpiderMiddlewareManager
from scrapy.crawler import Crawler
from scrapy.spidermiddlewares.start import StartSpiderMiddleware
from scrapy.spidermiddlewares.urllength import UrlLengthMiddleware
from scrapy.spiders import Spider

from feedcrawl.crawl.chains.begin import use_plain_chains
from feedcrawl.crawl.chains.downloads import PlainMiddlewares
from feedcrawl.crawl.chains.signals import PlainSignals


class OfAProject(DownloaderMiddlewareManager):
    """A chain of a project's own."""


def engine(kind: type[DownloaderMiddlewareManager]) -> Any:
    crawler = Crawler(Spider)
    layers = SpiderMiddlewareManager(StartSpiderMiddleware(crawler), UrlLengthMiddleware(9), crawler=crawler)
    scraper = SimpleNamespace(crawler=crawler, signals=crawler.signals, spidermw=layers)
    return SimpleNamespace(downloader=SimpleNamespace(middleware=kind(crawler=crawler)), scraper=scraper)


def test_scrapys_chains_are_replaced() -> None:
    found = engine(DownloaderMiddlewareManager)
    use_plain_chains(found)
    assert type(found.downloader.middleware) is PlainMiddlewares
    assert type(found.scraper.signals) is PlainSignals
    assert found.scraper.signals.sender is found.scraper.crawler
    assert found.scraper.spidermw.methods["process_spider_output"][1] is None


def test_the_chain_of_a_project_stays() -> None:
    found = engine(OfAProject)
    use_plain_chains(found)
    assert type(found.downloader.middleware) is OfAProject
