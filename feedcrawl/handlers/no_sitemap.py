"""Addresses polled as sitemaps that are none: pages of a site, wrong guesses, arguments at which nothing is."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Final

from feedcrawl import wiring
from feedcrawl.crawl import robots_gate
from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.sites.site_search import joined, page_key
from feedcrawl.services.sites import searching, watching

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler

    from feedcrawl.domain.sitemaps.state import Sitemap
    from feedcrawl.domain.sites.site_search import SourceSearchedRecord, Tried
    from feedcrawl.services.sites.sitemaps import SitemapPoll

logger = logging.getLogger(__name__)

_FILE: Final = re.compile(r"\.(?:xml|txt|gz)(?:\?|$)")
"""Endings of addresses that were meant to be sitemaps, and not pages of a site."""


class NoSitemaps:
    """Ends the watch of addresses that never were sitemaps.

    `refuses` returns True for a failed poll of an address that the run's arguments name and at which nothing is.
    """

    def __init__(self, crawler: Crawler, refuses: Callable[[SitemapPoll], bool]) -> None:
        self._crawler = crawler
        self._wired = wiring.of(crawler)
        self._refuses = refuses

    async def end(self, poll: SitemapPoll) -> bool:
        """True if the watch of a failed address has ended: a page of a site was replaced by the site's sitemaps, a
        wrong guess by nothing, an argument was refused.
        """
        sitemap, record = poll.sitemap, poll.watched.record
        if record.last_success_at is not None or sitemap.depth:
            return False
        if not sitemap.guess and poll.received.result == "html" and not _FILE.search(sitemap.url):
            await self._replace(poll)
        elif self._refuses(poll):
            detail = f"{poll.received.detail or 'nothing is there'}; it is not watched"
            logger.error(
                "sitemap_refused", extra={"url": sitemap.url, "reason": poll.received.result, "detail": detail}
            )
        elif not (sitemap.guess and _is_wrong(poll.received.status)):
            return False
        watching.forget(self._wired.sitemaps, self._wired.frontier, sitemap)
        if sitemap.guess:
            result = poll.received.result
            gone: Tried = {"url": sitemap.url, "result": "no_sitemap" if result == "html" else result}
            searching.drop_guess(self._wired.source_stores, gone)
        self._wired.leases.done(poll.lease, status="dead", reason="no_sitemap")
        return True

    async def _replace(self, poll: SitemapPoll) -> None:
        """Watch the sitemaps of the site of a page."""
        page = poll.sitemap
        gate = robots_gate.of(self._crawler)
        await gate.fetch(page.url)
        found = watching.of_site(page, gate.sitemaps(page.url) or (), poll.received.at)
        watching.watch(self._wired.sitemaps, self._wired.frontier, found)
        tried = [each.url for each in found]
        logger.info("sitemaps_of_site", extra={"url": page.url, "tried": tried})
        self._remember_page(page, tried)

    def _remember_page(self, page: Sitemap, found: list[str]) -> None:
        """Store the sitemaps to which a page that a source names has given way: the next start watches them instead."""
        if page.source:
            at = rfc3339(self._wired.now())
            record: SourceSearchedRecord = {
                "source": page.source,
                "url": page.url,
                "at": at,
                "sought": ["sitemap"],
                "feeds": [],
                "sitemaps": found,
                "tried": [{"url": page.url, "result": "no_sitemap"}],
            }
            searches, key = self._wired.site_searches, page_key(page.url)
            searches.save(key, joined(record, searches.find([key]).get(key)))


def _is_wrong(status: int | None) -> bool:
    """True if the response to a guess says that nothing is there."""
    return status is not None and status < 500 and status != 429
