"""robots.txt as this crawler knows it: asked once per host for the whole fleet, remembered per worker."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy import Request

from feedcrawl import wiring
from feedcrawl.domain import pacing, robots
from feedcrawl.domain.robots_access import MAX_BYTES, RETRY_SEC, access
from feedcrawl.domain.urls import hostname, origin
from feedcrawl.exceptions import RobotsBlocked, RobotsUnavailable
from feedcrawl.failures import failure_name
from feedcrawl.store.connection import map_redis_errors
from feedcrawl.store.hosts import RobotsRecord

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from feedcrawl.wiring import Wiring

logger = logging.getLogger(__name__)

REMEMBERED = 2000
"""Hosts whose rules a worker keeps parsed."""

Known = tuple[RobotsRecord, robots.RobotsRules | None]


class RobotsGate:
    """Answers whether a URL may be asked; fetches what is not known, one request per host however many ask."""

    def __init__(self, crawler: Crawler, wired: Wiring) -> None:
        self._crawler = crawler
        self._hosts = wired.hosts
        self._frontier = wired.frontier
        self._config = wired.config
        self._now = wired.now
        self._agent = str(crawler.settings["USER_AGENT"])
        self._known: OrderedDict[str, Known] = OrderedDict()
        self._paced: dict[str, float] = {}
        self._just_paced: set[str] = set()
        self._asking: dict[str, asyncio.Future[Known]] = {}
        assert crawler.stats is not None
        self._stats = crawler.stats

    async def check(self, url: str) -> None:
        """Raises RobotsBlocked or RobotsUnavailable where the URL may not, or not yet, be asked."""
        record, rules = await self._rules(origin(url))
        now = self._now().timestamp()
        verdict = access(
            record.status,
            failing_sec=now - record.failing_since if record.failing_since else 0,
            grace_sec=self._config.robots_grace_sec,
            on_error=self._config.robots_on_error,
        )
        if verdict == "wait":
            raise RobotsUnavailable(record.status or "unreachable")
        if verdict == "disallow" or (rules is not None and not rules.allowed(url, self._agent)):
            self._stats.inc_value("feedcrawl/robots_blocked")
            raise RobotsBlocked(f"robots_blocked: {url}")
        if record.failing_since:
            self._stats.inc_value("feedcrawl/robots_allowed_on_error")
            logger.info("robots_allowed_on_error", extra={"url": url, "http_status": record.status})

    def has_just_paced(self, url: str) -> bool:
        """Whether the host's delay was lengthened since this was last asked: the turn at hand came too soon."""
        host = hostname(url)
        if host not in self._just_paced:
            return False
        self._just_paced.remove(host)
        return True

    def known(self, url: str) -> bool | None:
        """What robots.txt says of a URL, if it is known without asking the host; None if not."""
        found = self._recall(origin(url))
        return None if found is None else found[1] is None or found[1].allowed(url, self._agent)

    def sitemaps(self, url: str) -> tuple[str, ...] | None:
        """The sitemaps that the robots.txt of a URL's host names; None if that is not known without asking.

        One that has failed for longer than the grace names none.
        """
        found = self._recall(origin(url))
        if found is None:
            return None
        since, rules = found[0].failing_since, found[1]
        if since and self._now().timestamp() - since < self._config.robots_grace_sec:
            return None
        return rules.sitemaps if rules is not None else ()

    async def ask(self, url: str) -> None:
        """Asks for the robots.txt of a URL's host, if it is not known; what came of it is then remembered."""
        await self._rules(origin(url))

    def _recall(self, site: str) -> Known | None:
        found = self._known.get(site)
        if found is None or not self._fresh(found[0]):
            with map_redis_errors():
                record = self._hosts.robots(site)
            if record is None or not self._fresh(record):
                return None
            found = self._remember(site, record)
        return found

    async def _rules(self, site: str) -> Known:
        known = self._known.get(site)
        if known and self._fresh(known[0]):
            self._known.move_to_end(site)
            return known
        if site not in self._asking:
            self._asking[site] = asyncio.ensure_future(self._learn(site))
            self._asking[site].add_done_callback(lambda _: self._asking.pop(site, None))
        return await asyncio.shield(self._asking[site])

    async def _learn(self, site: str) -> Known:
        with map_redis_errors():
            record = self._hosts.robots(site)
        if record is None or not self._fresh(record):
            record = await self._fetch(site, record)
            with map_redis_errors():
                self._hosts.save_robots(site, record)
        return self._remember(site, record)

    def _remember(self, site: str, record: RobotsRecord) -> Known:
        rules = robots.parse(record.body.encode("utf-8", "surrogateescape")) if 200 <= record.status < 300 else None
        if rules is not None:
            self._pace(site, rules)
        self._known[site] = (record, rules)
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return self._known[site]

    async def _fetch(self, site: str, before: RobotsRecord | None) -> RobotsRecord:
        assert self._crawler.engine is not None
        meta = {
            "dont_obey_robotstxt": True,
            "download_timeout": self._config.robots_timeout_sec,
            "handle_httpstatus_list": [code for code in range(200, 600) if code not in (301, 302, 303, 307, 308)],
        }
        request = Request(f"{site}/robots.txt", meta=meta, dont_filter=True)
        try:
            response = await self._crawler.engine.download_async(request)
            status, body = int(response.status), response.body[:MAX_BYTES]
        except Exception as error:  # noqa: BLE001 - whatever failed, there is no robots.txt to read
            name = failure_name(error)
            status, body = (310 if name in ("redirect_loop", "too_many_redirects", "bad_redirect") else 0), b""
            logger.info("robots_failed", extra={"host": hostname(site), "reason": name})
        self._stats.inc_value("feedcrawl/robots_fetched")
        now = self._now().timestamp()
        fails = access(status, failing_sec=0, grace_sec=1, on_error="allow") == "wait"
        since = (before.failing_since if before and before.failing_since else now) if fails else 0.0
        text = body.decode("utf-8", "surrogateescape") if 200 <= status < 300 else ""
        return RobotsRecord(text, status, now, since)

    def _fresh(self, record: RobotsRecord) -> bool:
        life = RETRY_SEC if record.failing_since else self._config.robots_ttl_sec
        return self._now().timestamp() - record.fetched_at < life

    def _pace(self, site: str, rules: robots.RobotsRules) -> None:
        asked = rules.crawl_delay(self._agent)
        if not asked:
            return
        if asked > self._config.max_crawl_delay_sec:
            logger.info("crawl_delay_cut", extra={"host": hostname(site), "asked_sec": asked})
        asked = min(asked, self._config.max_crawl_delay_sec)
        host, default_ms = hostname(site), round(self._config.host_delay_sec * 1000)
        delay_sec = pacing.base_delay(asked, None, default_ms) / 1000
        with map_redis_errors():
            self._frontier.pace(host, delay_sec=delay_sec)
        if delay_sec > self._paced.get(host, default_ms / 1000):
            self._just_paced.add(host)
        self._paced[host] = delay_sec


_by_crawler: WeakKeyDictionary[Crawler, RobotsGate] = WeakKeyDictionary()


def of(crawler: Crawler) -> RobotsGate:
    """The gate that all components of a crawler share."""
    if crawler not in _by_crawler:
        _by_crawler[crawler] = RobotsGate(crawler, wiring.of(crawler))
    return _by_crawler[crawler]
