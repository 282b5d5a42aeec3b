"""The scheduler's contract, on real crawlers in processes of their own: a plain spider on the frontier.

Times come from the origin's ledger. They are compared with each other and with generous bounds only.
"""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import IO, Any

import pytest
import redis
from origin import Origin, Site, failure, hanging, html, redirect
from redis_process import running_redis
from scrapy_process import Process, clean_environment, pipe

from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.domain.urls import hostname
from feedcrawl.store.frontier.interface import Frontier
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy
from feedcrawl.store.redis.keys import DEAD_LETTERS

CRAWLER = """
import json, logging, sys, time

import scrapy
from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.utils.project import get_project_settings

plan = json.loads(sys.argv[1])


def tell(kind, **values):
    print(json.dumps({"kind": kind, "at": time.monotonic(), **values}), flush=True)


class Probe(scrapy.Spider):
    name = "probe"
    forever = plan["forever"]

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.ended, signals.spider_closed)
        return spider

    async def start(self):
        for each in plan["start"]:
            errback = {"errback": self.failed} if plan["errback"] else {}
            yield scrapy.Request(**each, callback=self.parse, **errback)

    def parse(self, response, **kwargs):
        asked = {name: value for name, value in response.meta.items() if name in ("depth", "colour")}
        tell("page", url=response.url, status=response.status, kwargs=kwargs, meta=asked)
        if "boom" in response.url:
            raise ValueError("boom")
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.parse)

    def failed(self, failure):
        tell("failed", url=failure.request.url, error=type(failure.value).__name__)

    def ended(self, spider, reason):
        tell("closed", reason=reason, stats={k: v for k, v in self.crawler.stats.get_stats().items() if type(v) is int})


class Tell(logging.Handler):
    def emit(self, record):
        tell("log", name=record.getMessage())


settings = get_project_settings()
settings.setdict(plan["settings"], priority="cmdline")
process = AsyncCrawlerProcess(settings)
for name in ("feedcrawl", "scrapy.crawler"):
    logging.getLogger(name).addHandler(Tell())
    logging.getLogger(name).setLevel("INFO")
process.crawl(Probe)
tell("opening")
process.start()
"""


@dataclass
class Crawl:
    """A crawler under way. `reports` are the lines that it has printed so far."""

    process: Process
    out: IO[bytes]
    reports: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.out:
            with contextlib.suppress(ValueError):
                self.reports.append(json.loads(line))

    def wait(self, timeout_sec: float = 40.0) -> "Crawl":
        try:
            self.process.wait(timeout_sec)
        except subprocess.TimeoutExpired:
            pytest.fail(f"still running after {timeout_sec:g} s: {self.reports[-8:]}")
        self._reader.join(timeout=60)
        return self

    def until(self, condition: Callable[[], object], timeout_sec: float = 20.0) -> None:
        """Waits for something to become true while the crawl runs."""
        end = time.monotonic() + timeout_sec
        while not condition():
            assert self.process.poll() is None, f"it has ended: {self.reports[-8:]}"
            assert time.monotonic() < end, f"not within {timeout_sec:g} s: {self.reports[-8:]}"
            time.sleep(0.02)

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [each for each in list(self.reports) if each["kind"] == kind]

    def logged(self, name: str) -> bool:
        return any(each["name"] == name for each in self.of("log"))

    @property
    def urls(self) -> list[str]:
        return [each["url"] for each in self.of("page")]

    @property
    def reason(self) -> str:
        return str(self.of("closed")[0]["reason"])

    @property
    def stats(self) -> dict[str, int]:
        stats: dict[str, int] = self.of("closed")[0]["stats"]
        return stats


