"""What a poll costs that brings nothing new: `crawl feeds` beside a Scrapy spider that does nothing with its 304s.

    python benchmarks/polls.py [--runs 5] [--size 2000] [--sites 500] [--feeds URL [--hosts URL]] [--only raw,plain]

All feeds are subscribed and polled once; from then on every poll is conditional. Then they alternate, each in a fresh
process, in changing order: a bare spider (Scrapy's own scheduler, no-op callback, the same URLs, validators, settings
and resolver), the product as it is (`raw`), and without raw capture (`plain`). Polls only: no article is fetched.
Requests per second are counted from the first response to the last, so that neither the start of a process nor the
linger time speaks. Processor time is that of the crawling process from the first response until its spider is closed,
since some polls end after the last response; the server's stands beside it. Where other work shares the machine, the
ratios of processor time are the ones to read. `stall` is the longest time by which a tick of the event loop (every
5 ms) came late, whatever the reason; `own` the most processor time that the loop's thread used between two ticks, which
is what of a stall the program has to answer for, waits for server and disk left aside. The line `first` is that first
poll of every feed, all of whose entries are new: there the children's processor time stands beside our own.

Without `--feeds` (the URL of a list of feed URLs; `--hosts` that of a hosts(5) file for them) the tests' own origin
serves, from a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import scrapy
from scrapy import signals
from scrapy.crawler import CrawlerProcess
from scrapy.http import Request, Response
from scrapy.utils.project import get_project_settings

from feedcrawl import wiring
from feedcrawl.domain.http.conditional import Validators
from feedcrawl.extensions import logs
from feedcrawl.spiders.feeds import FeedsSpider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from scrapy.crawler import Crawler
    from scrapy.settings import Settings

SITE = Path(__file__).resolve().parents[1] / "tests" / "site"
sys.path.insert(0, str(SITE))

from scrapy_process import clean_environment  # noqa: E402

TICK_SEC = 0.005
ACCEPT = "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.8, */*;q=0.5"
ALIKE: dict[str, Any] = {
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
    "CONCURRENT_ITEMS": 1,
    "TWISTED_DNS_RESOLVER": "feedcrawl.crawl.resolver.PublicResolver",
    "DNSCACHE_ENABLED": False,
    "LOG_LEVEL": "INFO",
}
BARE = ALIKE | {
    "DOWNLOAD_DELAY": 0,
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    "TELNETCONSOLE_ENABLED": False,
    "HTTPERROR_ALLOW_ALL": True,
}
EVERY_HOST_AT_ONCE = {"FEEDCRAWL_HOST_DELAY_SEC": "0", "FEEDCRAWL_HOST_CONCURRENCY": "8", "FEEDCRAWL_LINGER_SEC": "0.1"}
KINDS = ("bare", "raw", "plain")


class Bare(scrapy.Spider):
    """Requests each feed with its validators."""

    name = "bare"
    requests: list[dict[str, Any]]

    async def start(self) -> AsyncIterator[Request]:
        """All requests."""
        for each in self.requests:
            yield Request(each["url"], headers=each["headers"], dont_filter=True)

    def parse(self, response: Response) -> None:
        """Does nothing."""


class Polls(FeedsSpider):
    """The product's spider without articles."""

    lanes = ("poll",)


@dataclass
class Seen:
    """What one run showed; times in seconds."""

    responses: int = 0
    wall_sec: float = 0.0
    cpu_sec: float = 0.0
    server_sec: float = 0.0
    children_sec: float = 0.0
    stall_sec: float = 0.0
    own_sec: float = 0.0
    statuses: dict[str, int] = field(default_factory=dict)

    @property
    def per_sec(self) -> float:
        """Requests per second."""
        return self.responses / self.wall_sec

    @property
    def cpu_ms(self) -> float:
        """Milliseconds of processor time per request, or seconds per 1 000."""
        return 1000 * self.cpu_sec / self.responses


