import asyncio
import logging
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, signals
from scrapy.core.scraper import Scraper
from scrapy.exceptions import CloseSpider, DropItem
from scrapy.http import Response
from scrapy.spiders import Spider
from scrapy.utils.test import get_crawler

from feedcrawl.crawl.chains.scraping import PlainScraper

URL = "http://a.test/"


class Pipeline:
    """Takes a turn of the event loop for each item."""

    async def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(0)
        if item["n"] == "drop":
            raise DropItem("dropped")
        if item["n"] == "fail":
            raise KeyError("failed")
        return {**item, "processed": True}


async def steps(kind: type[Scraper], yielded: tuple[Any, ...], concurrent: int) -> list[Any]:
    """Requests for the engine, and signals of the items and errors, in order."""
    seen: list[Any] = []

    async def output() -> AsyncIterator[Any]:
        for each in yielded:
            if isinstance(each, Exception):
                raise each
            yield Request(each) if isinstance(each, str) else each

    async def closed(reason: str) -> None:
        seen.append(reason)

    crawler = get_crawler(Spider, {"ITEM_PIPELINES": {Pipeline: 1}, "CONCURRENT_ITEMS": concurrent})
    crawler.spider = Spider.from_crawler(crawler, "x")
    engine: Any = SimpleNamespace(crawl=lambda request: seen.append(request.url), close_spider_async=closed)
    crawler.engine = engine
    scraper = kind(crawler)
    await scraper.open_spider_async()
    for signal in (signals.item_scraped, signals.item_dropped, signals.item_error, signals.spider_error):

        def note(item: object = None, failure: Any = None, signal: object = signal) -> None:
            seen.append((signal, item, repr(failure and failure.value)))

        crawler.signals.connect(note, signal, weak=False)
    request = Request(URL)
    await scraper.handle_spider_output_async(output(), request, Response(URL, request=request))
    await asyncio.sleep(0)
    assert scraper.slot is not None
    assert scraper.slot.itemproc_size == 0
    return seen


@pytest.mark.parametrize("concurrent", [1, 3])
@pytest.mark.parametrize(
    "yielded",
    [
        (),
        (None, {"n": 1}),
        ({"n": 1}, {"n": "drop"}, {"n": "fail"}, {"n": 2}),
        ({"n": 1}, ValueError("callback"), {"n": 2}),
        (f"{URL}1", f"{URL}2"),
        (CloseSpider("enough"),),
    ],
)
def test_the_output_is_processed_as_scrapys_scraper_does(
    yielded: tuple[Any, ...], concurrent: int, caplog: pytest.LogCaptureFixture
) -> None:
    found, lines = [], []
    for kind in (PlainScraper, Scraper):
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            found.append(sorted(asyncio.run(steps(kind, yielded, concurrent)), key=repr))  # Scrapy's reads ahead
        lines.append([record.getMessage() for record in caplog.records])
    assert found[0] == found[1]
    assert lines[0] == lines[1]


def test_an_output_is_processed_before_the_next_is_read() -> None:
    found = asyncio.run(steps(PlainScraper, ({"n": 1}, f"{URL}1", {"n": 2}), 1))
    assert [each if isinstance(each, str) else each[1]["n"] for each in found] == [1, f"{URL}1", 2]
