"""What the engine may rely on: no method raises, nothing is lost, nothing is done twice. The engine is a stand-in."""

import asyncio
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from scrapy import Request, Spider
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector

from feedcrawl import wiring
from feedcrawl.crawl.scheduler import FILES, LEASED_FOR_EACH, MOST_ENDING, FrontierScheduler
from feedcrawl.domain.frontier.tasks import Lease, Task
from feedcrawl.settings import from_environment
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy
from feedcrawl.store.redis.errors import StoreUnavailable

URL = "http://a.test/"


class Plain(Spider):
    name = "plain"
    forever = False

    def failed(self, failure: Any) -> None:
        pass


class Feeds(Plain):
    """A spider with tasks of its own."""

    name = "feeds"

    def request_for(self, lease: Lease) -> Request | None:
        if lease.task.payload.get("broken"):
            raise KeyError("broken")
        return None if lease.task.payload.get("nothing") else Request(lease.task.url)


class Crawler:
    """A crawler with an engine that hands requests straight to the scheduler, as Scrapy's does."""

    def __init__(self, url: str, spider: Spider, **given: Any) -> None:
        own = {"REDIS_URL": url, "FEEDCRAWL_HOST_DELAY_SEC": 0, "FEEDCRAWL_LINGER_SEC": 1}
        self.settings = Settings(from_environment({}) | own | given)
        self.stats = MemoryStatsCollector(self)
        self.spider = spider
        self.engine: Any = self
        self.busy = False
        self.closed: list[str] = []
        self.scraper = SimpleNamespace()
        self._slot = SimpleNamespace(nextcall=SimpleNamespace(schedule=lambda: None))
        self.scheduler = FrontierScheduler.from_crawler(self)

    def needs_backout(self) -> bool:
        return self.busy

    def crawl(self, request: Request) -> None:
        self.scheduler.enqueue_request(request)

    async def close_spider_async(self, *, reason: str) -> None:
        self.closed.append(reason)


class Away:
    """Makes the frontier's server be away and come back."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch = monkeypatch

    def __call__(self, scheduler: FrontierScheduler) -> None:
        def fail(*_: Any, **__: Any) -> Any:
            raise StoreUnavailable("unreachable", "gone")

        self._patch.setattr(scheduler.leases._frontier, "_run", fail)

    def back(self) -> None:
        self._patch.undo()


@pytest.fixture
def away() -> Iterator[Away]:
    with pytest.MonkeyPatch.context() as patch:
        yield Away(patch)


@pytest.fixture
def run(redis_server: str, redis_client: redis.Redis) -> Any:
    """Runs a test's body in a loop, with a scheduler that is open."""

    def run(body: Any, spider: Spider | None = None, **given: Any) -> Crawler:
        async def main() -> Crawler:
            crawler = Crawler(redis_server, spider or Plain(), **given)
            crawler.scheduler.open(crawler.spider)
            try:
                await body(crawler.scheduler, crawler)
            finally:
                crawler.scheduler.close("finished")
                wiring.of(crawler).close()
            return crawler

        return asyncio.run(main())

    return run


def task(number: int = 0, kind: str = "page", **fields: Any) -> Task:
    """A page of the plain spider, unless the fields make it another task."""
    own = {"spider": "plain"} if kind == "page" else {}
    payload = own | fields.pop("payload", {})
    return Task(f"t{number}", kind, f"http://h{number}.test/", f"h{number}.test", payload=payload, **fields)


async def settled(seconds: float = 0.05) -> None:
    await asyncio.sleep(seconds)


def urls(scheduler: FrontierScheduler) -> list[str]:
    found = []
    while request := scheduler.next_request():
        found.append(request.url)
    return found


def test_a_request_goes_out_under_a_lease_and_comes_once(run: Any) -> None:
    async def body(scheduler: FrontierScheduler, crawler: Crawler) -> None:
        assert scheduler.enqueue_request(Request(URL, meta={"colour": "blue"}))
        assert not scheduler.enqueue_request(Request(URL))
        request = scheduler.next_request()
        assert (request.url, request.meta["colour"]) == (URL, "blue")
        assert scheduler.leases.holds(request.meta["lease"])
        assert scheduler.next_request() is None
        scheduler.leases.done(request.meta["lease"])
        assert not scheduler.enqueue_request(Request(URL))
        assert scheduler.enqueue_request(Request(URL, dont_filter=True))
        assert urls(scheduler) == [URL]

    run(body)


