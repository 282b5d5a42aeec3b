"""What a million feeds cost who looks and who starts: seconds of commands, of the dashboard, and of a worker's start.

    python benchmarks/fleet.py [--feeds 1000000] [--rounds 3] [--no-aof]

A server of its own holds so many feeds, each polled once, two on a host; one in a hundred fails, and one is due, at an
origin on loopback. `start` counts from the start of the process to the first request at that origin. Commands run in
a fresh process each; pages are read from one running `scrapy api`. Wall time is what a person waits, processor time is
that of the process; the best of the rounds counts, since others may use the machine.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.request import urlopen

import redis
from api import cpu_sec, running, until

from feedcrawl.domain import dates
from feedcrawl.domain.cadence import CadencePolicy, Observation, PollState, next_poll
from feedcrawl.domain.cadence.state import to_json
from feedcrawl.domain.subscriptions.records import PollRecord, Subscription, dump
from feedcrawl.services.subscriptions import finding
from feedcrawl.services.subscriptions.registering import poll_task
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy
from feedcrawl.store.redis import keys
from feedcrawl.store.subscriptions.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from feedcrawl.domain.subscriptions.published import JournalLineRecord
    from feedcrawl.store.redis.client import Client

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "site"))

from redis_process import running_redis
from scrapy_process import REPOSITORY, clean_environment

NOW = datetime.now(UTC)
CHUNK = 1600
FAILING = 100
"""One feed in so many fails."""
RSS = b"<rss version='2.0'><channel><title>Due</title><item><guid>1</guid><title>One</title></item></channel></rss>"
COMMANDS = {
    "`scrapy feeds --failing`": ("feeds", "--failing"),
    "`scrapy feeds URL`": ("feeds", "https://www.site-7.example/feeds/number-14.xml"),
    "`scrapy why URL`": ("why", "https://www.site-7.example/feeds/number-14.xml"),
    "`scrapy feeds --category rare`": ("feeds", "--category", "rare"),
    "`scrapy feeds --budget`": ("feeds", "--budget"),
}
PAGES = {
    "the dashboard's first page": "/",
    "its list of feeds": "/dashboard/feeds",
    "its list of failing feeds": "/dashboard/feeds?failing=1",
    "a search in its list of feeds": "/dashboard/feeds?q=number-1234",
    "`GET /feeds`": "/feeds?limit=50",
    "`GET /metrics`": "/metrics",
}


def fill(client: Client, size: int) -> None:
    """Stores so many feeds as their first polls leave them, one in `FAILING` after three failures."""
    registry, frontier = Registry(client), Shard(client, FrontierPolicy())
    good = _polled()
    bad = replace(good, last_status=500, last_result="http_error", cadence=to_json(PollState(errors=3)))
    for first in range(0, size, CHUNK):
        numbers = range(first, min(first + CHUNK, size))
        subscriptions = [_subscription(number) for number in numbers]
        with client.pipeline(transaction=False) as pipe:
            for number, each in zip(numbers, subscriptions, strict=True):
                fails = number % FAILING == 0
                for command in _stored(registry, each, bad if fails else good):
                    pipe.execute_command(*command)
            pipe.execute()
        frontier.enqueue_each((poll_task(each), random.uniform(3600, 86_400), "") for each in subscriptions)


def _polled() -> PollRecord:
    """The state of a feed that has shown twenty entries in twenty days and was polled once."""
    published = tuple(NOW - timedelta(days=day, hours=day % 7) for day in range(20))
    seen = Observation(200, 20, 0, published, published)
    decision = next_poll(PollState(), seen, now=NOW, policy=CadencePolicy(), jitter=0.0)
    return PollRecord(
        etag='"0123456789"',
        last_modified="Fri, 27 Nov 2026 08:15:00 GMT",
        body_hash="0" * 64,
        digest="1" * 64,
        body_bytes=20_000,
        shown=20,
        type="rss",
        title="News of a site",
        last_status=200,
        last_result="fetched",
        cadence=to_json(decision.state),
        interval_sec=decision.interval_sec,
        next_at=dates.rfc3339(decision.next_at),
        last_fetch_at=dates.rfc3339(NOW),
        last_success_at=dates.rfc3339(NOW),
        reason=decision.reason,
        candidates=tuple((each.rule, each.wait_sec) for each in decision.candidates),
    )


def _subscription(number: int) -> Subscription:
    url = f"https://www.site-{number // 2}.example/feeds/number-{number}.xml"
    categories = ("news", "rare") if number % 10_000 == 0 else ("news",)
    return Subscription(str(uuid.UUID(int=random.getrandbits(128))), url, categories, added_at=dates.rfc3339(NOW))


def _stored(registry: Registry, each: Subscription, polls: PollRecord) -> Iterator[list[str | int]]:
    yield ["SADD", f"{keys.shard()}feeds", each.id]
    yield ["HSET", f"{keys.shard()}feed_by_url", finding.url_key(each.url), each.id]
    yield from registry.moved(dump(each), each.id)
    yield from registry.commit(each.id, polls, _line(each, polls))
    yield from registry.failing_changed(each.id, PollRecord(), polls)


def _line(each: Subscription, polls: PollRecord) -> JournalLineRecord:
    at, result = dates.rfc3339(NOW), polls.last_result or ""
    line: JournalLineRecord = {
        "poll_id": f"{each.id}@{at}",
        "at": at,
        "http_status": polls.last_status or 200,
        "result": result,
        "interval_after_sec": polls.interval_sec or 0.0,
        "reason": polls.reason or "",
        "next_at": polls.next_at or at,
    }
    return line


def command(words: tuple[str, ...], env: dict[str, str]) -> tuple[float, float]:
    """Seconds by the clock, and of processor time, of `scrapy` with these words."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    run = [sys.executable, "-m", "scrapy", *words]
    subprocess.run(run, cwd=REPOSITORY, env=env, stdout=subprocess.DEVNULL, check=True)
    lasted, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return lasted, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


