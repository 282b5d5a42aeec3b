"""Feeds of pages: looked for by `scrapy subscribe` in a crawl of its own, and by polls of what turns out to be a page.

A page names its feeds by `<link rel="alternate">`; one that names none is asked at the usual addresses, then at those
of its links that look like feeds. Pages and guesses are asked only where robots.txt allows it, and only what parses
as a feed, in a child process, is one.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.exceptions import IgnoreRequest

from feedcrawl import wiring
from feedcrawl.crawl import robots_gate
from feedcrawl.crawl.failures import failure_name
from feedcrawl.domain.discovery import choice, feed_like_links, find_feeds
from feedcrawl.domain.discovery.choice import Candidate
from feedcrawl.domain.subscriptions.lists import read_list
from feedcrawl.exceptions import RobotsBlocked, RobotsUnavailable
from feedcrawl.handlers.base import FEED_HEADERS, PARSE_WALL_SEC, content_type
from feedcrawl.parsing import Done
from feedcrawl.services.subscriptions.discovery import Moves, is_elsewhere, stage
from feedcrawl.services.subscriptions.registering import LISTS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from feedcrawl.domain.models import FeedLink
    from feedcrawl.items import FeedPoll
    from feedcrawl.parsing import ParserPool

logger = logging.getLogger(__name__)

PAGES = frozenset({"html", "soft_404"})
"""What a document is (`NotAFeed.code`) that may name feeds: pages for what is not there have the site's head too."""
AT_A_TIME = 8
"""Pages that are looked at beside each other; hosts have their own pace."""


# --- polls of `crawl feeds` -------------------------------------------------------------------------------------------


async def unfold(crawler: Crawler, poll: FeedPoll, response: Response | None) -> bool:
    """Whether a subscription that has never been a feed moved on to where its feed may be; the poll is then over."""
    wired = wiring.of(crawler)
    moves = Moves(wired.registry, wired.frontier, wired.leases)
    at = stage(poll.feed)
    if at == "guess" and is_elsewhere(poll):
        if poll.feed.subscription.untried:
            moves.move(poll, poll.feed.subscription.untried)
            return True
        moves.back(poll)
        poll.detail = f"no feed was found at or behind {poll.feed.subscription.url}"
    elif at == "page" and poll.result in PAGES and response is not None:
        return await _leave_page(crawler, moves, poll, response)
    return False


async def _leave_page(crawler: Crawler, moves: Moves, poll: FeedPoll, response: Response) -> bool:
    try:
        await robots_gate.of(crawler).check(response.url, "visit")
    except (RobotsBlocked, RobotsUnavailable):
        poll.detail = "a page, no feed; its robots.txt does not let its feeds be looked for"
        return False
    parsers = wiring.of(crawler).parsers
    named = choice.places(await _links(parsers, find_feeds, response), response.url)
    places = named
    if not named and poll.feed.polls.last_fetch_at is None:  # guessed once, not at each poll of a page
        places = await _guesses(parsers, response)
    if not places:
        poll.detail = "a page, no feed: it announces none, and none was found behind it"
        return False
    page = poll.feed.subscription.url
    feed_id = moves.move(poll, places)
    details = {"url": page, "feed_id": feed_id, "feed": places[0], "announced": bool(named)}
    others = {"choice": " ".join(named[1:])} if named[1:] else {}
    logger.info("page_left_for_feed", extra=details | others)
    return True


async def _guesses(parsers: ParserPool, response: Response) -> tuple[str, ...]:
    likely = choice.places(await _links(parsers, feed_like_links, response), response.url)
    return tuple(dict.fromkeys((*choice.guesses(response.url), *likely)))[: choice.MAX_PLACES]


async def announced(parsers: ParserPool, response: Response) -> tuple[str, ...]:
    """The addresses of feeds that a page names, else those of its links that look like feeds."""
    for find in (find_feeds, feed_like_links):
        if places := choice.places(await _links(parsers, find, response), response.url):
            return places
    return ()