def test_requests_that_cannot_travel_are_dropped_with_a_word(run: Any, caplog: Any) -> None:
    async def body(scheduler: FrontierScheduler, crawler: Crawler) -> None:
        assert not scheduler.enqueue_request(Request(URL, callback=lambda response: None))
        assert not scheduler.enqueue_request(Request(URL, meta={"x": object()}))
        assert not scheduler.enqueue_request(Request("data:,x"))
        assert scheduler.next_request() is None
        assert crawler.stats.get_value("feedcrawl/scheduler/unusable") == 3

    run(body)
    assert [record.message for record in caplog.records if record.name.startswith("feedcrawl")] == [
        "request_unusable"
    ] * 3


def test_a_continuation_waits_for_its_turn_and_is_dropped_after_its_lease(run: Any) -> None:
    async def body(scheduler: FrontierScheduler, crawler: Crawler) -> None:
        scheduler.leases.enqueue([task()])
        request = scheduler.next_request()
        hop = request.replace(url="http://h0.test/2")
        assert scheduler.enqueue_request(hop)
        assert scheduler.has_pending_requests()
        await settled()
        assert urls(scheduler) == ["http://h0.test/2"]
        assert scheduler.leases._frontier.counts()["pending:page"] == 1
        scheduler.leases.done(request.meta["lease"])
        assert not scheduler.enqueue_request(request.replace(url="http://h0.test/3"))

    run(body)


def test_a_task_that_comes_due_is_handed_to_the_engine(run: Any) -> None:
    async def body(scheduler: FrontierScheduler, crawler: Crawler) -> None:
        assert scheduler.next_request() is None
        scheduler.leases.enqueue([task()], delay_sec=0.1)
        await settled(0.3)
        assert [request.url for request in scheduler._ready] == ["http://h0.test/"]

    run(body)


def test_no_task_is_taken_while_every_slot_is_busy(run: Any) -> None:
    async def body(scheduler: FrontierScheduler, crawler: Crawler) -> None:
        crawler.busy = True
        scheduler.leases.enqueue([task()])
        await settled(0.1)
        assert scheduler.leases.leased == {}
        crawler.busy = False
        assert urls(scheduler) == ["http://h0.test/"]

    run(body)


@pytest.mark.parametrize(
    ("delay", "forever", "pending"), [(None, False, False), (0.5, False, True), (60, False, False), (None, True, True)]
)
def test_whether_there_is_work(run: Any, delay: float | None, forever: bool, pending: bool) -> None:
    async def body(scheduler: FrontierScheduler, crawler: Crawler) -> None:
        crawler.spider.forever = forever
        if delay is not None:
            scheduler.leases.enqueue([task()], delay_sec=delay)
        assert scheduler.has_pending_requests() is pending

    run(body)


def test_few_media_files_are_leased_at_once_and_none_stays_behind(run: Any) -> None:
    spider = Feeds()
    spider.lanes = ("poll", "page", "file")

    async def body(scheduler: FrontierScheduler, crawler: Crawler) -> None:
        scheduler.leases.enqueue([task(number, "file") for number in range(FILES + 1)])
        leased = [scheduler.next_request() for _ in range(FILES)]
        scheduler._take()
        assert scheduler.next_request() is None  # nor is anything due that may be taken now
        crawler.busy = True
        for request in leased:
            scheduler.leases.done(request.meta["lease"])
        await settled()  # the timer has looked, and an engine that is busy was given nothing
        crawler.busy = False
        assert scheduler.has_pending_requests()
        assert len(urls(scheduler)) == 1

    run(body, spider, FEEDCRAWL_TAKE_BATCH=FILES)


def test_leases_of_other_workers_keep_no_crawl_open(run: Any, redis_client: redis.Redis) -> None:
    async def body(scheduler: FrontierScheduler, crawler: Crawler) -> None:
        scheduler.leases.enqueue([task()])
        assert Shard(redis_client, FrontierPolicy()).take(1, lanes=scheduler._lanes).leases
        assert not scheduler.has_pending_requests()

    run(body)


