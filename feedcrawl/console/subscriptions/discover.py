"""Finds the feeds of pages for `scrapy subscribe`, in a crawl of its own.

The addresses tried are those of `handlers/discovery.py`. Only a document that parses as a feed, in a child process,
counts as a feed.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scrapy import Request, Spider
from scrapy.exceptions import IgnoreRequest

from feedcrawl import wiring
from feedcrawl.crawl.failures import failure_name, sentence, status_sentence
from feedcrawl.domain.discovery import choice, feed_like_links, find_feeds
from feedcrawl.domain.discovery.choice import Candidate
from feedcrawl.domain.subscriptions.access import login_hint
from feedcrawl.domain.subscriptions.lists import read_list
from feedcrawl.domain.subscriptions.search import under_scheme
from feedcrawl.handlers.base import FEED_HEADERS, PARSE_WALL_SEC, UNAUTHORIZED, auth_scheme, content_type
from feedcrawl.handlers.discovery import PAGES, links, refresh
from feedcrawl.hints import program
from feedcrawl.parsing import Done
from feedcrawl.services.subscriptions.registering import LISTS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence

    from scrapy.http import Response

    from feedcrawl.domain.subscriptions.access import Access


logger = logging.getLogger(__name__)

MAX_REFRESHES = 5
AT_A_TIME = 8
"""Pages that are examined at the same time; each host keeps its own pace."""


@dataclass(frozen=True, slots=True)
class Examined:
    """The result for one address: a feed, a list of feeds, a page with the feeds found through it, or none of these.

    `code` says why the address is no feed: the type of its document (`html`, `json`), or the failure (`http_404`,
    `dns`).
    """

    url: str
    is_feed: bool = False
    is_list: bool = False
    feeds: tuple[Candidate, ...] = ()
    code: str = ""
    detail: str = ""


class DiscoverSpider(Spider):
    """Examines addresses on Scrapy's own scheduler and stores each result in `examined`. Not for `scrapy crawl`.

    `accesses` are the private headers for an address, sent to its own origin alone. An address whose scheme is
    `guessed` is tried under http if https brings nothing; `url` of its result is the address that worked.
    """

    def __init__(
        self,
        urls: Sequence[str],
        examined: dict[str, Examined],
        accesses: Mapping[str, Access],
        guessed: Collection[str],
        **kwargs: object,
    ) -> None:
        super().__init__("discover", **kwargs)
        self._guessed = guessed
        self._accesses = accesses
        self._urls = urls
        self._examined = examined

    async def start(self) -> AsyncIterator[object]:
        """Examine all addresses here; the scheduler gets no requests."""
        self._parsers = wiring.of(self.crawler).parsers
        few = asyncio.Semaphore(AT_A_TIME)
        try:
            await asyncio.gather(*(self._one(url, few) for url in self._urls))
        finally:
            await self._parsers.close()
        no_requests: tuple[object, ...] = ()  # Scrapy iterates over `start`
        for each in no_requests:
            yield each

    async def _one(self, url: str, few: asyncio.Semaphore) -> None:
        async with few:
            found = await self._examine(url)
            if url in self._guessed and not (found.feeds or found.is_list):
                under_http = await self._examine(under_scheme(url, "http"))
                found = under_http if under_http.feeds or under_http.is_list else found
            self._examined[url] = found

    async def _examine(self, url: str, at: str | None = None, refreshes: int = 0) -> Examined:
        """The result for `url`; `at` is the page to which the refreshes of earlier pages have led."""
        access = self._accesses.get(url)
        answer = await self._fetch(at or url, access)
        if isinstance(answer, Examined):
            return replace(answer, url=url)
        read = await self._read(answer)
        if isinstance(read, Candidate):
            return Examined(url, is_feed=True, feeds=(read,))
        code, detail = read
        if code in LISTS and isinstance(await self._parsers.run(read_list, answer.body, wall_sec=PARSE_WALL_SEC), Done):
            return Examined(url, is_list=True)
        if code not in PAGES:
            return Examined(url, code=code, detail=detail)
        onward = await refresh(self._parsers, answer)
        if onward is not None and refreshes < MAX_REFRESHES:
            return await self._examine(url, onward, refreshes + 1)
        found = await self._behind(answer, access)
        if not found:
            return Examined(url, code="html", detail="it is a page, and no feed was found through it")
        return Examined(url, feeds=found)

    async def _behind(self, page: Response, access: Access | None) -> tuple[Candidate, ...]:
        """The feeds that a page announces, or else the first feed at the usual addresses, or else the feeds that
        its links name.
        """
        named = await links(self._parsers, find_feeds, page)
        found = await self._feeds(choice.places(named, page.url), access)
        if not found:
            found = await self._feeds(choice.guesses(page.url), access, enough=1)
        if not found:
            likely = await links(self._parsers, feed_like_links, page)
            found = await self._feeds(choice.places(likely, page.url), access)
        return tuple(found)

    async def _feeds(
        self, urls: Iterable[str], access: Access | None, enough: int = choice.MAX_PLACES
    ) -> list[Candidate]:
        found: list[Candidate] = []
        for url in urls:
            answer = await self._fetch(url, access)
            read = None if isinstance(answer, Examined) else await self._read(answer)
            if isinstance(read, Candidate):
                found.append(Candidate(url, read.title, read.entries, read.names))
                if len(found) == enough:
                    break
        return found

    async def _fetch(self, url: str, access: Access | None) -> Response | Examined:
        """The response, or why there is none."""
        assert self.crawler.engine is not None
        private = access.headers_for(url) if access is not None else {}
        meta: dict[str, object] = {"handle_httpstatus_list": []}
        request = Request(url, headers=FEED_HEADERS | private, meta=meta, dont_filter=True)
        try:
            response = await self.crawler.engine.download_async(request)
        except Exception as error:  # noqa: BLE001 - whatever failed, it has a name
            name = failure_name(error)
            if name == "download_failed" and isinstance(error, IgnoreRequest):
                return Examined(url, code="robots_blocked", detail="its robots.txt forbids it")
            return Examined(url, code=name, detail=sentence(error))
        if 200 <= response.status < 300:
            return response
        detail = status_sentence(response.status)
        if response.status == UNAUTHORIZED:
            scheme = auth_scheme(response)
            detail = login_hint(scheme=scheme, sent=bool(private), program=program(), subscribed=False)
        return Examined(url, code=f"http_{response.status}", detail=detail)

    async def _read(self, response: Response) -> Candidate | tuple[str, str]:
        read = await self._parsers.run(
            choice.read_candidate,
            response.body,
            url=response.url,
            content_type=content_type(response),
            wall_sec=PARSE_WALL_SEC,
        )
        return read.value if isinstance(read, Done) else (read.code, read.detail)