async def _links(
    parsers: ParserPool, find: Callable[..., tuple[FeedLink, ...]], response: Response
) -> tuple[FeedLink, ...]:
    read = await parsers.run(find, response.body, url=response.url, wall_sec=PARSE_WALL_SEC)
    return read.value if isinstance(read, Done) else ()


# --- the crawl of `scrapy subscribe` ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Looked:
    """What an address turned out to be: a feed, a list of feeds, a page with the feeds found by way of it, or none.

    `code` says why it is none: what it is instead (`html`, `json`), or what failed (`http_404`, `dns`).
    """

    url: str
    is_feed: bool = False
    is_list: bool = False
    feeds: tuple[Candidate, ...] = ()
    code: str = ""
    detail: str = ""


class DiscoverSpider(Spider):
    """Looks at addresses on Scrapy's own scheduler, and leaves in `looked` what each is. Not for `scrapy crawl`."""

    def __init__(self, urls: Sequence[str], looked: dict[str, Looked], **kwargs: Any) -> None:
        super().__init__("discover", **kwargs)
        self._urls = urls
        self._looked = looked

    async def start(self) -> AsyncIterator[Any]:
        """All of them; nothing is left for the scheduler."""
        self._parsers = wiring.of(self.crawler).parsers
        few = asyncio.Semaphore(AT_A_TIME)
        try:
            await asyncio.gather(*(self._one(url, few) for url in self._urls))
        finally:
            await self._parsers.close()
        nothing: tuple[Any, ...] = ()
        for each in nothing:
            yield each

    async def _one(self, url: str, few: asyncio.Semaphore) -> None:
        async with few:
            self._looked[url] = await self._look(url)

    async def _look(self, url: str) -> Looked:
        answer = await self._fetch(url)
        if isinstance(answer, str):
            return Looked(url, code=answer)
        read = await self._read(answer)
        if isinstance(read, Candidate):
            return Looked(url, is_feed=True, feeds=(read,))
        code, detail = read
        if code in LISTS and isinstance(await self._parsers.run(read_list, answer.body, wall_sec=PARSE_WALL_SEC), Done):
            return Looked(url, is_list=True)
        if code not in PAGES:
            return Looked(url, code=code, detail=detail)
        found = await self._behind(answer)
        if not found:
            return Looked(url, code="html", detail="it is a page, and no feed was found behind it")
        return Looked(url, feeds=found)

    async def _behind(self, page: Response) -> tuple[Candidate, ...]:
        """The feeds that a page announces, else the first of the usual addresses, else those that its links name."""
        named = await _links(self._parsers, find_feeds, page)
        found = await self._feeds(choice.places(named, page.url))
        if not found:
            found = await self._feeds(choice.guesses(page.url), enough=1)
        if not found:
            likely = await _links(self._parsers, feed_like_links, page)
            found = await self._feeds(choice.places(likely, page.url))
        return tuple(found)

    async def _feeds(self, urls: Iterable[str], enough: int = choice.MAX_PLACES) -> list[Candidate]:
        found: list[Candidate] = []
        for url in urls:
            answer = await self._fetch(url)
            read = None if isinstance(answer, str) else await self._read(answer)
            if isinstance(read, Candidate):
                found.append(Candidate(url, read.title, read.entries, read.names))
                if len(found) == enough:
                    break
        return found

    async def _fetch(self, url: str) -> Response | str:
        """The answer, or the name of what went wrong."""
        assert self.crawler.engine is not None
        request = Request(url, headers=FEED_HEADERS, meta={"handle_httpstatus_list": []}, dont_filter=True)
        try:
            response = await self.crawler.engine.download_async(request)
        except Exception as error:  # noqa: BLE001 - whatever failed, it has a name
            name = failure_name(error)
            return "robots_blocked" if name == "download_failed" and isinstance(error, IgnoreRequest) else name
        return response if 200 <= response.status < 300 else f"http_{response.status}"

    async def _read(self, response: Response) -> Candidate | tuple[str, str]:
        read = await self._parsers.run(
            choice.read_candidate,
            response.body,
            url=response.url,
            content_type=content_type(response),
            wall_sec=PARSE_WALL_SEC,
        )
        return read.value if isinstance(read, Done) else (read.code, read.detail)
