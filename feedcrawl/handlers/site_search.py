"""Tasks of kind `site_search`: find the feed and the sitemaps that a source does not name.

The page of the source is the task's own request. Each further address is requested in a turn of its host, as robots.txt
allows, while the task is held.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final, Literal, cast

from scrapy import Request

from feedcrawl.crawl import robots_gate
from feedcrawl.crawl.failures import failure_name
from feedcrawl.domain.discovery import choice, feed_like_links, find_feeds
from feedcrawl.domain.discovery.choice import read_candidate
from feedcrawl.domain.sitemaps.news import lists_anything
from feedcrawl.domain.sites.site_search import (
    MAX_NAMED,
    in_words,
    is_empty,
    joined,
    lacking,
    page_key,
    sitemap_guesses,
    tried_in_words,
)
from feedcrawl.handlers.base import FEED_HEADERS, PARSE_WALL_SEC, TaskHandler, content_type, limits
from feedcrawl.handlers.discovery import links
from feedcrawl.outgoing.routes import ROUTE_OF
from feedcrawl.parsing import Done
from feedcrawl.services.frontier.leases import TurnDenied
from feedcrawl.services.sites import searching
from feedcrawl.store.redis.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.http import Response
    from twisted.python.failure import Failure

    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.domain.sites.site_search import SourceSearchedRecord, Tried
    from feedcrawl.domain.sites.sources import Source

logger = logging.getLogger(__name__)

What = Literal["feed", "sitemap"]

PATIENCE_SEC: Final = 60.0
"""The longest wait for a turn at a host."""
DEAD: Final = frozenset({"dead", "ended"})


class SearchTasks(TaskHandler):
    """Searches the sites of sources."""

    def prepare(self, leases: Sequence[Lease]) -> None:
        """Nothing to load: the task names its source."""

    def request(self, lease: Lease) -> Request | None:
        """The request of the source's page; None if the source is gone or names its feeds and sitemaps by now."""
        source = self.wired.sources.get(lease.task.source or "")
        if source is None or not lacking(source) or source.base_url != lease.task.url:
            self.leases.done(lease, status="dead", reason="not_searched")
            return None
        url, meta = lease.task.url, limits(self.wired.config.fetch_timeout_sec, self.wired.config.max_feed_bytes)
        return Request(url, self.parse, "GET", FEED_HEADERS, meta=meta, errback=self.failed, dont_filter=True)

    async def parse(self, response: Response) -> None:
        """Search from the source's page, or without the page if it failed for good."""
        request = cast("Request", response.request)
        outcome = request.meta["outcome"]
        if outcome.kind == "fetched":
            await self._search(request.meta["lease"], response, "")
        elif self.ending(request, outcome, response.status) in DEAD:
            await self._search(request.meta["lease"], None, outcome.reason)

    async def failed(self, failure: Failure) -> None:
        """Search without the page if the page failed for good."""
        settled = self.settled(failure)
        if settled is not None:
            request, outcome = settled
            if self.ending(request, outcome, None) in DEAD:
                await self._search(request.meta["lease"], None, outcome.reason)

    async def _search(self, lease: Lease, page: Response | None, reason: str) -> None:
        source = self.wired.sources.get(lease.task.source or "")
        if source is None:
            self.leases.done(lease, status="dead", reason="not_searched")
            return
        search = _Search(self, source)
        if page is None:
            search.tried.append({"url": lease.task.url, "result": reason})
        sought = lacking(source)
        feeds = await search.feeds(page) if "feed" in sought else []
        sitemaps = await search.sitemaps() if "sitemap" in sought else []
        found = {"feeds": feeds, "sitemaps": sitemaps}
        self._end(lease, source, searching.result(source, self.wired.now(), sought, **found, tried=search.tried))

    def _end(self, lease: Lease, source: Source, found: SourceSearchedRecord) -> None:
        """Subscribe what was found, store and publish the result, and end the task; the search is repeated if the
        source has neither a feed nor a sitemap.
        """
        wired, key = self.wired, page_key(source.base_url)
        before = wired.site_searches.find([key]).get(key)
        searching.subscribe(source, found["feeds"], found["sitemaps"], wired.source_stores)
        known = joined(found, before)
        wired.site_searches.save(key, known)
        with wired.client.pipeline(transaction=False) as pipe:
            wired.events.add(pipe, [searching.searched_event(found)])
            pipe.execute()
        details = {"source": source.name, "url": source.base_url}
        if not is_empty(source, known):
            addresses = {"feeds": " ".join(found["feeds"]), "sitemaps": " ".join(found["sitemaps"])}
            logger.info("source_searched", extra=details | addresses | {"tried": tried_in_words(found["tried"])})
            came = found["feeds"] or found["sitemaps"]
            self.leases.done(lease, status="fetched", reason="found" if came else "nothing_found")
            return
        if before is None:  # logged once: later searches have the same result
            logger.warning("source_nothing_found", extra=details | {"detail": in_words(found)})
        self.leases.done(
            lease, status="pending", reason="nothing_found", delay_sec=wired.config.source_search_again_sec
        )


