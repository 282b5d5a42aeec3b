import asyncio
import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from scrapy import Request
from scrapy.exceptions import StopDownload
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector
from twisted.internet import error as net

from feedcrawl.crawl import robots_gate
from feedcrawl.crawl.robots_gate import WAITING, RobotsGate
from feedcrawl.domain import robots
from feedcrawl.domain.frontier.tasks import LANES, History, Lease, Task
from feedcrawl.domain.http.robots_access import RETRY_SEC
from feedcrawl.exceptions import (
    AddressRefused,
    CrawlDelayLearned,
    RedirectRefused,
    RobotsBlocked,
    RobotsElsewhere,
    RobotsUnavailable,
)
from feedcrawl.middlewares.robots import RobotsMiddleware, stop_at_first_bytes
from feedcrawl.services.frontier.leases import Leases
from feedcrawl.store.frontier.hosts import Hosts
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy
from feedcrawl.wiring import process

START = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
RULES = b"User-agent: *\nDisallow: /private\n\nUser-agent: feedcrawl\nDisallow: /ours\n"
URL = "https://a.test/page"


class World:
    """A worker before one host: its clock, and what the host answers for robots.txt."""

    def __init__(self, client: redis.Redis) -> None:
        process._by_crawler[self] = self  # it has the stores that the gate uses
        self.now_is = START
        self.answer: int | bytes | Exception = RULES
        self.requests: list[Request] = []
        self.frontier = Shard(client, FrontierPolicy(host_delay_sec=1.0))
        self.leases = Leases(self.frontier)
        self.config = SimpleNamespace(
            max_redirects=5,
            robots_ttl_sec=86_400.0,
            robots_grace_sec=3600.0,
            robots_on_error="allow",
            robots_timeout_sec=10.0,
            host_delay_sec=1.0,
            max_crawl_delay_sec=120.0,
        )
        self.hosts = Hosts(client, robots_ttl_sec=86_400)
        self.settings = Settings({"USER_AGENT": "feedcrawl/1 (+https://example.org)"})
        self.stats = MemoryStatsCollector(self)
        self.engine = self

    async def download_async(self, request: Request) -> Response:
        self.requests.append(request)
        await asyncio.sleep(0)
        if isinstance(self.answer, Exception):
            raise self.answer
        status, body = (200, self.answer) if isinstance(self.answer, bytes) else (self.answer, b"")
        return Response(request.url, status=status, body=body)

    def now(self) -> datetime:
        return self.now_is

    def pass_(self, seconds: float) -> None:
        self.now_is += timedelta(seconds=seconds)

    def worker(self) -> Callable[..., type[Exception] | None]:
        """What one worker, with a memory of its own, makes of a URL."""
        middleware = RobotsMiddleware(RobotsGate(self), self.leases)

        def check(url: str = URL, **meta: Any) -> type[Exception] | None:
            try:
                return asyncio.run(middleware.process_request(Request(url, meta=meta)))
            except (RobotsBlocked, RobotsUnavailable, CrawlDelayLearned) as error:
                return type(error)

        return check


@pytest.fixture
def world(redis_client: redis.Redis) -> World:
    return World(redis_client)


@pytest.mark.parametrize(
    ("path", "refused"),
    [("/page", None), ("/ours/x", RobotsBlocked), ("/private", None)],  # the group of our name replaces that of all
)
def test_rules_are_those_of_our_name(world: World, path: str, refused: type[Exception] | None) -> None:
    assert world.worker()(f"https://a.test{path}") is refused
    assert [request.url for request in world.requests] == ["https://a.test/robots.txt"]


def test_a_robots_txt_is_requested_once_a_day_for_the_fleet(world: World) -> None:
    first, second = world.worker(), world.worker()
    for check in (first, second, first):
        assert check() is None
    world.pass_(86_399)
    first()
    assert len(world.requests) == 1
    world.pass_(1)
    second()
    assert len(world.requests) == 2


def test_a_robots_txt_is_requested_once_however_many_pages_wait(world: World) -> None:
    middleware = RobotsMiddleware(RobotsGate(world), world.leases)

    async def main() -> None:
        await asyncio.gather(*(middleware.process_request(Request(f"https://a.test/{n}")) for n in range(20)))

    asyncio.run(main())
    assert len(world.requests) == 1


