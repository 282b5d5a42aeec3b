import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from scrapy import Request
from scrapy.core.spidermw import SpiderMiddlewareManager
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from scrapy.spidermiddlewares.depth import DepthMiddleware
from scrapy.spidermiddlewares.start import StartSpiderMiddleware
from scrapy.spidermiddlewares.urllength import UrlLengthMiddleware
from scrapy.spiders import Spider
from scrapy.statscollectors import MemoryStatsCollector

from feedcrawl.crawl.chains.outputs import join_outputs

URL = "http://a.test/"
ITEM = {"a": 1}


class Marks(BaseSpiderMiddleware):
    """Changes items, as a project's own middleware may."""

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        return None if item == "dropped" else {**item, "marked": True}


class Recovers:
    """Has a layer of its own."""

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for each in result:
            yield each

    def process_spider_exception(self, response: Response, exception: Exception) -> list[Any]:
        return [{"recovered": str(exception)}]


class Fails(BaseSpiderMiddleware):
    """Raises for each item."""

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        raise ValueError("failed")


def crawler() -> Crawler:
    made = Crawler(Spider, {"DEPTH_LIMIT": 1, "URLLENGTH_LIMIT": 30, "DEPTH_STATS_VERBOSE": True})
    made.spider = Spider("x")
    made.stats = MemoryStatsCollector(made)
    return made


def manager(*kinds: type, joined: bool) -> tuple[SpiderMiddlewareManager, Crawler]:
    made = crawler()
    built = [each.from_crawler(made) if hasattr(each, "from_crawler") else each() for each in kinds]
    found = SpiderMiddlewareManager(*built, crawler=made)
    if joined:
        join_outputs(found)
    return found, made


def output_of(layers: SpiderMiddlewareManager, meta: dict[str, Any], *yielded: Any) -> list[Any]:
    async def callback(*_: object) -> AsyncIterator[Any]:
        async def outputs() -> AsyncIterator[Any]:
            for each in yielded:
                yield each

        return outputs()

    async def collect() -> list[Any]:
        request = Request(URL, meta=meta)
        chain = await layers.scrape_response_async(callback, Response(URL, request=request), request)
        found: list[Any] = []
        try:
            async for each in chain:
                found.append((each.url, each.meta["depth"]) if isinstance(each, Request) else each)
        except ValueError as error:
            found.append(str(error))
        return found

    return asyncio.run(collect())


@pytest.mark.parametrize("depth", [{}, {"depth": 0}, {"depth": 1}])
@pytest.mark.parametrize(
    "kinds",
    [
        (DepthMiddleware, UrlLengthMiddleware),
        (DepthMiddleware, Marks, UrlLengthMiddleware),
        (DepthMiddleware, Recovers, UrlLengthMiddleware, Marks),
        (StartSpiderMiddleware, Recovers, DepthMiddleware),
        (Fails, StartSpiderMiddleware, DepthMiddleware),
        (Recovers, Fails, DepthMiddleware),
        (Fails, DepthMiddleware, Recovers),
    ],
)
def test_the_output_is_that_of_separate_layers(kinds: tuple[type, ...], depth: dict[str, int]) -> None:
    found, stats = {}, {}
    for joined in (True, False):
        requests = [Request(f"{URL}{'x' * length}") for length in (1, 40)]
        layers, made = manager(*kinds, joined=joined)
        found[joined] = output_of(layers, dict(depth), requests[0], ITEM, requests[1])
        assert made.stats is not None
        stats[joined] = made.stats.get_stats()
    assert found[True] == found[False]
    assert stats[True] == stats[False]


def test_scrapys_layer_for_the_start_is_left_out() -> None:
    layers, _ = manager(StartSpiderMiddleware, Recovers, DepthMiddleware, joined=True)
    assert [each is not None for each in layers.methods["process_spider_output"]] == [True, True, False]
    assert len(layers.methods["process_start"]) == 2


def test_an_item_may_be_dropped() -> None:
    layers, _ = manager(Marks, DepthMiddleware, joined=True)
    assert output_of(layers, {}, "dropped", ITEM) == [{"a": 1, "marked": True}]


def test_neighbouring_layers_become_one() -> None:
    layers, _ = manager(DepthMiddleware, UrlLengthMiddleware, Recovers, Marks, joined=True)
    assert [each is not None for each in layers.methods["process_spider_output"]] == [True, True, True, False]