class _Search:
    """One search: the requests that it sends, and what came of each."""

    def __init__(self, tasks: SearchTasks, source: Source) -> None:
        self._tasks = tasks
        self._source = source
        self.tried: list[Tried] = []

    async def feeds(self, page: Response | None) -> list[str]:
        """The page itself if it is a feed; else the first feed that it announces, that has a usual address, or that one
        of its links names.
        """
        url = self._source.base_url if page is None else page.url
        if page is not None:
            if await self._is(page, "feed"):
                self.tried.append({"url": page.url, "result": "feed"})
                return [page.url]
            self.tried.append({"url": page.url, "result": "no_feed"})
        announced, likely = await self._announced(page) if page is not None else ((), ())
        for address in dict.fromkeys((*announced, *choice.guesses(url), *likely)):
            found = await self._probe(address, "feed")
            if found is not None:
                return [found]
        return []

    async def _announced(self, page: Response) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The addresses that a page announces, by Link headers and elements, and those of its links that look like
        feeds.
        """
        parsers = self._tasks.wired.parsers
        named, likely = await links(parsers, find_feeds, page), await links(parsers, feed_like_links, page)
        return choice.places(named, page.url), choice.places(likely, page.url)

    async def sitemaps(self) -> list[str]:
        """The sitemaps that robots.txt names, else those at the usual addresses."""
        gate, base = robots_gate.of(self._tasks.crawler), self._source.base_url
        await gate.fetch(base)
        named = gate.sitemaps(base) or ()
        if named:
            return list(dict.fromkeys(named))[:MAX_NAMED]
        found: dict[str, str] = {}
        for address in sitemap_guesses(base):
            sitemap = await self._probe(address, "sitemap")
            if sitemap is not None:
                found.setdefault(page_key(sitemap), sitemap)
        return list(found.values())

    async def _probe(self, url: str, name: What) -> str | None:
        """The URL behind an address (after redirects) if it is a feed or sitemap, else None; `tried` has the result."""
        response, result = await self._fetch(url)
        if response is not None:
            result = name if await self._is(response, name) else f"no_{name}"
        self.tried.append({"url": url, "result": result})
        return response.url if response is not None and result == name else None

    async def _fetch(self, url: str) -> tuple[Response | None, str]:
        """A response in a turn of its host, or the reason code."""
        wired, engine = self._tasks.wired, self._tasks.crawler.engine
        assert engine is not None
        bounds = limits(wired.config.sitemap_timeout_sec, wired.config.max_sitemap_bytes)
        meta = bounds | {ROUTE_OF: self._source.name}
        request = Request(url, headers=FEED_HEADERS, meta=meta, dont_filter=True)
        try:
            await robots_gate.of(self._tasks.crawler).check(url, "visit")
            async with wired.leases.visit(url, patience_sec=PATIENCE_SEC):
                response = await engine.download_async(request)
        except StoreUnavailable:
            raise
        except TurnDenied:
            return None, "no_turn"
        except Exception as error:  # noqa: BLE001 - whatever failed, it has a name
            return None, failure_name(error)
        return (response, "") if 200 <= response.status < 300 else (None, f"http_{response.status}")

    async def _is(self, response: Response, name: What) -> bool:
        """True if a child process reads the document as a feed, or as a sitemap that lists anything."""
        run = self._tasks.wired.parsers.run
        if name == "feed":
            kind = content_type(response)
            read = await run(
                read_candidate, response.body, url=response.url, content_type=kind, wall_sec=PARSE_WALL_SEC
            )
            return isinstance(read, Done)
        listed = await run(lists_anything, response.body, url=response.url, wall_sec=PARSE_WALL_SEC)
        return isinstance(listed, Done) and listed.value