class Crawlers:
    """Starts crawlers of one test on one Redis; none outlives the test."""

    def __init__(self, url: str, hosts: Path, folder: Path) -> None:
        self.script = folder / "crawler.py"  # a file, since Scrapy reads the source of callbacks
        self.script.write_text(CRAWLER)
        self.own = {
            "LOG_INSTALL_ROOT_HANDLER": False,
            "REDIS_URL": url,
            "FEEDCRAWL_DATA_DIR": str(folder / "data"),
            "FEEDCRAWL_HOSTS_FILE": str(hosts),
            "FEEDCRAWL_ALLOW_NETWORKS": "127.1.0.0/16",
            "FEEDCRAWL_HOST_DELAY_SEC": 0.01,
            "FEEDCRAWL_LINGER_SEC": 0.2,
        }
        self.started: list[Crawl] = []

    def __call__(
        self, *start: str | dict[str, Any], forever: bool = False, errback: bool = True, **settings: Any
    ) -> Crawl:
        named = {name if name.isupper() else f"FEEDCRAWL_{name.upper()}": value for name, value in settings.items()}
        requests = [{"url": each} if isinstance(each, str) else each for each in start]
        plan = {"start": requests, "forever": forever, "errback": errback, "settings": self.own | named}
        out, end = pipe()
        with end:
            process = Process([str(self.script), json.dumps(plan)], clean_environment(), end)
        self.started.append(Crawl(process, out))
        return self.started[-1]

    def end(self) -> None:
        for crawl in self.started:
            crawl.process.kill()
            crawl.process.wait()
            crawl._reader.join(timeout=60)
            crawl.out.close()


@pytest.fixture
def crawlers(redis_server: str, redis_client: redis.Redis, hosts_file: Path, tmp_path: Path) -> Iterator[Crawlers]:
    made = Crawlers(redis_server, hosts_file, tmp_path)
    yield made
    made.end()


@pytest.fixture
def frontier(redis_client: redis.Redis) -> Frontier:
    """The frontier as another program of the fleet sees it."""
    return Shard(redis_client, FrontierPolicy(host_delay_sec=0.01))


def short_leases(seconds: float) -> dict[str, float]:
    """A lease, and time limits below it."""
    limits = dict.fromkeys(("fetch", "article", "robots", "sitemap"), seconds * 0.8)
    return {"lease_sec": seconds} | {f"{name}_timeout_sec": limit for name, limit in limits.items()}


def page(url: str, **payload: Any) -> Task:
    return Task(f"page:{url}", "page", url, hostname(url), payload={"callback": "parse", "spider": "probe", **payload})


def paged(site: Site, count: int) -> list[str]:
    return [site.serve(f"/{number}", html(f"<p>{number}")) for number in range(count)]


def statuses(frontier: Frontier, ids: Sequence[str]) -> Counter[str]:
    return Counter(found[1].status if (found := frontier.find(each)) else "gone" for each in ids)


# --- a plain spider ---


def test_a_plain_spider_works_and_fetches_each_page_once(origin: Origin, crawlers: Crawlers) -> None:
    sites = [origin.site(f"site-{number}.test") for number in range(3)]
    for site in sites:
        links = "".join(f"<a href='{other.url(f'/{number}')}'></a>" for other in sites for number in range(4))
        site.serve("/", html(links))
        for number in range(4):
            site.serve(f"/{number}", html(links))
    crawl = crawlers(*[site.url() for site in sites]).wait()
    assert crawl.reason == "finished"
    requested = Counter((request.host, request.path) for request in origin.ledger.of())
    assert set(requested.values()) == {1}
    assert len(requested) == len(crawl.urls) == 3 * 5
    assert {page["meta"]["depth"] for page in crawl.of("page")} == {0, 1}


def test_all_fields_of_a_request_arrive(origin: Origin, crawlers: Crawlers) -> None:
    site = origin.site("site-1.test")
    url = site.serve("/form", html("ok"))
    crawl = crawlers(
        {
            "url": url,
            "method": "POST",
            "body": "a=\N{EURO SIGN}&b=2",
            "headers": {"X-One": "1"},
            "cb_kwargs": {"number": 7, "names": ["a", "b"]},
            "meta": {"colour": "blue"},
        },
        url,
    ).wait()
    posted, plain = sorted(origin.ledger.of(site.name, "/form"), key=lambda request: request.method, reverse=True)
    assert (posted.method, posted.body) == ("POST", "a=\N{EURO SIGN}&b=2".encode())
    assert posted.header("X-One") == "1"
    assert plain.method == "GET"
    colours = {json.dumps(page["kwargs"]): page["meta"].get("colour") for page in crawl.of("page")}
    assert colours == {'{"number": 7, "names": ["a", "b"]}': "blue", "{}": None}


