"""A web, a Redis and a data directory for whole crawls, and the entries, feeds and pages that they are made of."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import redis
from documents import FIRST_DAY, Item, page, paragraphs, prose, rss
from ledger import Request
from origin import Answer, Origin, OriginServer, Site, document, html
from redis_process import running_redis
from scrapy.settings import Settings
from scrapy_process import Process, Run, clean_environment, run_scrapy

from feedcrawl import settings as project
from feedcrawl.domain.urls import url_uid
from feedcrawl.wiring import Wiring

if TYPE_CHECKING:
    from feedcrawl.store.redis.client import Client

DELAY_SEC = 0.05
START_SEC = 5.0
"""What a worker needs to start on a machine that has little else to do, and some more."""
SETTINGS = {
    "FEEDCRAWL_ALLOW_NETWORKS": "127.1.0.0/16",
    "FEEDCRAWL_HOST_DELAY_SEC": str(DELAY_SEC),
    "FEEDCRAWL_LINGER_SEC": "0.4",
    "FEEDCRAWL_RETRY_BASE_SEC": "0.02",
    "FEEDCRAWL_ARTICLE_TIMEOUT_SEC": "1",
    "FEEDCRAWL_PARSER_PROCESSES": "2",
    "FEEDCRAWL_RENDER": "never",  # whether a machine has a browser must not matter
    "FEEDCRAWL_MIN_FREE_BYTES": "0",  # nor how full its disk is
    "FEEDCRAWL_LOG_FORMAT": "json",
}


@dataclass
class World:
    """What several runs share. Without a `url` they run the embedded server of the data directory."""

    origin: Origin
    url: str | None
    folder: Path
    settings: dict[str, str] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    requests: dict[str, list[Request]] = field(default_factory=dict)
    started: list[Process] = field(default_factory=list)
    starting: dict[Path, float] = field(default_factory=dict)
    slowest_start_sec: float = START_SEC

    @property
    def env(self) -> dict[str, str]:
        own = {"FEEDCRAWL_HOSTS_FILE": str(self.folder / "hosts")} | ({"REDIS_URL": self.url} if self.url else {})
        return SETTINGS | own | self.settings

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def crawl(self, name: str, *arguments: str, spider: str = "feeds", code: int = 0, **settings: str) -> Run:
        """A run to its end; its requests to the origin are stored under its name."""
        before = len(self.origin.ledger.requests)
        options = [word for argument in arguments for word in ("-a", argument)]
        run = run_scrapy("crawl", spider, *options, data_dir=self.data, env=self.env | settings, timeout_sec=90)
        assert run.code == code, f"status {run.code}\n{run.err[-6000:]}"
        self.runs[name], self.requests[name] = run, self.origin.ledger.requests[before:]
        return run

    def start(
        self,
        *arguments: str,
        command: Sequence[str] = ("-m", "scrapy"),
        words: Sequence[str] = ("crawl", "feeds"),
        **settings: str,
    ) -> Process:
        """A run under way, in a process group of its own; it does not outlive the world. `command` is Python's."""
        options = [word for argument in arguments for word in ("-a", argument)]
        path = self.folder / f"log-{len(self.started)}"
        self.starting[path] = time.monotonic()
        with path.open("wb") as log:
            env = clean_environment() | {"FEEDCRAWL_DATA_DIR": str(self.data)} | self.env | settings
            process = Process([*command, *words, *options], env, log, log)
        self.started.append(process)
        return process

    def until(self, condition: Callable[[], object], timeout_sec: float = 40.0, *, starts: int | None = None) -> None:
        """Waits for something to become true: for a time, or as long as this many starts of a worker take here."""
        began = time.monotonic()
        while not condition():
            limit_sec = timeout_sec if starts is None else starts * self._start_sec()
            assert time.monotonic() - began < limit_sec, f"not within {limit_sec:g} s\n{self.logs()[-6000:]}"
            time.sleep(0.01)

    def exit_of(self, worker: Process, starts: int = 8) -> int:
        """The exit status of a worker that ends, within as long as so many starts of a worker take here."""
        self.until(lambda: worker.poll() is not None, starts=starts)
        return worker.wait()

    def leases_expire(self) -> None:
        """Waits until no lease holds: another run then takes what killed or sleeping workers had in hand."""
        with self.wired() as wired:
            self.until(lambda: not _leased(wired.client))

    def _start_sec(self) -> float:
        """How long a worker of this world takes to start, by the slowest that has; no less than START_SEC."""
        for log, began in tuple(self.starting.items()):
            if "Spider opened" in log.read_text(errors="replace"):
                del self.starting[log]
                self.slowest_start_sec = max(self.slowest_start_sec, time.monotonic() - began)
        return self.slowest_start_sec

    def logs(self) -> str:
        """What the runs under way have written."""
        in_order = sorted(self.folder.glob("log-*"), key=lambda path: int(path.name.removeprefix("log-")))
        return "".join(path.read_text(errors="replace") for path in in_order)

    def end(self) -> None:
        for process in self.started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if self.url is None:  # a killed process cannot stop the embedded server
            with contextlib.suppress(redis.ConnectionError), self.client() as client:
                client.shutdown(nosave=True)

    def feeds_file(self, text: str) -> str:
        """The argument that names a file with this list of feeds."""
        (self.folder / "feeds.txt").write_text(text)
        return f"feeds={self.folder / 'feeds.txt'}"

    def client(self) -> redis.Redis:
        url = self.url or f"unix://{self.data / 'redis' / 'valkey.sock'}"
        return redis.Redis.from_url(url, decode_responses=True, encoding_errors="surrogateescape")

    @contextlib.contextmanager
    def wired(self) -> Iterator[Wiring]:
        """What a command of its data directory works with, in this process."""
        settings = Settings()
        settings.setmodule(project, priority="project")
        settings.setdict(self.env | {"FEEDCRAWL_DATA_DIR": str(self.data)}, priority="cmdline")
        with contextlib.closing(Wiring(settings)) as wired:
            yield wired

    def lines(self, kind: str) -> list[dict[str, Any]]:
        """The records of entries/ or articles/, as they were written; a line torn by a kill is left out."""
        files = sorted((self.data / kind).glob("*.ndjson"))
        found = []
        for line in (line for file in files for line in file.read_text("utf-8", "replace").splitlines()):
            with contextlib.suppress(ValueError):
                found.append(json.loads(line))
        return found

    def paths(self, run: str, host: str) -> list[str]:
        return [request.target for request in self.requests[run] if request.host == host]

    def logged(self, run: str, event: str) -> list[dict[str, Any]]:
        lines = (line for line in self.runs[run].err.splitlines() if line.startswith("{"))
        return [record for record in map(json.loads, lines) if record["event"] == event]


