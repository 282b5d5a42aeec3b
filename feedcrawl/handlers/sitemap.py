"""Tasks of kind `sitemap`: one conditional request, read in a child process; new URLs in the sitemap become
tasks.
"""

from __future__ import annotations

import logging
import random
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from scrapy import Request

from feedcrawl.crawl import robots_gate
from feedcrawl.crawl.failures import sentence
from feedcrawl.domain.http.conditional import Validators
from feedcrawl.domain.sitemaps.news import News, read_news
from feedcrawl.domain.sitemaps.tasks import sitemap_task
from feedcrawl.domain.urls import hostname
from feedcrawl.handlers.base import PARSE_WALL_SEC, TaskHandler, challenge_detail, limits, result_of, transfer_of
from feedcrawl.handlers.no_sitemap import NoSitemaps
from feedcrawl.items import Received
from feedcrawl.parsing import Done
from feedcrawl.services.sites import sitemaps
from feedcrawl.services.sites.sitemaps import Commits, SitemapPoll, SitemapRequested
from feedcrawl.services.subscriptions.outcomes import ALARM_ERRORS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from feedcrawl.domain.cadence import Decision
    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.domain.sitemaps.state import Watched
    from feedcrawl.store.sites.sitemaps import Known

logger = logging.getLogger(__name__)

HEADERS = {"Accept": "application/xml, text/xml;q=0.9, text/plain;q=0.8, */*;q=0.5"}
MAX_READS = 3
"""The most times that one document is read, each time with more known about the hosts that it names."""