def test_only_dont_filter_repeats_a_request(origin: Origin, crawlers: Crawlers) -> None:
    site = origin.site("site-1.test")
    urls = paged(site, 2)
    for _ in range(2):
        assert crawlers({"url": urls[0], "dont_filter": True}, urls[1]).wait().reason == "finished"
    requested = Counter(request.path for request in origin.ledger.of(site.name))
    assert requested == {"/0": 2, "/1": 1}


@pytest.mark.parametrize("errback", [True, False])
def test_pages_that_fail_end(origin: Origin, crawlers: Crawlers, redis_client: redis.Redis, errback: bool) -> None:
    site = origin.site("site-1.test")
    urls = [
        site.serve("/missing", failure(404)),
        site.serve("/broken", failure(500)),
        site.serve("/mended", failure(500), html("ok")),
        site.serve("/boom", html("ok")),
    ]
    crawl = crawlers(*urls, errback=errback, retry_base_sec=0.1, max_attempts=2, linger_sec=8).wait()
    assert crawl.reason == "finished"
    requested = Counter(request.path for request in origin.ledger.of(site.name))
    assert requested == {"/missing": 1, "/broken": 2, "/mended": 2, "/boom": 2}
    assert [url for url in crawl.urls if url.endswith("mended")] == [urls[2]]
    letters = [json.loads(letter) for letter in redis_client.lrange(DEAD_LETTERS, 0, -1)]
    reasons = {letter["url"].rpartition("/")[2]: letter["reason"] for letter in letters}
    assert reasons == {"missing": "http_404", "broken": "http_500", "boom": "callback_failed"}
    if errback:
        assert Counter(each["url"] for each in crawl.of("failed"))[urls[0]] == 1


# --- turns ---


def test_a_slow_host_delays_no_other(origin: Origin, crawlers: Crawlers, frontier: Frontier) -> None:
    slow, quick = origin.site("slow.test"), [origin.site(f"quick-{number}.test") for number in range(20)]
    frontier.pace("slow.test", delay_sec=0.1)
    frontier.enqueue([page(url) for url in paged(slow, 50)])
    frontier.enqueue([page(url) for site in quick for url in paged(site, 2)])
    crawl = crawlers(CONCURRENT_REQUESTS=16).wait()
    assert len(crawl.urls) == 50 + 40
    assert min(origin.ledger.gaps("slow.test")) >= 0.08
    assert origin.ledger.max_open("slow.test") == 1
    first, last = (origin.ledger.of("slow.test")[index].received for index in (0, -1))
    quick_ones = [request.received for site in quick for request in origin.ledger.of(site.name)]
    assert max(quick_ones) < first + (last - first) / 2