def test_a_lease_of_a_dead_worker_that_ends_soon_keeps_the_crawl(run: Any, redis_client: redis.Redis) -> None:
    """Its response was read, so that it blocks no host: nothing else shows that the task will be due."""

    async def body(scheduler: FrontierScheduler, crawler: Crawler) -> None:
        scheduler.leases.enqueue([task()])
        dead = Shard(redis_client, FrontierPolicy(lease_sec=20))
        (lease,) = dead.take(1, lanes=scheduler._lanes).leases
        dead.release(lease, "ok")
        assert scheduler.has_pending_requests()

    run(body)


def test_a_lease_that_only_the_store_knows_of_keeps_the_crawl(run: Any, caplog: Any) -> None:
    """The server was killed after it had answered to an end, and before the end was in its append-only file."""

    async def body(scheduler: FrontierScheduler, crawler: Crawler) -> None:
        scheduler.leases.enqueue([task()])
        assert scheduler.leases._frontier.take(1, lanes=scheduler._lanes).leases
        assert scheduler.has_pending_requests()
        assert "strays_returned" in caplog.text
        await settled()
        assert urls(scheduler) == ["http://h0.test/"]

    run(body)


# --- tasks of several kinds ---


def test_a_broken_task_stops_no_other(run: Any, caplog: Any) -> None:
    async def body(scheduler: FrontierScheduler, crawler: Crawler) -> None:
        payloads = ({"broken": 1}, {"nothing": 1}, {})
        scheduler.leases.enqueue([task(number, "article", payload=payload) for number, payload in enumerate(payloads)])
        assert urls(scheduler) == ["http://h2.test/"]
        history = scheduler.leases._frontier.find("t0")[1]
        assert (history.status, history.attempts, history.last_error) == ("pending", 1, "task_unusable")

    run(body, Feeds())
    assert "task_unusable" in caplog.text


def test_a_page_whose_callback_is_missing_costs_an_attempt(run: Any) -> None:
    async def body(scheduler: FrontierScheduler, crawler: Crawler) -> None:
        scheduler.leases.enqueue([task(payload={"callback": "no_such_method"})])
        assert urls(scheduler) == []
        assert scheduler.leases._frontier.find("t0")[1].attempts == 1

    run(body)


@pytest.mark.parametrize(
    ("spider", "other"),
    [(Plain, task(kind="article")), (Plain, task(payload={"spider": "x"})), (Feeds, task(payload={"spider": "x"}))],
)
def test_tasks_of_other_spiders_are_left_to_them(run: Any, spider: type[Spider], other: Task) -> None:
    async def body(scheduler: FrontierScheduler, crawler: Crawler) -> None:
        scheduler.leases.enqueue([other])
        assert urls(scheduler) == []
        assert scheduler.leases.leased == {}
        assert scheduler.leases._frontier.find("t0")[1].attempts == 0
        assert not scheduler.has_pending_requests()

    run(body, spider())


def test_a_plain_spider_takes_no_polls(run: Any) -> None:
    async def body(scheduler: FrontierScheduler, crawler: Crawler) -> None:
        scheduler.leases.enqueue([task(kind="feed")])
        assert urls(scheduler) == []
        assert scheduler.leases._frontier.find("t0")[1].last_error is None

    run(body)


# --- a store that is away ---


def test_no_task_is_lost_while_the_store_is_unreachable(run: Any, away: Away) -> None:
    async def body(scheduler: FrontierScheduler, crawler: Crawler) -> None:
        scheduler.leases.enqueue([task(1)])
        under_way = scheduler.next_request()
        away(scheduler)
        assert scheduler.enqueue_request(Request(URL))
        assert not scheduler.enqueue_request(under_way.replace(url="http://h1.test/2"))
        assert scheduler.next_request() is None
        assert scheduler.has_pending_requests()
        scheduler._beat()
        assert crawler.closed == []
        away.back()
        scheduler._take()
        assert sorted([*urls(scheduler), *(request.url for request in scheduler._ready)]) == [URL, "http://h1.test/"]
        assert len(scheduler) == 0

    run(body)


