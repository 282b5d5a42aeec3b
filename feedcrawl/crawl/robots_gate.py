"""robots.txt rules: fetched once per host for the whole fleet, cached per worker."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Literal
from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.utils.asyncio import sleep

from feedcrawl import wiring
from feedcrawl.crawl.failures import failure_name
from feedcrawl.domain import robots
from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.frontier.delays import base_delay_sec
from feedcrawl.domain.frontier.tasks import Lease
from feedcrawl.domain.http.redirects import REDIRECTS, Refused, in_words, next_hop
from feedcrawl.domain.http.robots_access import MAX_BYTES, RETRY_SEC, access
from feedcrawl.domain.urls import hostname, origin
from feedcrawl.exceptions import RedirectRefused, RobotsBlocked, RobotsElsewhere, RobotsUnavailable, RouteFailed
from feedcrawl.outgoing.routes import ROUTE_OF
from feedcrawl.store.frontier.hosts import RobotsRecord

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine

    from scrapy.crawler import Crawler
    from scrapy.http import Response


logger = logging.getLogger(__name__)

REMEMBERED = 2000
"""Hosts whose parsed rules a worker caches."""

REMEMBERED_CHARS = 8 << 20
"""Characters of all cached robots.txt together; a parsed rule takes some ten times its length."""

SMALL_CHARS = 16 << 10
"""A robots.txt up to this length is parsed in the event loop: 5 ms."""

WAITING: Final = "feedcrawl/robots/waiting"
"""Stat: pages of this crawl that wait for a robots.txt that fails."""

PATIENCE_SEC = 30.0
"""The longest wait, in seconds, for a turn at a host that is not the task's own."""

_NEVER_READ = frozenset({"redirect_loop", "too_many_redirects", "bad_redirect", "address_refused"})
"""Failures that a retry does not cure: the host counts as having no robots.txt, and the page is judged by its own
address.
"""

Turn = Lease | Literal["visit"] | None
"""The turn in which a host is requested: that of a task there, a visit that waits for a turn, or none (where
Scrapy paces).
"""
Known = tuple[RobotsRecord, robots.RobotsRules | None]


