"""Requests per second of a spider that does nothing, on Scrapy's own scheduler and on the frontier.

    python benchmarks/scheduler_throughput.py [--runs 5] [--hosts 50] [--feeds 2000] [--origin-feeds URL]

Both have the same settings, URLs and origin; they alternate, each in a fresh process, every second pair in the other
order. The bare spider yields its requests from `start()`; the other one finds them as tasks that were pushed before,
takes them from a Redis with AOF on a unix socket, and ends each lease as a crawl does. Counted from the spider's start
to its last response, so that neither the start of the process nor the linger time speaks. Processor time per request,
which other work on the machine disturbs less, is that of the crawling process alone. Without `--origin-feeds` (the URL
of a list of feed URLs) the tests' own origin serves 304s from a process of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import redis
import scrapy
from scrapy import signals
from scrapy.crawler import CrawlerProcess
from scrapy.http import Request, Response

from feedcrawl import wiring
from feedcrawl.domain.frontier.tasks import Lease, Task
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

SITE = Path(__file__).resolve().parents[1] / "tests" / "site"
sys.path.insert(0, str(SITE))

from redis_process import running_redis  # noqa: E402
from scrapy_process import clean_environment  # noqa: E402

PER_HOST = 8
VALIDATOR = {"If-None-Match": '"1"'}
SETTINGS: dict[str, Any] = {
    "CONCURRENT_REQUESTS": 32,
    "CONCURRENT_REQUESTS_PER_DOMAIN": PER_HOST,
    "CONCURRENT_ITEMS": 4,
    "DOWNLOAD_DELAY": 0,
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    "TELNETCONSOLE_ENABLED": False,
    "HTTPERROR_ALLOW_ALL": True,
    "LOG_LEVEL": "ERROR",
}
FRONTIER_SETTINGS: dict[str, Any] = {
    "SCHEDULER": "feedcrawl.crawl.scheduler.FrontierScheduler",
    "FEEDCRAWL_HOST_DELAY_SEC": 0,
    "FEEDCRAWL_HOST_CONCURRENCY": PER_HOST,
    "FEEDCRAWL_LINGER_SEC": 0.1,
}


class Bare(scrapy.Spider):
    """Yields all requests from `start()`, to Scrapy's own scheduler."""

    name = "bare"
    urls: list[str]

    async def start(self) -> AsyncIterator[Request]:
        """All requests."""
        for url in self.urls:
            yield Request(url, headers=VALIDATOR, dont_filter=True)

    def parse(self, response: Response) -> None:
        """Does nothing."""


class OnFrontier(scrapy.Spider):
    """Yields nothing: what it fetches is in the frontier."""

    name = "frontier"
    urls: list[str]

    async def start(self) -> AsyncIterator[Request]:
        """No requests."""
        no_requests: tuple[Request, ...] = ()
        for request in no_requests:
            yield request

    def request_for(self, lease: Lease) -> Request:
        """A task's request."""
        return Request(lease.task.url, headers=VALIDATOR, dont_filter=True)

    def parse(self, response: Response) -> None:
        """Does what a crawl does at the least: frees the host and ends the task."""
        wiring.of(self.crawler).leases.done(response.meta["lease"], signal="ok")


class Measured(NamedTuple):
    """Responses of a crawl, and seconds from the spider's start to the last of them, by the clock and of processor."""

    responses: int
    wall_sec: float
    cpu_sec: float

    @property
    def per_sec(self) -> float:
        """Requests per second."""
        return self.responses / self.wall_sec

    @property
    def cpu_ms(self) -> float:
        """Milliseconds of processor time per request."""
        return 1000 * self.cpu_sec / self.responses


def crawl(kind: str, urls: list[str]) -> Measured:
    """One crawl in this process."""
    extra = FRONTIER_SETTINGS | {"REDIS_URL": os.environ["REDIS_URL"]} if kind == "frontier" else {}
    process = CrawlerProcess(SETTINGS | extra)
    crawler = process.create_crawler(OnFrontier if kind == "frontier" else Bare)
    wall: list[float] = []
    cpu: list[float] = []

    def note(**_: Any) -> None:
        wall.append(time.perf_counter())
        cpu.append(time.process_time())

    crawler.signals.connect(note, signals.spider_opened, weak=False)
    crawler.signals.connect(note, signals.response_received, weak=False)
    process.crawl(crawler, urls=urls)
    process.start()
    return Measured(len(wall) - 1, wall[-1] - wall[0], cpu[-1] - cpu[0])