class SitemapTasks(TaskHandler):
    """Polls sitemaps. The robots.txt of hosts of other sites is requested after the poll, and counts at the next
    one.
    """

    _watched: dict[str, Watched]
    _today: dict[str, int]

    def __init__(self, crawler: Crawler, refuses: Callable[[SitemapPoll], bool]) -> None:
        super().__init__(crawler)
        wired = self.wired
        self._no_sitemaps = NoSitemaps(crawler, refuses)
        self._store = wired.sitemaps
        self._commits = Commits(wired.sitemaps, wired.submissions, wired.leases)

    def prepare(self, leases: Sequence[Lease]) -> None:
        """Load the sitemaps of a batch, and the number of new URLs of their sites today."""
        self._watched = self._store.load([lease.id.removeprefix("sitemap:") for lease in leases])
        sites = {sitemaps.site_of(each.sitemap) for each in self._watched.values()}
        self._today = self._store.today(list(sites), sitemaps.day_of(self.wired.now()))

    def request(self, lease: Lease) -> Request | None:
        """The conditional request of a poll; unconditional if the last poll left URLs over.

        None until tomorrow if the site has reached its daily limit of new URLs: nothing could be taken from the
        sitemap.
        """
        watched = self._watched.get(lease.id.removeprefix("sitemap:"))
        if watched is None:  # forgotten while the task was in progress
            self.leases.done(lease, status="dead", reason="forgotten")
            return None
        config, record = self.wired.config, watched.record
        if record.kind != "index" and self._today[sitemaps.site_of(watched.sitemap)] >= config.sitemap_urls_per_day:
            self.leases.give_back(lease, reason="site_is_full", delay_sec=sitemaps.until_tomorrow(self.wired.now()))
            return None
        meta = {
            "watched": watched,
            "validators": None if record.waiting else Validators(record.etag, record.last_modified),
            "dont_obey_robotstxt": True,  # robots.txt names sitemaps for crawlers to read
            **limits(config.sitemap_timeout_sec, config.max_sitemap_bytes),
        }
        return Request(lease.task.url, self.parse, "GET", HEADERS, meta=meta, errback=self.failed, dont_filter=True)

    async def parse(self, response: Response) -> None:
        """Read the response and commit its result."""
        request = cast("Request", response.request)
        transfer = transfer_of(request, result_of(request.meta["outcome"]), self.wired.now(), response)
        received = Received(**transfer, detail=challenge_detail(response))
        poll = SitemapPoll(self._requested(request), received)
        if received.result == "fetched":
            record = poll.watched.record
            if received.body_hash == record.body_hash and not record.waiting:
                poll = replace(poll, received=replace(received, result="unchanged"))
            else:
                poll = await self._read(poll, response)
        if poll.received.failed and await self._no_sitemaps.end(poll):
            return
        await self._commit(poll)
        await self._ask_foreign(poll)

    async def failed(self, failure: Failure) -> None:
        """Handle a poll that got no response."""
        settled = self.settled(failure)
        if settled is not None:
            request, outcome = settled
            transfer = transfer_of(request, outcome.reason, self.wired.now())
            received = Received(**transfer, detail=sentence(failure.value))
            poll = SitemapPoll(self._requested(request), received)
            if not await self._no_sitemaps.end(poll):
                await self._commit(poll)

    async def _read(self, poll: SitemapPoll, response: Response) -> SitemapPoll:
        """The poll with the document, which is read again while more becomes known about the hosts that it names, and
        once more if polls of other sitemaps of the site have used the daily limit meanwhile.
        """
        site, day = sitemaps.site_of(poll.sitemap), sitemaps.day_of(poll.received.at)
        known = self._store.known(poll.sitemap, site, day)
        hosts: dict[str, bool] = {}
        for _ in range(MAX_READS):
            poll = await self._look(poll, response, known, hosts)
            named = self._named_by(poll)
            if not named:
                break
            hosts |= named
        if poll.news is None or poll.news.kind == "index" or not poll.found:
            return poll
        limit = self.wired.config.sitemap_urls_per_day
        taken = self._store.take(site, day, len(poll.found), limit)
        if taken == len(poll.found):
            return poll
        return await self._look(poll, response, known._replace(today=limit - taken), hosts)

    async def _look(self, poll: SitemapPoll, response: Response, known: Known, hosts: dict[str, bool]) -> SitemapPoll:
        terms = sitemaps.terms_for(poll.watched, known, self.wired.config, poll.received.at, hosts)
        read = await self.read(
            poll.lease, read_news, response.body, url=response.url, terms=terms, wall_sec=PARSE_WALL_SEC
        )
        if isinstance(read, Done):
            return replace(poll, news=read.value)
        return replace(poll, news=None, received=replace(poll.received, result=read.code, detail=read.detail))

    def _named_by(self, poll: SitemapPoll) -> dict[str, bool]:
        """For each of the given hosts whose robots.txt is known: True if that robots.txt names the sitemap."""
        gate = robots_gate.of(self.crawler)
        foreign = poll.news.foreign if poll.news is not None else ()
        named = {hostname(site): gate.sitemaps(site) for site in foreign}
        return {host: sitemaps.names_it(poll.sitemap, urls) for host, urls in named.items() if urls is not None}

    async def _ask_foreign(self, poll: SitemapPoll) -> None:
        """Fetch the robots.txt of hosts that are not known yet, and poll again if one of them names the sitemap."""
        if poll.news is None or not poll.news.foreign:
            return
        for site in poll.news.foreign:
            await robots_gate.of(self.crawler).fetch(site)
        if any(self._named_by(poll).values()):
            self.leases.enqueue([sitemap_task(poll.sitemap)], again="operator")

    async def _commit(self, poll: SitemapPoll) -> None:
        tracer = self.wired.tracer
        with tracer.span("commit", poll.lease):
            received, new = poll.received, len(poll.found)
            tracer.note(poll.lease, poll_id=poll.requested.poll_id, result=received.result, new=new)
            await self._end(poll)

    async def _end(self, poll: SitemapPoll) -> None:
        wired = self.wired
        policy = sitemaps.policy_for(poll.watched, wired.cadence, wired.config, poll.received.at)
        decision = sitemaps.decide(poll, policy, random.uniform(-1, 1))  # noqa: S311 - jitter
        await self._commits.commit(poll, decision)
        self.stats.inc_value(f"feedcrawl/sitemaps/{'failed' if poll.received.failed else poll.received.result}")
        if poll.news is not None and poll.news.kind != "index":
            self.stats.inc_value("feedcrawl/sitemaps/urls_new", len(poll.found))
        self._log(poll, decision)

    def _log(self, poll: SitemapPoll, decision: Decision) -> None:
        received, news = poll.received, poll.news or News("")
        details: dict[str, object] = {
            "sitemap_id": poll.watched.id,
            "url": poll.sitemap.url,
            "host": poll.lease.task.host,
            "poll_id": poll.requested.poll_id,
            "http_status": received.status,
            "reason": decision.reason,
            "result": received.result,
            "new": len(news.found),
            "interval_after": round(decision.interval_sec, 1),
        }
        if not received.failed:
            counts = {"urls": news.urls, "old": news.old, "refused": news.refused, "waiting": news.waiting}
            lists_nothing = received.result == "fetched" and not news.urls
            level = logging.WARNING if lists_nothing else logging.INFO
            details |= {"detail": "the document lists no web URL"} if lists_nothing else {}
            logger.log(level, "sitemap_polled", extra=details | counts)
        elif decision.state.errors >= ALARM_ERRORS:
            logger.error("sitemap_keeps_failing", extra=details | {"errors": decision.state.errors})
        else:
            logger.warning("sitemap_failed", extra=details | {"detail": received.detail[:200]})

    def _requested(self, request: Request) -> SitemapRequested:
        watched: Watched = request.meta["watched"]
        return SitemapRequested(
            lease=request.meta["lease"],
            poll_id=f"{watched.id}@{watched.record.next_at or watched.sitemap.added_at}",
            sources=self.wired.sources,
            watched=watched,
        )