class RobotsGate:
    """Decides whether a URL may be requested; fetches unknown robots.txt, one request per host however many tasks
    wait for it.
    """

    def __init__(self, crawler: Crawler) -> None:
        wired = wiring.of(crawler)
        self._crawler = crawler
        self._hosts = wired.hosts
        self._frontier = wired.frontier
        self._leases = wired.leases
        self._config = wired.config
        self._now = wired.now
        self._agent = str(crawler.settings["USER_AGENT"])
        self._known: OrderedDict[str, Known] = OrderedDict()
        self._chars = 0
        self._paced: dict[str, float] = {}
        self._just_paced: set[str] = set()
        self._asking: dict[str, asyncio.Future[Known]] = {}
        self._visiting: dict[str, asyncio.Future[Known]] = {}
        self._waiting: dict[str, set[int]] = {}
        self._allowed: dict[str, float] = {}
        self._outdated: set[str] = set()
        assert crawler.stats is not None
        self._stats = crawler.stats

    async def check(self, url: str, turn: Turn = None) -> bool:
        """True if robots.txt had to be fetched first, so that the current turn is used up.

        Raises RobotsBlocked, or RobotsUnavailable or RobotsElsewhere if the URL may not be requested yet.
        """
        (record, rules), was_fetched = await self._rules(origin(url), turn)
        now = self._now().timestamp()
        verdict = access(
            record.status,
            failing_sec=now - record.failing_since if record.failing_since else 0,
            grace_sec=self._config.robots_grace_sec,
            on_error=self._config.robots_on_error,
        )
        self._note_waiting(url, waits=verdict == "wait")
        if verdict == "wait":
            raise RobotsUnavailable(record.status or "unreachable")
        if verdict == "disallow" or (rules is not None and not rules.allowed(url, self._agent)):
            self._stats.inc_value("feedcrawl/robots_blocked")
            raise RobotsBlocked(f"robots_blocked: {url}")
        if record.failing_since:
            self._stats.inc_value("feedcrawl/robots_allowed_on_error")
            if self._allowed.get(origin(url)) != record.failing_since:  # once for each host and outage
                self._allowed[origin(url)] = record.failing_since
                details = {"url": url, "host": hostname(url), "http_status": record.status}
                logger.warning("robots_allowed_on_error", extra=details)
        return was_fetched

    def _note_waiting(self, url: str, *, waits: bool) -> None:
        """Count the pages that wait for a robots.txt; those of a host that is known again do not."""
        site = origin(url)
        if waits:
            self._waiting.setdefault(site, set()).add(hash(url))
        elif self._waiting.pop(site, None) is None:
            return
        self._stats.set_value(WAITING, sum(map(len, self._waiting.values())))

    def has_just_paced(self, url: str) -> bool:
        """True if the host's delay was lengthened since the last call: the current turn came too soon."""
        host = hostname(url)
        if host not in self._just_paced:
            return False
        self._just_paced.remove(host)
        return True

    def known(self, url: str) -> bool | None:
        """The verdict of robots.txt for a URL if the rules are known without a request; None if not."""
        found = self._recall(origin(url))
        return None if found is None else found[1] is None or found[1].allowed(url, self._agent)

    def outdate(self, url: str) -> None:
        """Forget that the robots.txt of a URL's host fails: the host answers again. The grace period goes on until
        robots.txt has been requested.
        """
        site = origin(url)
        record = self._hosts.robots(site)
        if record is not None and record.failing_since:
            self._outdated.add(site)

    def sitemaps(self, url: str) -> tuple[str, ...] | None:
        """The sitemaps that the robots.txt of a URL's host names; None if the file is not known without a request.

        A robots.txt that has failed for longer than the grace period names none.
        """
        found = self._recall(origin(url))
        if found is None:
            return None
        since, rules = found[0].failing_since, found[1]
        if since and self._now().timestamp() - since < self._config.robots_grace_sec:
            return None
        return rules.sitemaps if rules is not None else ()

    async def fetch(self, url: str) -> None:
        """Fetch the robots.txt of a URL's host if it is not known, and cache the result."""
        await self._rules(origin(url), "visit")

    def _recall(self, site: str) -> Known | None:
        """The known rules of a site, without a request; None also for a long robots.txt that has not been parsed
        yet.
        """
        found = self._known.get(site)
        if found is not None and site not in self._outdated and self._fresh(found[0]):
            return found
        record = self._stored(site)
        return self._remember(site, record, self._read(record)) if record and len(record.body) <= SMALL_CHARS else None

    def _stored(self, site: str) -> RobotsRecord | None:
        record = self._hosts.robots(site)
        is_known = record is not None and site not in self._outdated and self._fresh(record)
        return record if is_known else None

    async def _rules(self, site: str, turn: Turn) -> tuple[Known, bool]:
        """The rules of a site, and whether a request was needed.

        No caller holds a turn while it waits for another host's turn: two hosts whose robots.txt redirect to each other
        would wait for ever. A fetch that a page begins in its own turn and that leads to another host continues there
        as a visit, and the page is tried again later.
        """
        known = self._recall(site)
        if known is None and (record := self._stored(site)) is not None:
            known = await self._read_and_remember(site, record)
        if known is not None:
            self._known.move_to_end(site)
            return known, False
        if turn == "visit":
            with suppress(RobotsElsewhere):
                if site in self._asking:
                    return await asyncio.shield(self._asking[site]), True
            return await asyncio.shield(self._begun(self._visiting, site, "visit", f"{site}/robots.txt")), True
        if site in self._visiting:
            raise RobotsElsewhere(site)
        source = turn.task.source if turn is not None else None
        return await asyncio.shield(self._begun(self._asking, site, turn, f"{site}/robots.txt", source=source)), True

    def _begun(
        self,
        under_way: dict[str, asyncio.Future[Known]],
        site: str,
        turn: Turn,
        url: str,
        chain: tuple[str, ...] = (),
        *,
        source: str | None = None,
    ) -> asyncio.Future[Known]:
        if site not in under_way:
            under_way[site] = asyncio.ensure_future(self._learn(site, turn, url, chain, source))
            under_way[site].add_done_callback(
                lambda ended: (under_way.pop(site), ended.cancelled() or ended.exception())
            )
        return under_way[site]

    async def _learn(self, site: str, turn: Turn, url: str, chain: tuple[str, ...], source: str | None) -> Known:
        before = self._hosts.robots(site)
        try:
            record = await self._fetch(site, before, self._follow(url, turn, chain, source))
        except RobotsElsewhere as hop:
            self._begun(self._visiting, site, "visit", hop.url, hop.chain, source=source)
            raise
        known = await self._read_and_remember(site, record)
        if not (record.failing_since or (known[1] and known[1].crawl_delay(self._agent))):
            self._frontier.crawl_delay(site, None)
            self._paced.pop(hostname(site), None)
        return known

    async def _read_and_remember(self, site: str, record: RobotsRecord) -> Known:
        """Parse a long robots.txt in a thread: Python switches threads every 5 ms, so that the event loop goes
        on.
        """
        if len(record.body) <= SMALL_CHARS:
            return self._remember(site, record, self._read(record))
        return self._remember(site, record, await asyncio.to_thread(self._read, record))

    def _read(self, record: RobotsRecord) -> robots.RobotsRules | None:
        if not 200 <= record.status < 300:
            return None
        rules = robots.parse(record.body.encode("utf-8", "surrogateescape"))
        rules.crawl_delay(self._agent)  # the first lookup of an agent is the slow one
        return rules

    def _remember(self, site: str, record: RobotsRecord, rules: robots.RobotsRules | None) -> Known:
        if rules is not None:
            self._pace(site, rules)
            if rules.dropped:
                left_out = {"rules": len(rules.dropped), "first": rules.dropped[0][:200]}
                logger.warning("robots_rules_dropped", extra={"host": hostname(site), **left_out})
        self._chars += len(record.body) - (len(self._known.pop(site)[0].body) if site in self._known else 0)
        self._known[site] = known = (record, rules)
        while len(self._known) > REMEMBERED or self._chars > REMEMBERED_CHARS:
            self._chars -= len(self._known.popitem(last=False)[1][0].body)
        return known

    async def _fetch(
        self, site: str, before: RobotsRecord | None, answer: Coroutine[None, None, Response]
    ) -> RobotsRecord:
        name = ""
        try:
            response = await answer
            status, body = int(response.status), response.body[:MAX_BYTES]
        except (RobotsElsewhere, RouteFailed):
            raise  # another host comes first, or the request has not left this machine
        except Exception as error:  # noqa: BLE001 - whatever failed, there is no robots.txt to read
            name = failure_name(error)
            status, body = (310 if name in _NEVER_READ else 0), b""
        self._stats.inc_value("feedcrawl/robots_fetched")
        now = self._now().timestamp()
        fails = access(status, failing_sec=0, grace_sec=1, on_error="allow") == "wait"
        since = (before.failing_since if before and before.failing_since else now) if fails else 0.0
        text = body.decode("utf-8", "surrogateescape") if 200 <= status < 300 else ""
        record = RobotsRecord(text, status, now, since)
        self._outdated.discard(site)
        self._hosts.save_robots(site, record, name or f"http_{status}")
        if name or since:
            self._log_failure(site, name or f"http_{status}", record)
        return record

    def _log_failure(self, site: str, reason: str, record: RobotsRecord) -> None:
        """Log a failure: the first in a row as a warning, with the time until which the host's pages wait."""
        details: dict[str, object] = {"host": hostname(site), "reason": reason}
        if not record.failing_since:  # no robots.txt can be had: it counts as none
            logger.info("robots_failed", extra=details)
            return
        until = datetime.fromtimestamp(record.failing_since + self._config.robots_grace_sec, UTC)
        details |= {"pages_wait_until": rfc3339(until), "then": self._config.robots_on_error}
        level = logging.WARNING if record.failing_since == record.fetched_at else logging.INFO
        logger.log(level, "robots_failed", extra=details)

    async def _follow(self, url: str, turn: Turn, chain: tuple[str, ...], source: str | None) -> Response:
        """The response of a URL or of its redirect target: in a task's turn on the same host, RobotsElsewhere on
        another host.
        """
        while True:
            async with self._turn(url, turn, is_first=not chain):
                response = await self._download(url, source)
            if response.status not in REDIRECTS:
                return response
            where = response.headers.get("Location")
            hop = next_hop((*chain, url), response.status, where, limit=self._config.max_redirects)
            if isinstance(hop, Refused):
                raise RedirectRefused(hop.reason, in_words(hop, (*chain, url), where))
            chain, url = (*chain, url), hop.url
            if isinstance(turn, Lease) and not hop.same_host:
                raise RobotsElsewhere(url, chain)

    @asynccontextmanager
    async def _turn(self, url: str, turn: Turn, *, is_first: bool) -> AsyncIterator[None]:
        if turn == "visit":
            async with self._leases.visit(url, patience_sec=PATIENCE_SEC):
                yield
            return
        if isinstance(turn, Lease) and not is_first:
            await sleep(self._leases.turn(turn) or 0)
        yield

    async def _download(self, url: str, source: str | None) -> Response:
        assert self._crawler.engine is not None
        meta = {
            "dont_obey_robotstxt": True,
            "first_bytes": MAX_BYTES,
            "download_maxsize": 0,  # an announced length refuses nothing: the download stops at the bytes that count
            "download_timeout": self._config.robots_timeout_sec,
            "handle_httpstatus_all": True,
            ROUTE_OF: source,
        }
        return await self._crawler.engine.download_async(Request(url, meta=meta, dont_filter=True))

    def _fresh(self, record: RobotsRecord) -> bool:
        life = RETRY_SEC if record.failing_since else self._config.robots_ttl_sec
        return self._now().timestamp() - record.fetched_at < life

    def _pace(self, site: str, rules: robots.RobotsRules) -> None:
        requested_sec = rules.crawl_delay(self._agent)
        if not requested_sec:
            return
        host, own_sec, longest_sec = hostname(site), self._config.host_delay_sec, self._config.max_crawl_delay_sec
        if requested_sec > longest_sec:
            logger.info("crawl_delay_cut", extra={"host": host, "asked_sec": requested_sec})
        delay_sec = base_delay_sec(requested_sec, own_sec, longest_sec)
        self._frontier.crawl_delay(site, delay_sec)
        if delay_sec > self._paced.get(host, own_sec):
            self._just_paced.add(host)
        self._paced[host] = delay_sec


_by_crawler: WeakKeyDictionary[Crawler, RobotsGate] = WeakKeyDictionary()


def of(crawler: Crawler) -> RobotsGate:
    """The gate that all components of a crawler share."""
    if crawler not in _by_crawler:
        _by_crawler[crawler] = RobotsGate(crawler)
    return _by_crawler[crawler]