def push(url: str, urls: list[str]) -> None:
    """An empty server with one task per URL."""
    with redis.Redis.from_url(url, decode_responses=True) as client:
        client.flushall()
        frontier = Shard(client, FrontierPolicy(host_delay_sec=0, host_concurrency=PER_HOST))
        frontier.enqueue(
            Task(id=f"page:{number}", kind="page", url=one, host=urlsplit(one).hostname or "")
            for number, one in enumerate(urls)
        )


def measure(kind: str, feeds: Path, redis_url: str) -> Measured:
    """One crawl in a fresh process."""
    urls = feeds.read_text(encoding="utf-8").split()
    if kind == "frontier":
        push(redis_url, urls)
    ran = subprocess.run(
        [sys.executable, __file__, "--crawl", kind, "--list", str(feeds)],
        env=clean_environment() | {"REDIS_URL": redis_url, "FEEDCRAWL_DATA_DIR": str(feeds.parent)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if ran.returncode or not ran.stdout.strip():
        sys.exit(f"{kind}: exit status {ran.returncode}\n{ran.stdout}\n{ran.stderr}")
    seen = Measured(*json.loads(ran.stdout.splitlines()[-1]))
    if seen.responses != len(urls):
        sys.exit(f"{kind}: {seen.responses} responses for {len(urls)} URLs\n{ran.stderr}")
    return seen


@contextlib.contextmanager
def feed_list(options: argparse.Namespace) -> Iterator[str]:
    """The URL of the list of feeds: the one that was given, or that of an origin for the time of this context."""
    if options.origin_feeds:
        yield options.origin_feeds
        return
    command = [sys.executable, str(SITE / "serve.py"), "--hosts", str(options.hosts), "--feeds", str(options.feeds)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as origin:
        assert origin.stdout is not None
        yield origin.stdout.readline().strip()
        origin.communicate()


def compare(options: argparse.Namespace, feeds: Path) -> None:
    runs: dict[str, list[Measured]] = {"bare": [], "frontier": []}
    print("| run | bare, requests/s | frontier, requests/s | ratio | bare, CPU ms | frontier, CPU ms | ratio |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    with running_redis() as redis_url:
        for run in range(options.runs):
            for kind in sorted(runs, reverse=run % 2 == 1):
                runs[kind].append(measure(kind, feeds, redis_url))
            print_row(str(run + 1), runs["bare"][-1:], runs["frontier"][-1:])
    print_row("median", runs["bare"], runs["frontier"])


def print_row(title: str, bare: list[Measured], frontier: list[Measured]) -> None:
    pairs = list(zip(bare, frontier, strict=True))
    figures = [
        f"{statistics.median(run.per_sec for run in bare):.0f}",
        f"{statistics.median(run.per_sec for run in frontier):.0f}",
        f"{statistics.median(ours.per_sec / theirs.per_sec for theirs, ours in pairs):.2f}",
        f"{statistics.median(run.cpu_ms for run in bare):.2f}",
        f"{statistics.median(run.cpu_ms for run in frontier):.2f}",
        f"{statistics.median(ours.cpu_ms / theirs.cpu_ms for theirs, ours in pairs):.2f}",
    ]
    print(f"| {' | '.join([title, *figures])} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--hosts", type=int, default=50)
    parser.add_argument("--feeds", type=int, default=2000)
    parser.add_argument("--origin-feeds", metavar="URL", help="a list of feed URLs on a loopback origin")
    parser.add_argument("--crawl", choices=["bare", "frontier"], help=argparse.SUPPRESS)
    parser.add_argument("--list", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.crawl:
        print(json.dumps(crawl(options.crawl, options.list.read_text(encoding="utf-8").split())))
        return
    with tempfile.TemporaryDirectory(prefix="fc-bench-") as directory, feed_list(options) as url:
        feeds = Path(directory) / "feeds.txt"
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(url, timeout=30) as answer:
            feeds.write_bytes(answer.read())
        compare(options, feeds)


if __name__ == "__main__":
    main()
