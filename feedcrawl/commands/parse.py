"""`scrapy parse URL`: Scrapy's command; without a named callback the response is read as by a crawl, and not
stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import Request, Spider
from scrapy.commands import parse

from feedcrawl.console.command import WithoutStores

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import AsyncIterator


class Command(WithoutStores, parse.Command):
    """Prints the entries of a feed, or the article of a page, unless another spider's callback is named."""

    work_module = "feedcrawl.console.articles.inspection"

    def set_spidercls(self, url: str, opts: Namespace) -> None:
        """The named spider, if it can handle a response; otherwise `Reader`, which reads any document."""
        assert self.crawler_process is not None
        known = self.crawler_process.spider_loader
        named = known.load(opts.spider) if opts.spider in known.list() else None
        if opts.callback or opts.rules or (named is not None and named.parse is not Spider.parse):
            super().set_spidercls(url, opts)
            return

        async def start(spider: Spider) -> AsyncIterator[object]:
            yield self.prepare_request(spider, Request(url), opts)

        self.spidercls = self.work.Reader
        self.spidercls.start = start  # type: ignore[method-assign]