def test_a_task_that_was_not_given_back_keeps_the_crawl_open(run: Any, away: Away) -> None:
    async def body(scheduler: FrontierScheduler, crawler: Crawler) -> None:
        scheduler.leases.enqueue([task()])
        lease = scheduler.next_request().meta["lease"]
        away(scheduler)
        scheduler.leases.give_back_eventually(lease, reason="pipeline_failed", counted=True)
        away.back()  # before anyone else has noticed
        assert scheduler.has_pending_requests()
        await settled(0.1)
        assert scheduler.leases._frontier.find("t0")[1].last_error == "pipeline_failed"
        assert scheduler.leases.unreturned == 0

    run(body)


def test_a_store_that_stays_away_closes_the_spider(run: Any, away: Away) -> None:
    async def body(scheduler: FrontierScheduler, crawler: Crawler) -> None:
        away(scheduler)
        assert scheduler.next_request() is None
        scheduler._away_since -= 11
        scheduler._take()
        scheduler._take()
        assert not scheduler.has_pending_requests()
        await settled()
        assert crawler.closed == ["store_away"]

    crawler = run(body, FEEDCRAWL_REDIS_OUTAGE_SEC=10)
    assert crawler.stats.get_value("feedcrawl/scheduler/failed") == 1


def test_a_spider_that_cannot_prepare_gives_all_tasks_back(run: Any) -> None:
    class Unprepared(Feeds):
        def prepare(self, leases: Any) -> None:
            raise StoreUnavailable("timeout", "")

    async def body(scheduler: FrontierScheduler, crawler: Crawler) -> None:
        scheduler.leases.enqueue([task(number, "article") for number in range(3)])
        assert urls(scheduler) == []
        assert scheduler.leases.leased == {}
        assert scheduler.leases._frontier.find("t0")[1].attempts == 0

    run(body, Unprepared())


def test_a_lost_lease_is_logged_and_counted(run: Any, caplog: Any) -> None:
    async def body(scheduler: FrontierScheduler, crawler: Crawler) -> None:
        scheduler.leases.enqueue([task()])
        scheduler.next_request()
        scheduler.leases._frontier.remove("t0")
        scheduler._beat()
        assert crawler.stats.get_value("feedcrawl/scheduler/lease_lost") == 1

    run(body)
    assert "lease_lost" in caplog.text


def test_closing_returns_leased_tasks_and_deletes_none(run: Any, redis_client: redis.Redis) -> None:
    async def body(scheduler: FrontierScheduler, crawler: Crawler) -> None:
        scheduler.leases.enqueue([task(number) for number in range(5)])
        assert scheduler.next_request()
        scheduler.flush()

    run(body)
    assert redis_client.hgetall("fc:{0}:holders") == {}
    assert redis_client.zcard("fc:{0}:leases") == 0
    assert len(redis_client.keys("fc:{0}:t:*")) == 5


def test_a_worker_leases_a_bounded_number_of_tasks(run: Any) -> None:
    async def body(scheduler: FrontierScheduler, _: Any) -> None:
        most = 2 * LEASED_FOR_EACH
        scheduler.leases.enqueue([task(number) for number in range(most + 4)])
        await settled()
        leased = list(scheduler.leases.leased.values())
        assert len(leased) == most
        for lease in leased[:4]:
            scheduler.leases.done(lease)
        await settled()
        assert len(scheduler.leases.leased) == most
        assert leased[0].id not in scheduler.leases.leased

    run(body, CONCURRENT_REQUESTS=2)


def test_no_task_is_taken_while_many_ends_wait_for_the_store(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(scheduler: FrontierScheduler, _: Any) -> None:
        leases, answers = scheduler.leases, threading.Event()
        end = leases._frontier.end

        def end_later(endings: Any) -> Any:
            answers.wait(10)
            return end(endings)

        monkeypatch.setattr(leases._frontier, "end", end_later)
        leases.enqueue([task(number) for number in range(MOST_ENDING)])
        await settled()
        ended = [asyncio.create_task(leases.done_soon(each)) for each in list(leases.leased.values())]
        await settled()
        assert (len(ended), leases.ending) == (MOST_ENDING, MOST_ENDING)
        leases.enqueue([task(MOST_ENDING)])
        await settled()
        assert f"t{MOST_ENDING}" not in leases.leased
        answers.set()
        await asyncio.gather(*ended)
        await settled()
        assert list(leases.leased) == [f"t{MOST_ENDING}"]

    run(body, CONCURRENT_REQUESTS=MOST_ENDING, FEEDCRAWL_TAKE_BATCH=MOST_ENDING)
