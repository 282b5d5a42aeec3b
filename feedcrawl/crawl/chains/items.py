"""The chain of item pipelines."""

from __future__ import annotations

from scrapy.pipelines import ItemPipelineManager
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.python import global_object_name


class PlainPipelines(ItemPipelineManager):
    """Value for ITEM_PROCESSOR: Scrapy's chain of pipelines, in which only an awaitable result is awaited."""

    async def process_item_async(self, item: object) -> object:
        """The processed item; DropItem drops it."""
        for method in self.methods["process_item"]:
            assert method is not None
            arguments = (item, self._spider) if method in self._mw_methods_requiring_spider else (item,)
            result = method(*arguments)
            item = item if result is item else await ensure_awaitable(result, _warn=global_object_name(method))
        return item
