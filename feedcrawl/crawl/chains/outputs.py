"""The output of a callback on its way through Scrapy's own spider middlewares, in one asynchronous generator.

Each layer costs four generators for each response. Most of Scrapy's own layers change requests only, and a poll yields
an item.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.http import Request
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from scrapy.spidermiddlewares.depth import DepthMiddleware
from scrapy.spidermiddlewares.start import StartSpiderMiddleware

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from scrapy.core.spidermw import SpiderMiddlewareManager
    from scrapy.http import Response


class JoinedOutput:
    """Spider middlewares of the class BaseSpiderMiddleware, the one next to the spider first."""

    def __init__(self, joined: Sequence[BaseSpiderMiddleware]) -> None:
        self._joined = joined
        self._depths = [each for each in joined if isinstance(each, DepthMiddleware)]
        own = BaseSpiderMiddleware.get_processed_item
        self._passes_items = all(type(each).get_processed_item is own for each in joined)

    async def process_spider_output(self, response: Response, result: AsyncIterator[object]) -> AsyncIterator[object]:
        """Yields the requests and items that no middleware drops."""
        for each in self._depths:
            each._init_depth(response)  # noqa: SLF001 - Scrapy's method does nothing else of its own
        async for output in result:
            if self._passes_items and not isinstance(output, Request):
                yield output
            elif (processed := self._processed(output, response)) is not None:
                yield processed

    def _processed(self, output: object, response: Response) -> object:
        for each in self._joined:
            output = each._get_processed(output, response)  # noqa: SLF001 - the part of each layer
            if output is None:
                return None
        return output


def join_outputs(manager: SpiderMiddlewareManager) -> None:
    """Replace each run of neighbouring layers that can be joined by one layer, in the place of the first.

    A middleware with a method of its own for the output, or for exceptions, stays a layer: exceptions are passed to the
    layers outside of the one that raised.
    """
    outputs, exceptions = manager.methods["process_spider_output"], manager.methods["process_spider_exception"]
    for index, method in enumerate(outputs):
        if type(getattr(method, "__self__", None)) is StartSpiderMiddleware:
            outputs[index] = None  # it changes requests of the start only, by another method
    run: list[int] = []
    for index in range(len(outputs) + 1):
        if index < len(outputs) and exceptions[index] is None and _is_plain(outputs[index]):
            run.append(index)
            continue
        if len(run) > 1:
            joined = JoinedOutput([outputs[each].__self__ for each in run])  # type: ignore[union-attr]
            for each in run:
                outputs[each] = None
            outputs[run[0]] = joined.process_spider_output
        run = []


def _is_plain(method: object) -> bool:
    owner = getattr(method, "__self__", None)
    if not isinstance(owner, BaseSpiderMiddleware) or type(owner)._get_processed is not _GET_PROCESSED:  # noqa: SLF001
        return False
    return type(owner).process_spider_output_async in _PLAIN


_GET_PROCESSED = BaseSpiderMiddleware._get_processed  # noqa: SLF001
_PLAIN = (BaseSpiderMiddleware.process_spider_output_async, DepthMiddleware.process_spider_output_async)