@contextlib.contextmanager
def world_in(folder: Path, *, embedded: bool = False, url: str | None = None, **settings: str) -> Iterator[World]:
    """A world of its own, also for fixtures that live longer than a test; on the Redis at `url` if one is named."""
    server = OriginServer()
    with contextlib.ExitStack() as stack:
        stack.callback(server.close)
        if not embedded and url is None:
            url = stack.enter_context(running_redis())
        world = World(server.fresh(), url, folder, settings)
        world.origin.hosts_file = folder / "hosts"
        stack.callback(world.end)
        yield world


def events(client: Client, kind: str) -> list[dict[str, Any]]:
    """The data of the events of a type, in order, with the event's id as `event`."""
    found = [entry for _, entry in client.xrange("feedcrawl:events")]
    return [{"event": entry["id"], **json.loads(entry["data"])} for entry in found if entry["type"] == kind]


def article(client: Client, url: str) -> dict[str, str]:
    """The HASH of the article with this canonical URL."""
    return client.hgetall(f"rss:article_canonical:{url_uid(url)}")


def good_page(name: str, **how: Any) -> Answer:
    return html(page(f"About {name}", paragraphs(name, count=4), published=FIRST_DAY), **how)


def entry(site: Site, name: str, url: str | None = None, *, hour: int = 0, summary: str | None = None) -> Item:
    """An entry whose link is the page `/<name>` of the site, or `url`."""
    return Item(
        title=f"About {name}",
        url=url or site.url(f"/{name}"),
        published=FIRST_DAY + timedelta(hours=hour),
        guid=f"id-{name}",
        summary=prose(name, 20) if summary is None else summary,
        author="Ada Writer",
        categories=("topic",),
    )


def feed(entries: Sequence[Item], version: int = 1, **how: Any) -> Answer:
    how.setdefault("etag", f'"v{version}"')
    return document(rss(entries), content_type="application/rss+xml", **how)


def keys_like(client: Client, pattern: str) -> Iterator[str]:
    """The server's keys that match a pattern."""
    return cast("redis.Redis", client).scan_iter(match=pattern, count=1000)


def _leased(client: Client) -> int:
    """The leases that have not expired by the server's clock."""
    seconds, micros = client.time()
    now_ms = 1000 * seconds + micros / 1000
    return sum(client.zcount(key, f"({now_ms}", "+inf") for key in keys_like(client, "fc:*:leases"))
