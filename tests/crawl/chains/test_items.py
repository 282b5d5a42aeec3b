import asyncio

import pytest
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.pipelines import ItemPipelineManager
from scrapy.spiders import Spider

from feedcrawl.crawl.chains.items import PlainPipelines


class Doubles:
    def process_item(self, item: int) -> int:
        return 2 * item


class AddsLater:
    async def process_item(self, item: int) -> int:
        await asyncio.sleep(0)
        return item + 1


class Same:
    def process_item(self, item: int) -> int:
        return item


class Drops:
    def process_item(self, item: int) -> int:
        raise DropItem("dropped")


@pytest.mark.parametrize("steps", [(), (Doubles, AddsLater), (AddsLater, Same, Doubles), (Same, Drops, Doubles)])
def test_pipelines_have_the_result_of_scrapys(steps: tuple[type, ...]) -> None:
    def processed(kind: type[ItemPipelineManager]) -> object:
        made = Crawler(Spider)
        made.spider = Spider("x")
        try:
            return asyncio.run(kind(*(each() for each in steps), crawler=made).process_item_async(3))
        except DropItem as error:
            return repr(error)

    assert processed(PlainPipelines) == processed(ItemPipelineManager)