@contextlib.contextmanager
def due_feed() -> Iterator[tuple[str, threading.Event]]:
    """The URL of a feed, and an event that is set as soon as the feed is requested."""
    requested = threading.Event()

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path != "/robots.txt":
                requested.set()
            self.send_response(404 if self.path == "/robots.txt" else 200)
            self.send_header("Content-Length", str(0 if self.path == "/robots.txt" else len(RSS)))
            self.end_headers()
            if self.path != "/robots.txt":
                self.wfile.write(RSS)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/feed-{uuid.uuid4().hex}.xml", requested
        server.shutdown()


def start(env: dict[str, str], folder: Path) -> tuple[float, float]:
    """Seconds until a new worker requests the feed that is due, and those of its processor time."""
    with due_feed() as (url, requested):
        subprocess.run(
            [sys.executable, "-m", "scrapy", "subscribe", "--as-is", url],
            cwd=REPOSITORY, env=env, stdout=subprocess.DEVNULL, check=True,
        )  # fmt: skip
        began = time.monotonic()
        crawl = ("-m", "scrapy", "crawl", "feeds", "-a", "forever=1")
        with running(*crawl, env=env, log=folder / "crawl.log") as process:
            if not requested.wait(120):
                raise SystemExit((folder / "crawl.log").read_text()[-2000:])
            return time.monotonic() - began, cpu_sec(process)


def page(path: str, port: int) -> tuple[float, float]:
    """Seconds until a page is read; the API's processor time is not known."""
    began = time.monotonic()
    with urlopen(f"http://127.0.0.1:{port}{path}") as answer:
        answer.read()
    return time.monotonic() - began, 0.0


def best(name: str, rounds: int, measure: Callable[[], tuple[float, float]]) -> None:
    """Prints the row with the least of each figure."""
    taken = [measure() for _ in range(rounds)]
    wall, cpu = (min(each) for each in zip(*taken, strict=True))
    print(f"| {name} | {wall:.2f} | {f'{cpu:.2f}' if cpu else ''} |", flush=True)


def main() -> None:
    """Fills a server, then measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--feeds", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--port", type=int, default=9136)
    parser.add_argument("--no-aof", action="store_true", help="fill the server without its append-only file")
    options = parser.parse_args()
    aof = ("--appendonly no",) if options.no_aof else ()
    with tempfile.TemporaryDirectory(prefix="fc-fleet-") as name, running_redis(*aof) as url:
        folder, began = Path(name), time.monotonic()
        with redis.Redis.from_url(url, decode_responses=True) as client:
            fill(cast("Client", client), options.feeds)
            memory = int(client.info("memory")["used_memory"]) / options.feeds
            if options.no_aof:
                client.config_set("appendonly", "yes")
                until(lambda: not client.info("persistence")["aof_rewrite_in_progress"], "the append-only file")
        print(f"{options.feeds} feeds of {memory:.0f} bytes stored in {time.monotonic() - began:.0f} s\n")
        env = clean_environment() | {"REDIS_URL": url, "FEEDCRAWL_DATA_DIR": f"{name}/data"}
        env.pop("PYTHONDONTWRITEBYTECODE", None)  # users have compiled modules
        env |= {"FEEDCRAWL_ALLOW_NETWORKS": "127.0.0.0/8", "FEEDCRAWL_RENDER": "never"}
        print("| what | wall, s | processor, s |\n|---|--:|--:|", flush=True)
        best("bare `scrapy version`", options.rounds, partial(command, ("version",), env))
        best("a worker's start, to its first poll", options.rounds, partial(start, env, folder))
        for what, words in COMMANDS.items():
            best(what, options.rounds, partial(command, words, env))
        api = ("-m", "scrapy", "api", "-s", f"FEEDCRAWL_API_PORT={options.port}")
        with running(*api, env=env, log=folder / "api.log"):
            until(lambda: urlopen(f"http://127.0.0.1:{options.port}/readyz").status == 200, "the API")
            for what, path in PAGES.items():
                best(what, options.rounds, partial(page, path, options.port))


if __name__ == "__main__":
    main()
