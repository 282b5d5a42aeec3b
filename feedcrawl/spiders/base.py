"""Base of the spiders: each kind of task has a handler that makes its request and reads its response."""

from __future__ import annotations

import asyncio
import logging
from functools import cached_property
from typing import TYPE_CHECKING, Final, Protocol, Self

from scrapy import Spider, signals
from scrapy.exceptions import StopDownload

from feedcrawl import handlers, outgoing, wiring
from feedcrawl.domain.articles.file_types import may_be, media_type
from feedcrawl.domain.frontier.tasks import FILE_LANE, LANES
from feedcrawl.domain.operations.settings import SWITCHES
from feedcrawl.store.redis.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.http.headers import Headers

    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.items import FeedPoll
    from feedcrawl.services.frontier.leases import Leases
    from feedcrawl.services.sites.sitemaps import SitemapPoll
    from feedcrawl.wiring import Wiring

logger = logging.getLogger(__name__)

HTML_TYPES = ("text/html", "application/xhtml+xml", "application/xml", "text/xml", "text/plain")
"""Types whose body may be a page; bodies of other types are not read. Plain text and XML are judged by their
content.
"""


BEGIN_AGAIN_SEC = 1.0
NO_USABLE_ARGUMENT: Final = "feedcrawl/no_usable_argument"
"""Stat of a crawl: True if arguments were given and none of them could be used."""
NAMED_REFUSED: Final = "feedcrawl/named_refused"
"""Stat of a crawl: True if a feed or a sitemap of the arguments does not exist."""


class Handler(Protocol):
    """Handles one kind of task."""

    def prepare(self, leases: Sequence[Lease]) -> None:
        """Load, in one round trip, the records that the requests of a batch need."""

    def request(self, lease: Lease) -> Request | None:
        """The request of a task; None if there is nothing to request, and the task has been ended."""

    def goes_on(self, request: Request, lease: Lease) -> bool:
        """True if a redirect on the same host is followed; False if the task has been ended."""


class FrontierSpider(Spider):
    """A spider whose requests are the frontier's tasks. Subclasses define the tasks that are added at the start
    (`begin`).
    """

    lanes: Sequence[str] = LANES
    forever = False
    wired: Wiring

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: object, **kwargs: object) -> Self:
        """The spider with the crawler's wiring."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.wired = wiring.of(crawler)
        _ = spider.wired.source_book, outgoing.of(crawler)  # sources that cannot be used stop the start
        if spider.wired.files.on:
            spider.lanes = (*spider.lanes, FILE_LANE)
        crawler.signals.connect(spider.stop_at_type, signals.headers_received)
        crawler.signals.connect(spider.warn_without_contact, signals.spider_opened)
        return spider

    def warn_without_contact(self) -> None:
        """Warn at the start if no contact is configured by which publishers could reach the operator."""
        if self.wired.config.contact is None:
            logger.warning("no_contact", extra={"detail": "publishers cannot reach you: set FEEDCRAWL_CONTACT"})

    async def start(self) -> AsyncIterator[object]:
        """Run `begin`; the requests themselves come from the frontier.

        While the server is away, wait and run `begin` again, since all of it may be repeated; the scheduler logs the
        reason and the duration.
        """
        await asyncio.sleep(0)
        while not await self._begun():
            await asyncio.sleep(BEGIN_AGAIN_SEC)
        self.wired.leases.on_change(0)
        no_requests: tuple[object, ...] = ()  # Scrapy iterates over `start`
        for each in no_requests:
            yield each

    async def begin(self) -> None:
        """Put the requested URLs into the frontier, after the sources; may be called again."""

    async def _begun(self) -> bool:
        try:
            await self.wired.source_book.sync(self.wired.source_stores)
            await self.begin()
        except StoreUnavailable as error:
            logger.debug("start_waits", extra={"reason": error.code})
            return False
        return True

    @cached_property
    def handlers(self) -> dict[str, Handler]:
        """The handlers by kind of task."""
        return {
            "feed": handlers.FeedTasks(self.crawler, self.unfold),
            "archive": handlers.ArchiveTasks(self.crawler),
            "gap": handlers.GapTasks(self.crawler),
            "sitemap": handlers.SitemapTasks(self.crawler, self.refuses_sitemap),
            "article": handlers.ArticleTasks(self.crawler),
            "websub": handlers.HubTasks(self.crawler),
            "file": handlers.FileTasks(self.crawler),
            "site_search": handlers.SearchTasks(self.crawler),
            "site": (listings := handlers.ListingTasks(self.crawler)),
            "listing": listings,
        }

    @property
    def leases(self) -> Leases:
        """The leases of this worker."""
        return self.wired.leases

    async def unfold(self, poll: FeedPoll, response: Response | None) -> FeedPoll | None:  # noqa: ARG002 - for subclasses
        """The poll as it ends; None if a document that is not a feed was replaced by the feeds that it lists."""
        return poll

    def refuses_sitemap(self, poll: SitemapPoll) -> bool:  # noqa: ARG002 - for subclasses
        """True if the arguments name a sitemap at whose address a failed poll found nothing: its watch ends."""
        return False

    def prepare(self, leases: Sequence[Lease]) -> None:
        """Load the records that the requests of a batch need."""
        for kind, handler in self.handlers.items():
            mine = [lease for lease in leases if lease.task.kind == kind]
            if mine:
                handler.prepare(mine)

    def request_for(self, lease: Lease) -> Request | None:
        """The request of a task, made by the handler of its kind."""
        handler = self.handlers.get(lease.task.kind)
        if handler is None:  # a task of another version or another spider: left to them, without an attempt
            self.leases.give_back(lease, reason="no_handler", delay_sec=600)
            return None
        return handler.request(lease)

    def goes_on(self, request: Request, lease: Lease) -> bool:
        """True if a redirect on the same host is to be followed; False if the task has ended here."""
        handler = self.handlers.get(lease.task.kind)
        return handler is None or handler.goes_on(request, lease)

    def stop_at_type(self, headers: Headers, request: Request) -> None:
        """Stop a download before its body if the Content-Type is none that we read."""
        types, html_only = request.meta.get("file_types"), request.meta.get("html_only")
        if types is None and not html_only:
            return
        declared = media_type((headers.get("Content-Type") or b"").decode("latin-1"))
        if types is not None and not may_be(declared, types):
            raise StopDownload(fail=False)
        is_page = not declared or declared in HTML_TYPES or declared.endswith("+xml")
        if html_only and not is_page:
            raise StopDownload(fail=False)


def switch(name: str, value: object) -> bool:
    """The value of a spider argument that is on or off; ValueError for any other word."""
    word = str(value).strip().lower()
    try:
        return bool(word) and SWITCHES[word]
    except KeyError:
        raise ValueError(f"{name}={value} is neither on nor off: write {name}=1 or {name}=0") from None