class Watch:
    """Notes responses, processor time and the event loop's stalls of a crawler in this process."""

    def __init__(self, crawler: Crawler, *, with_server: bool) -> None:
        self.seen = Seen()
        self._crawler = crawler
        self._with_server = with_server
        self._begun: tuple[float, float, float] | None = None
        self._due = self._used = float("inf")
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._received, signals.response_received)
        crawler.signals.connect(self._closed, signals.spider_closed)

    def _opened(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._tick()

    def _tick(self) -> None:
        now, used = time.perf_counter(), time.thread_time()
        if self._begun:
            self.seen.stall_sec = max(self.seen.stall_sec, now - self._due)
            self.seen.own_sec = max(self.seen.own_sec, used - self._used)
        self._due, self._used = now + TICK_SEC, used
        self._timer = self._loop.call_later(TICK_SEC, self._tick)

    def _received(self, response: Response) -> None:
        if self._begun is None:
            self._begun = time.perf_counter(), time.process_time(), self._server_sec()
        seen = self.seen
        seen.responses += 1
        seen.wall_sec = time.perf_counter() - self._begun[0]
        seen.statuses[str(response.status)] = seen.statuses.get(str(response.status), 0) + 1

    def _closed(self) -> None:
        self._timer.cancel()
        if self._begun:
            self.seen.cpu_sec = time.process_time() - self._begun[1]
            self.seen.server_sec = self._server_sec() - self._begun[2]

    def _server_sec(self) -> float:
        if not self._with_server:
            return 0.0
        used = wiring.of(self._crawler).client.info("cpu")
        return float(str(used["used_cpu_user"])) + float(str(used["used_cpu_sys"]))


def crawl(kind: str, directory: Path) -> Seen:
    """One crawl in this process; `first` subscribes to all feeds, and leaves the requests for the bare spider."""
    if kind == "bare":
        process = CrawlerProcess(BARE | own_settings())
        crawler = process.create_crawler(Bare)
        arguments: dict[str, Any] = {"requests": json.loads((directory / "requests.json").read_text(encoding="utf-8"))}
    else:
        process = CrawlerProcess(product_settings())
        crawler = process.create_crawler(Polls)
        arguments = {"feeds": str(directory / "feeds.txt")} if kind == "first" else {"now": "1"}
    watch = Watch(crawler, with_server=kind != "bare")
    if kind == "first":
        crawler.signals.connect(lambda: note_requests(crawler, directory), signals.spider_closed, weak=False)
    process.crawl(crawler, **arguments)
    process.start()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    watch.seen.children_sec = children.ru_utime + children.ru_stime
    return watch.seen


def product_settings() -> Settings:
    """The project's settings, with its log lines installed as its own command does."""
    settings = get_project_settings()
    settings.setdict(ALIKE | {"LOG_INSTALL_ROOT_HANDLER": False}, priority="cmdline")
    logs.install(settings)
    return settings


def own_settings() -> dict[str, str]:
    """The settings of ours that the resolver reads, as the environment has them."""
    names = ("FEEDCRAWL_ALLOW_NETWORKS", "FEEDCRAWL_HOSTS_FILE", "FEEDCRAWL_DATA_DIR")
    return {name: os.environ[name] for name in names if name in os.environ}


def note_requests(crawler: Crawler, directory: Path) -> None:
    """Writes the requests of the next poll of each feed to a file, for the spider that has no registry."""
    requests = []
    for feed in wiring.of(crawler).registry.all():
        sent = Validators(feed.polls.etag, feed.polls.last_modified).headers()
        validators = {name: value.decode("ascii") for name, value in sent.items()}
        requests.append({"url": feed.subscription.url, "headers": {"Accept": ACCEPT, **validators}})
    (directory / "requests.json").write_text(json.dumps(requests), encoding="utf-8")


def run(kind: str, directory: Path) -> Seen:
    """One crawl in a fresh process."""
    command = ("--crawl", kind, "--directory", str(directory))
    log = directory / f"{kind}.log"
    out = start(Path(__file__), command, environment(kind, directory), log, stdout=subprocess.PIPE)
    return Seen(**json.loads(out.splitlines()[-1]))


def environment(kind: str, directory: Path) -> dict[str, str]:
    """The data directory and the networks allowed, for one kind of run."""
    own = {
        "SCRAPY_SETTINGS_MODULE": "feedcrawl.settings",
        "FEEDCRAWL_DATA_DIR": str(directory / "data"),
        "FEEDCRAWL_ALLOW_NETWORKS": "127.0.0.0/8",
        "FEEDCRAWL_RAW": "false" if kind == "plain" else "true",
        **EVERY_HOST_AT_ONCE,
    }
    if (directory / "hosts.txt").exists():
        own["FEEDCRAWL_HOSTS_FILE"] = str(directory / "hosts.txt")
    return clean_environment() | own


def start(script: Path, command: Sequence[str], env: dict[str, str], log: Path, stdout: int | None = None) -> str:
    """What a fresh process wrote, its log apart; ends this program with the log's end where it failed."""
    with log.open("w", encoding="utf-8") as errors:
        ran = subprocess.run(
            [sys.executable, str(script), *command], env=env, stdout=stdout, stderr=errors, text=True, check=False
        )
    if ran.returncode:
        sys.exit(f"{' '.join(command)}: status {ran.returncode}\n{log.read_text(encoding='utf-8')[-4000:]}")
    return ran.stdout or ""


@contextlib.contextmanager
def origin_lists(options: argparse.Namespace) -> Iterator[tuple[str, str | None]]:
    """The URLs of the list of feeds and of the hosts file: those given, or those of an origin of our own."""
    if options.feeds:
        yield options.feeds, options.hosts
        return
    command = [sys.executable, str(SITE / "serve.py"), "--hosts", str(options.sites), "--feeds", str(options.size)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as origin:
        assert origin.stdout is not None
        yield origin.stdout.readline().strip(), None
        origin.communicate()


def fetch(url: str, path: Path) -> None:
    """A file of the origin, whatever proxies the environment names."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(url, timeout=30) as answer:
        path.write_bytes(answer.read())


@contextlib.contextmanager
def prepared(options: argparse.Namespace) -> Iterator[tuple[Path, Seen]]:
    """A directory with the lists and data of a first poll, and what that showed."""
    with tempfile.TemporaryDirectory(prefix="fc-bench-") as name, origin_lists(options) as (feeds, hosts):
        directory = Path(name)
        fetch(feeds, directory / "feeds.txt")
        if hosts:
            fetch(hosts, directory / "hosts.txt")
        yield directory, run("first", directory)


def compare(options: argparse.Namespace, directory: Path) -> None:
    """Alternating runs and their medians."""
    kinds = [kind for kind in KINDS if kind == "bare" or kind in options.only.split(",")]
    runs: dict[str, list[Seen]] = {kind: [] for kind in kinds}
    for number in range(options.runs):
        for kind in kinds[number % len(kinds) :] + kinds[: number % len(kinds)]:
            seen = run(kind, directory)
            runs[kind].append(seen)
            if seen.statuses.get("304", 0) < 0.95 * seen.responses:
                sys.exit(f"{kind}: too few were 304: {seen.statuses}")
        for kind in kinds:
            row(str(number + 1), kind, runs[kind][-1:], runs["bare"][-1:])
    for kind in kinds:
        row("median", kind, runs[kind], runs["bare"])


def row(title: str, kind: str, ours: list[Seen], bare: list[Seen]) -> None:
    """One line of the table; ratios are medians of those of neighbouring runs."""
    pairs = list(zip(ours, bare, strict=True))
    figures = [
        f"{statistics.median(run.per_sec for run in ours):.0f}",
        f"{statistics.median(run.per_sec / other.per_sec for run, other in pairs):.2f}",
        f"{statistics.median(run.cpu_ms for run in ours):.2f}",
        f"{statistics.median(other.cpu_ms / run.cpu_ms for run, other in pairs):.2f}",
        f"{statistics.median(1000 * run.server_sec / run.responses for run in ours):.2f}",
        f"{1000 * max(run.stall_sec for run in ours):.0f}",
        f"{1000 * max(run.own_sec for run in ours):.0f}",
    ]
    print(f"| {title} | {kind} | {' | '.join(figures)} |", flush=True)


def add_origin_options(parser: argparse.ArgumentParser) -> None:
    """What is polled."""
    parser.add_argument("--size", type=int, default=2000, help="feeds of the own origin")
    parser.add_argument("--sites", type=int, default=500, help="hosts of the own origin")
    parser.add_argument("--feeds", metavar="URL", help="a list of feed URLs on a loopback origin")
    parser.add_argument("--hosts", metavar="URL", help="a hosts file for them")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    add_origin_options(parser)
    parser.add_argument("--only", default="raw,plain", help="kinds that are compared with the bare spider")
    parser.add_argument("--crawl", choices=["first", *KINDS], help=argparse.SUPPRESS)
    parser.add_argument("--directory", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.crawl:
        print(json.dumps(asdict(crawl(options.crawl, options.directory))))
        return
    with prepared(options) as (directory, first):
        print(
            f"first: {first.responses} polls, {first.per_sec:.0f} per second; per poll {first.cpu_ms:.2f} ms of ours, "
            f"{1000 * first.children_sec / first.responses:.2f} ms of children; stall {1000 * first.stall_sec:.0f} ms, "
            f"own {1000 * first.own_sec:.0f} ms"
        )
        print(
            "| run | kind | requests/s | ratio | CPU, ms | ratio | server CPU, ms | stall, ms | own, ms |", flush=True
        )
        print("|---|---|--:|--:|--:|--:|--:|--:|--:|", flush=True)
        compare(options, directory)


if __name__ == "__main__":
    main()
