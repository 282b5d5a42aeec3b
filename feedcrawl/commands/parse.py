"""`scrapy parse URL`: Scrapy's command; without a named callback the response is read as by a crawl, and not
stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.commands import parse

from feedcrawl.commands import without_stores

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response


class Command(parse.Command):
    """Prints the entries of a feed, or the article of a page, unless another spider's callback is named."""

    def process_options(self, args: list[str], opts: Namespace) -> None:
        """Reads the command line."""
        super().process_options(args, opts)
        assert self.settings is not None
        without_stores(self.settings)

    def set_spidercls(self, url: str, opts: Namespace) -> None:
        """The named spider, if it can handle a response; otherwise `Reader`, which reads any document."""
        assert self.crawler_process is not None
        known = self.crawler_process.spider_loader
        named = known.load(opts.spider) if opts.spider in known.list() else None
        if opts.callback or opts.rules or (named is not None and named.parse is not Spider.parse):
            super().set_spidercls(url, opts)
            return

        async def start(spider: Spider) -> AsyncIterator[Any]:
            yield self.prepare_request(spider, Request(url), opts)

        Reader.start = start  # type: ignore[assignment,method-assign]
        self.spidercls = Reader


class Reader(Spider):
    """Reads one document."""

    name = "reader"

    def parse(self, response: Response, **kwargs: Any) -> Iterator[dict[str, Any]]:  # noqa: ARG002 - Scrapy's signature
        """The entries of a feed, otherwise the article of a page; a document that is neither is reported with the
        reason.
        """
        from feedcrawl.commands.inspection import read  # noqa: PLC0415 - see the package

        yield from read(response)