def test_the_engine_wakes_when_a_host_is_due(origin: Origin, crawlers: Crawlers, frontier: Frontier) -> None:
    site = origin.site("site-1.test")
    frontier.pace(site.name, delay_sec=0.7)
    frontier.enqueue([page(url) for url in paged(site, 6)])
    crawlers(linger_sec=3).wait()
    requested = origin.ledger.of(site.name)
    late = sorted(later.received - earlier.answered - 0.7 for earlier, later in pairwise(requested))
    assert late[0] > -0.05  # the delay runs from the end of the answer, which the origin sees a little sooner
    assert late[len(late) // 2] < 1.0  # an engine that only looks every five seconds would be late by seconds


def test_tasks_of_another_process_are_found(origin: Origin, crawlers: Crawlers, frontier: Frontier) -> None:
    site = origin.site("site-1.test")
    urls = paged(site, 2)
    crawl = crawlers(urls[0], forever=True)
    crawl.until(lambda: crawl.urls and not frontier.counts()["leased"])
    pushed = time.monotonic()
    frontier.enqueue([page(urls[1])])
    crawl.until(lambda: len(crawl.urls) == 2, timeout_sec=4)
    assert origin.ledger.of(site.name)[1].received - pushed < 2.5


def test_a_crawl_waits_only_for_tasks_that_are_due_soon(origin: Origin, crawlers: Crawlers, frontier: Frontier) -> None:
    site = origin.site("site-1.test")
    soon, late = paged(site, 2)
    frontier.enqueue([page(soon)], delay_sec=2.5)
    frontier.enqueue([page(late)], delay_sec=600)
    crawl = crawlers(linger_sec=5).wait()
    assert crawl.urls == [soon]
    assert crawl.reason == "finished"
    assert crawl.of("closed")[0]["at"] - origin.ledger.of(site.name)[0].received < 8
    assert statuses(frontier, [page(late).id]) == {"pending": 1}


def test_a_crawl_without_tasks_ends_at_once(crawlers: Crawlers) -> None:
    crawl = crawlers(linger_sec=30).wait()
    assert crawl.reason == "finished"
    assert crawl.of("closed")[0]["at"] - crawl.of("opening")[0]["at"] < 15


# --- redirects ---


def test_a_redirect_on_the_host_waits_for_its_turn(origin: Origin, crawlers: Crawlers, frontier: Frontier) -> None:
    site = origin.site("site-1.test")
    url = site.serve("/old", redirect("/middle"))
    site.serve("/middle", redirect("/new", 302))
    site.serve("/new", html("ok"))
    frontier.pace(site.name, delay_sec=0.4)
    frontier.enqueue([page(url), page(site.serve("/other", html("ok")))])
    crawl = crawlers(linger_sec=3).wait()
    assert sorted(crawl.urls) == sorted([site.url("/new"), site.url("/other")])
    assert min(origin.ledger.gaps(site.name)) >= 0.35
    assert len(origin.ledger.of(site.name)) == 4
    assert frontier.counts() == {"pending:page": 0, "fetched:page": 2, "leased": 0}


def test_a_redirect_to_another_host_is_the_same_task_there(
    origin: Origin, crawlers: Crawlers, frontier: Frontier
) -> None:
    here, there = origin.site("here.test"), origin.site("there.test")
    url = here.serve("/old", redirect(there.url("/new")))
    there.serve("/new", html("ok"))
    frontier.enqueue([page(url, cb_kwargs={"number": 3})])
    crawl = crawlers().wait()
    assert [(arrived["url"], arrived["kwargs"]) for arrived in crawl.of("page")] == [(there.url("/new"), {"number": 3})]
    task, history = frontier.find(page(url).id)
    assert (task.url, task.host, history.status) == (there.url("/new"), "there.test", "fetched")
    assert frontier.counts() == {"pending:page": 0, "fetched:page": 1, "leased": 0}


def test_hosts_that_redirect_to_each_other_for_ever_end(origin: Origin, crawlers: Crawlers, frontier: Frontier) -> None:
    here, there = origin.site("here.test"), origin.site("there.test")
    url = here.serve("/a", redirect(there.url("/b")))
    there.serve("/b", redirect(here.url("/a")))
    frontier.enqueue([page(url)])
    crawlers(max_redirects=4).wait()
    assert 2 <= len(origin.ledger.of()) <= 6
    assert frontier.find(page(url).id)[1].status == "dead"


# --- a store in trouble ---


@pytest.fixture
def own_server(crawlers: Crawlers) -> Iterator[redis.Redis]:
    """A server that a test may stop."""
    with running_redis() as url, redis.Redis.from_url(url, decode_responses=True) as client:
        crawlers.own["REDIS_URL"] = url
        yield client
        with contextlib.suppress(ProcessLookupError):
            os.kill(client.pid, signal.SIGCONT)


@pytest.fixture
def server_pid(own_server: redis.Redis) -> int:
    own_server.pid = int(own_server.info("server")["process_id"])
    return own_server.pid


def test_a_server_that_hangs_is_a_pause(
    origin: Origin, crawlers: Crawlers, own_server: redis.Redis, server_pid: int
) -> None:
    site = origin.site("site-1.test")
    own_server_frontier = Shard(own_server, FrontierPolicy())
    own_server_frontier.pace(site.name, delay_sec=0.1)
    tasks = [page(url) for url in paged(site, 15)]
    own_server_frontier.enqueue(tasks)
    crawl = crawlers(REDIS_PARAMS={"socket_timeout": 0.5}, **short_leases(5))
    crawl.until(lambda: len(crawl.urls) >= 3)
    os.kill(server_pid, signal.SIGSTOP)
    crawl.until(lambda: crawl.logged("store_away"))
    os.kill(server_pid, signal.SIGCONT)
    crawl.wait()
    assert crawl.logged("store_back")
    assert crawl.reason == "finished"
    assert set(crawl.urls) == {task.url for task in tasks}
    assert statuses(own_server_frontier, [task.id for task in tasks]) == {"fetched": 15}


def test_requests_yielded_while_the_server_hangs_are_not_lost(
    origin: Origin, crawlers: Crawlers, own_server: redis.Redis, server_pid: int
) -> None:
    site = origin.site("site-1.test")
    links = "".join(f"<a href='/{number}'></a>" for number in range(5))
    paged(site, 5)

    def stopping(_: object) -> Any:
        os.kill(server_pid, signal.SIGSTOP)
        return html(links)

    url = site.serve("/start", stopping, html(links))
    crawl = crawlers(url, REDIS_PARAMS={"socket_timeout": 0.3})
    crawl.until(lambda: crawl.logged("store_away"))
    os.kill(server_pid, signal.SIGCONT)
    crawl.wait()
    assert crawl.reason == "finished"
    assert {request.path for request in origin.ledger.of(site.name)} == {"/start", "/0", "/1", "/2", "/3", "/4"}


@pytest.mark.parametrize("how", [signal.SIGSTOP, signal.SIGKILL])
def test_a_server_that_stays_away_ends_the_crawl(
    origin: Origin, crawlers: Crawlers, own_server: redis.Redis, server_pid: int, how: signal.Signals
) -> None:
    site = origin.site("site-1.test")
    frontier = Shard(own_server, FrontierPolicy())
    frontier.pace(site.name, delay_sec=0.2)
    frontier.enqueue([page(url) for url in paged(site, 50)])
    crawl = crawlers(REDIS_PARAMS={"socket_timeout": 0.3}, redis_outage_sec=2, forever=True)
    crawl.until(lambda: len(crawl.urls) >= 2)
    os.kill(server_pid, how)
    crawl.wait(30)
    assert crawl.reason == "store_away"
    assert crawl.stats["feedcrawl/scheduler/failed"] == 1


# --- leases and workers ---


def test_closing_gives_leases_back_without_an_attempt(origin: Origin, crawlers: Crawlers, frontier: Frontier) -> None:
    site = origin.site("site-1.test")
    frontier.pace(site.name, delay_sec=0.3)
    tasks = [page(url) for url in paged(site, 30)]
    frontier.enqueue(tasks)
    others = [page(origin.site(f"other-{number}.test").serve("/", html("ok", wait_sec=0.5))) for number in range(8)]
    frontier.enqueue(others)
    crawl = crawlers(forever=True, CONCURRENT_REQUESTS=2)
    crawl.until(lambda: len(crawl.urls) >= 2)
    crawl.process.send_signal(signal.SIGTERM)
    crawl.wait()
    assert crawl.reason == "shutdown"
    found = [frontier.find(task.id)[1] for task in (*tasks, *others)]
    assert {history.status for history in found} == {"fetched", "pending"}
    assert {history.attempts for history in found} == {0}
    assert frontier.counts()["leased"] == 0


def test_a_worker_that_lost_its_lease_does_no_harm(
    origin: Origin, crawlers: Crawlers, frontier: Frontier, redis_client: redis.Redis
) -> None:
    site = origin.site("site-1.test")
    task = page(site.serve("/slow", html("ok", wait_sec=3)))
    frontier.enqueue([task])
    crawl = crawlers(**short_leases(2.4), DOWNLOAD_TIMEOUT=20)
    crawl.until(lambda: origin.ledger.of(site.name))
    assert frontier.remove(task.id)
    frontier.enqueue([task], delay_sec=600)
    crawl.wait()
    assert crawl.logged("lease_lost")
    assert crawl.reason == "finished"
    assert frontier.find(task.id)[1].status == "pending"
    assert len(origin.ledger.of(site.name)) == 1


def test_two_workers_share_the_work(origin: Origin, crawlers: Crawlers, frontier: Frontier) -> None:
    sites = [origin.site(f"site-{number}.test") for number in range(10)]
    frontier.enqueue([page(url) for site in sites for url in paged(site, 10)])
    first = crawlers(take_batch=4)
    second = crawlers(take_batch=4)
    first.wait()
    second.wait()
    requested = Counter((request.host, request.path) for request in origin.ledger.of())
    assert (len(requested), set(requested.values())) == (100, {1})
    assert len(first.urls) + len(second.urls) == 100
    assert max(origin.ledger.max_open(site.name) for site in sites) == 1


# --- the drain ---


def test_a_drain_waits_for_responses(origin: Origin, crawlers: Crawlers, frontier: Frontier) -> None:
    site = origin.site("site-1.test")
    task = page(site.serve("/slow", html("ok", wait_sec=2)))
    frontier.enqueue([task])
    crawl = crawlers(drain_sec=20)
    crawl.until(lambda: origin.ledger.of(site.name))
    crawl.process.send_signal(signal.SIGTERM)
    crawl.wait()
    assert crawl.urls == [task.url]
    assert frontier.find(task.id)[1].status == "fetched"


def test_a_drain_ends_in_time(origin: Origin, crawlers: Crawlers, frontier: Frontier) -> None:
    sites = [origin.site(f"site-{number}.test") for number in range(3)]
    tasks = [page(site.serve("/hangs", hanging())) for site in sites]
    frontier.enqueue(tasks)
    crawl = crawlers(drain_sec=1.5, max_attempts=1)
    crawl.until(lambda: len(origin.ledger.of()) == 3)
    crawl.process.send_signal(signal.SIGTERM)
    crawl.wait(15)
    assert crawl.reason == "shutdown"
    assert crawl.logged("drain_cut")
    found = [frontier.find(task.id)[1] for task in tasks]
    assert [(history.status, history.attempts) for history in found] == [("pending", 0)] * 3
    assert frontier.counts()["leased"] == 0


def test_a_second_signal_ends_at_once(origin: Origin, crawlers: Crawlers, frontier: Frontier) -> None:
    site = origin.site("site-1.test")
    frontier.enqueue([page(site.serve("/hangs", hanging()))])
    crawl = crawlers(drain_sec=25)
    crawl.until(lambda: origin.ledger.of(site.name))
    crawl.process.send_signal(signal.SIGTERM)
    crawl.until(lambda: any("shutting down gracefully" in each["name"] for each in crawl.of("log")))
    crawl.process.send_signal(signal.SIGTERM)
    crawl.wait(10)


def test_a_poll_cut_by_a_shutdown_counts_no_failure(
    origin: Origin, crawlers: Crawlers, redis_client: redis.Redis, frontier: Frontier
) -> None:
    url = origin.site("site-1.test").serve("/feed", hanging())
    settings = crawlers.own | {"FEEDCRAWL_DRAIN_SEC": 1, "FEEDCRAWL_MAX_ATTEMPTS": 1}
    given = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    process = Process(["-m", "scrapy", "crawl", "feeds", "-a", f"feeds={url}", *given], clean_environment())
    end = time.monotonic() + 30
    while not origin.ledger.of():
        assert time.monotonic() < end
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0
    (feed_id,) = redis_client.smembers("fc:{0}:feeds")
    history = frontier.find(f"feed:{feed_id}")[1]
    assert (history.status, history.attempts, history.last_error) == ("pending", 0, "shutdown")
    assert redis_client.lrange(f"fc:{{0}}:journal:{feed_id}", 0, -1) == []