def test_each_origin_has_its_own(world: World) -> None:
    check = world.worker()
    for url in ("https://a.test/", "http://a.test/", "https://a.test:8443/", "https://b.test/"):
        check(url)
    assert [request.url for request in world.requests] == [
        "https://a.test/robots.txt",
        "http://a.test/robots.txt",
        "https://a.test:8443/robots.txt",
        "https://b.test/robots.txt",
    ]


def test_a_request_with_dont_obey_robotstxt_is_not_checked(world: World) -> None:
    assert world.worker()("https://a.test/ours", dont_obey_robotstxt=True) is None
    assert world.requests == []


def test_the_request_for_a_robots_txt_has_a_short_timeout_and_no_check(world: World) -> None:
    world.worker()()
    meta = world.requests[0].meta
    assert meta["dont_obey_robotstxt"]
    assert meta["download_timeout"] == 10.0
    assert meta["handle_httpstatus_all"]


@pytest.mark.parametrize(
    "answer", [404, 403, 401, 410, 304, RedirectRefused("too_many_redirects", ""), AddressRefused("refused")]
)
def test_a_missing_robots_txt_allows_all(world: World, answer: int | Exception) -> None:
    world.answer = answer
    assert world.worker()("https://a.test/ours") is None


@pytest.mark.parametrize("choice", ["allow", "disallow"])
@pytest.mark.parametrize("answer", [500, 503, 429, net.DNSLookupError(), net.ConnectionLost()], ids=str)
def test_a_failing_robots_txt_makes_pages_wait_and_then_follows_the_setting(
    world: World, answer: int | Exception, choice: str
) -> None:
    world.config.robots_on_error, world.answer = choice, answer
    check = world.worker()
    assert check() is RobotsUnavailable
    world.pass_(RETRY_SEC - 1)
    assert check() is RobotsUnavailable
    assert len(world.requests) == 1
    world.pass_(3600 - RETRY_SEC + 1)
    assert check() is (None if choice == "allow" else RobotsBlocked)
    assert len(world.requests) == 2
    world.answer = RULES
    world.pass_(RETRY_SEC)
    assert check() is None
    assert world.worker()("https://a.test/ours") is RobotsBlocked


def logged(caplog: pytest.LogCaptureFixture, event: str) -> list[tuple[str, dict[str, Any]]]:
    names = ("host", "reason", "pages_wait_until", "then", "http_status")
    found = [record for record in caplog.records if record.getMessage() == event]
    return [(each.levelname, {name: vars(each)[name] for name in names if name in vars(each)}) for each in found]


def test_a_failing_robots_txt_is_logged_with_host_reason_and_time(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    world.answer = 503
    check = world.worker()
    for page in ("/page", "/page", "/other"):
        assert check(f"https://a.test{page}") is RobotsUnavailable
    assert world.stats.get_value(WAITING) == 2
    details = {"host": "a.test", "reason": "http_503", "pages_wait_until": "2026-11-27T13:00:00.000Z", "then": "allow"}
    assert logged(caplog, "robots_failed") == [("WARNING", details)]
    world.pass_(RETRY_SEC)
    check()
    assert logged(caplog, "robots_failed")[1:] == [("INFO", details)]  # the first in a row is the news
    world.pass_(3600)
    for page in ("/page", "/other"):
        assert check(f"https://a.test{page}") is None
    assert logged(caplog, "robots_allowed_on_error") == [("WARNING", {"host": "a.test", "http_status": 503})]
    assert world.stats.get_value("feedcrawl/robots_allowed_on_error") == 2
    assert world.stats.get_value(WAITING) == 0


def test_an_unreachable_robots_txt_allows_all_without_a_warning(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    world.answer = AddressRefused("refused")
    assert world.worker()() is None
    assert logged(caplog, "robots_failed") == [("INFO", {"host": "a.test", "reason": "address_refused"})]


def test_a_failed_robots_txt_is_requested_at_once_when_its_host_responds(world: World) -> None:
    gate = RobotsGate(world)
    middleware = RobotsMiddleware(gate, world.leases)

    def check() -> None:
        asyncio.run(middleware.process_request(Request(URL)))

    gate.outdate(URL)  # nothing is known: nothing to forget
    world.answer = 503
    for _ in range(2):
        with pytest.raises(RobotsUnavailable):
            check()
    gate.outdate(URL)
    with pytest.raises(RobotsUnavailable):
        check()
    assert len(world.requests) == 2
    world.answer = RULES
    gate.outdate(URL)
    check()
    check()
    gate.outdate(URL)  # rules that were read are valid for their day
    check()
    assert len(world.requests) == 3


def test_a_grace_is_counted_across_workers(world: World) -> None:
    world.answer = 503
    assert world.worker()() is RobotsUnavailable
    world.pass_(3600)
    assert world.worker()() is None


def test_a_long_crawl_delay_is_learnt_before_the_page_is_requested(world: World) -> None:
    world.answer = b"User-agent: *\nCrawl-delay: 7\n"
    check = world.worker()
    lease = Lease(Task("t", "article", URL, "a.test"), History(), "1-x")
    assert check(lease=lease) is CrawlDelayLearned
    assert check(lease=lease) is None


@pytest.mark.parametrize(
    ("crawl_delay", "longest_sec", "delay"),
    [(7, 120.0, 7000), (0.5, 120.0, 1000), (900, 120.0, 120_000), (900, 300.0, 300_000)],
)
def test_a_crawl_delay_paces_the_host(
    world: World, redis_client: redis.Redis, crawl_delay: float, longest_sec: float, delay: int
) -> None:
    world.config.max_crawl_delay_sec = longest_sec
    world.answer = b"User-agent: *\nCrawl-delay: %s\n" % str(crawl_delay).encode()
    world.worker()()
    assert int(redis_client.hget("fc:{0}:h:a.test", "delay")) == delay


@pytest.mark.parametrize(
    ("then", "delay_sec"),
    [
        (RULES, 1),
        (b"User-agent: *\nCrawl-delay: 0\n", 1),
        (404, 1),
        (b"User-agent: *\nCrawl-delay: 3\n", 3),
        (503, 7),  # unknown, not removed
    ],
)
def test_a_crawl_delay_lasts_as_long_as_robots_txt_states_it(world: World, then: bytes | int, delay_sec: float) -> None:
    world.answer = b"User-agent: *\nCrawl-delay: 7\n"
    world.worker()()
    world.answer = then
    world.pass_(86_400)
    world.worker()()  # another process, which has not read the earlier file
    assert world.frontier.host("a.test").delay_sec == delay_sec


def test_a_delay_is_forgotten_by_the_origin_that_stated_it(world: World) -> None:
    check = world.worker()
    world.answer = b"User-agent: *\nCrawl-delay: 7\n"
    check()
    world.answer = RULES
    check("http://a.test/page")
    assert world.frontier.host("a.test").delay_sec == 7
    world.frontier.pace("a.test", delay_sec=5)  # set for the host, not stated by its robots.txt
    world.pass_(86_400)
    check()
    assert world.frontier.host("a.test").delay_sec == 5


def test_a_crawl_delay_that_returns_is_learnt_again(world: World) -> None:
    lease = Lease(Task("t", "article", URL, "a.test"), History(), "1-x")
    check = world.worker()
    for answer, learnt in ((b"User-agent: *\nCrawl-delay: 7\n", CrawlDelayLearned), (404, None)) * 2:
        world.answer = answer
        assert check(lease=lease) is learnt
        world.pass_(86_400)


def test_bytes_that_are_no_text_survive(world: World) -> None:
    world.answer = b"# \xe9\x80\xff\nUser-agent: *\nDisallow: /caf%C3%A9\n"
    assert world.worker()("https://a.test/caf%C3%A9") is RobotsBlocked
    assert world.worker()("https://a.test/caf%C3%A9") is RobotsBlocked
    assert len(world.requests) == 1


def test_refusals_are_counted(world: World) -> None:
    check = world.worker()
    check("https://a.test/ours")
    check("https://a.test/ours")
    assert world.stats.get_stats() == {"feedcrawl/robots_fetched": 1, "feedcrawl/robots_blocked": 2}


def test_a_request_for_a_robots_txt_takes_the_turn_of_the_page(world: World) -> None:
    world.frontier.enqueue([Task("t", "article", URL, "a.test")])
    (lease,) = world.leases.take(1, LANES).leases
    began = time.monotonic()
    assert world.worker()(lease=lease) is None
    assert time.monotonic() - began >= 0.99
    began = time.monotonic()
    assert world.worker()(lease=lease) is None  # known: the turn at hand is the page's
    assert time.monotonic() - began < 0.99


def test_a_distant_next_turn_is_waited_for_in_the_frontier(world: World) -> None:
    world.frontier.pace("a.test", delay_sec=5)
    world.frontier.enqueue([Task("t", "article", URL, "a.test")])
    (lease,) = world.leases.take(1, LANES).leases
    began = time.monotonic()
    assert world.worker()(lease=lease) is CrawlDelayLearned
    assert time.monotonic() - began < 4


def test_a_check_without_a_turn_waits_for_a_turn(world: World) -> None:
    world.frontier.enqueue([Task("t", "article", URL, "a.test")])
    (lease,) = world.leases.take(1, LANES).leases
    gate = RobotsGate(world)

    async def main() -> int:
        asking = asyncio.ensure_future(gate.fetch(URL))
        await asyncio.sleep(0.3)
        before = len(world.requests)
        world.leases.release(lease, "ok")
        await asyncio.wait_for(asking, 3)
        return before

    began = time.monotonic()
    assert asyncio.run(main()) == 0
    assert len(world.requests) == 1
    assert time.monotonic() - began >= 1.29  # the delay runs from the end of the answer before
    assert world.frontier.host("a.test").busy == 0


def test_a_page_whose_robots_txt_is_requested_elsewhere_gives_its_turn_back(world: World) -> None:
    """Else it would keep the slot that the other waits for."""
    world.frontier.enqueue([Task("t", "article", URL, "a.test")])
    (lease,) = world.leases.take(1, LANES).leases
    gate = RobotsGate(world)

    async def main() -> None:
        asking = asyncio.ensure_future(gate.fetch(URL))
        await asyncio.sleep(0.1)
        with pytest.raises(RobotsElsewhere):
            await gate.check(URL, lease)
        asking.cancel()

    asyncio.run(main())


def test_a_long_robots_txt_is_parsed_off_the_loop_and_stored(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.answer = RULES + b"Disallow: /ours\n" * 2000
    where: list[bool] = []
    parse = robots.parse

    def seen(body: bytes) -> Any:
        where.append(threading.current_thread() is threading.main_thread())
        return parse(body)

    monkeypatch.setattr(robots, "parse", seen)
    assert world.worker()("https://a.test/ours") is RobotsBlocked
    another = world.worker()
    assert another("https://a.test/ours") is RobotsBlocked  # by what the fleet knows
    assert another("https://a.test/other") is None
    assert where == [False, False]
    assert len(world.requests) == 1


def test_cached_rules_are_bounded_by_their_length(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robots_gate, "REMEMBERED_CHARS", 2 * len(RULES))
    gate = RobotsGate(world)
    middleware = RobotsMiddleware(gate, world.leases)
    for name in "abac":
        asyncio.run(middleware.process_request(Request(f"https://{name}.test/page")))
    assert [gate.known(f"https://{name}.test/ours") for name in "abc"] == [False] * 3  # as the store knows them
    assert gate._chars == 2 * len(RULES)


def test_rules_beyond_the_budget_are_logged(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.answer = RULES + b"Disallow: /*x\n" * (robots.MAX_WILDCARDS + 5)
    assert world.worker()() is None
    (line,) = [line for line in caplog.records if line.message == "robots_rules_dropped"]
    assert (line.host, line.rules, line.first) == ("a.test", 5, "Disallow: /*x")


def test_a_download_stops_after_the_requested_first_bytes() -> None:
    request = Request("https://a.test/robots.txt", meta={"first_bytes": 100})
    stop_at_first_bytes(b"x" * 99, request)
    stop_at_first_bytes(b"x" * 500, Request(URL))
    with pytest.raises(StopDownload) as stopped:
        stop_at_first_bytes(b"x", request)
    assert stopped.value.fail is False
