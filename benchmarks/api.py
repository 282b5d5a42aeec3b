"""How long a reader of the API waits: 100 GET a second of mixed kinds, with much stored, beside a running crawl.

    python benchmarks/api.py [--feeds 10000] [--articles 100000] [--rate 100] [--seconds 60] [--quiet] [--port 9135]

A Redis of its own (AOF everysec) and a data directory are filled through the stores: feeds that were polled, articles
of some 1.5 kB of text with their indexes and media records, a collection, events, lines on the disk. Then `scrapy api`
and, unless `--quiet`, `scrapy crawl feeds` on 400 feeds of a local origin run beside each other, on the same cores as
this client. Requests go out at a constant rate whether or not earlier ones were answered, and a request's time counts
from the moment at which it was due, so that a slow answer hides none that come after it. What `/healthz` waits, which
reads nothing, is the machine's own: processes and threads that wait for a core, this client among them. Figures are
of all answers of a kind, in milliseconds; an answer that is no success is named and fails the run.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import os
import random
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

from scrapy.settings import Settings

from feedcrawl import settings as project
from feedcrawl.domain.articles.media import media_id, new_media, started, succeeded
from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.subscriptions.records import PollRecord, Subscription
from feedcrawl.domain.urls import url_uid
from feedcrawl.services.articles import tasks as articles
from feedcrawl.wiring import Wiring

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from feedcrawl.domain.articles.fields import ArticleFields
    from feedcrawl.domain.subscriptions.published import JournalLineRecord

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "site"))

from documents import paragraphs
from redis_process import running_redis
from scrapy_process import REPOSITORY, clean_environment

CHUNK = 500
CATEGORIES = ("village", "harbour", "council", "school", "sports", "weather", "markets", "letters")
LANGUAGES = ("en", "en-GB", "de", "fr")
ACTOR = "local"
NOTHING = "nothing (`/healthz`)"
IDLE_SEC = 4.0
"""A connection that was unused for so long is closed."""


class Stock:
    """The stored records, and the names that requests use."""

    def __init__(self, wired: Wiring, chance: random.Random) -> None:
        self._wired, self._chance = wired, chance
        self.feeds: list[str] = []
        self.uids: list[str] = []

    def fill(self, feeds: int, count: int) -> None:
        """All of it, through the stores."""
        now = self._wired.now()
        for at in range(0, feeds, CHUNK):
            self._subscribe(range(at, min(at + CHUNK, feeds)), now)
        for at in range(0, count, CHUNK):
            self._articles(range(at, min(at + CHUNK, count)), now, count)

    def _subscribe(self, numbers: range, now: datetime) -> None:
        wired = self._wired
        polls = PollRecord(etag='"1"', body_bytes=20_000, shown=20, type="rss", title="News", last_status=200)
        for number in numbers:
            url = f"https://www.site-{number // 2}.example/feeds/number-{number}.xml"
            subscription = Subscription(str(uuid.uuid4()), url, (CATEGORIES[number % 8],), added_at=rfc3339(now))
            wired.registry.add(subscription, url)
            commands = wired.registry.commit(subscription.id, polls, self._line(subscription, now))
            with wired.client.pipeline(transaction=False) as pipe:
                for command in commands:
                    pipe.execute_command(*command)
                pipe.execute()
            self.feeds.append(subscription.id)

    def _articles(self, numbers: range, now: datetime, count: int) -> None:
        wired, records = self._wired, []
        with wired.client.pipeline(transaction=False) as pipe:
            for number in numbers:
                at = now - timedelta(seconds=6 * 86_400 * (1 - number / count))
                record = self._record(number, at)
                self.uids.append(record["uid"])
                wired.articles.write(pipe, record["uid"], articles.hash_fields(record))
                wired.articles.index(pipe, record["uid"], record["categories"], record["fetched_ts"])
                media = started(new_media(record["uid"], record["url"], rfc3339(at)), rfc3339(at))
                values = {"canonical_url": record["canonical_url"], "content_hash": record["content_hash"]}
                wired.media_records.write(pipe, succeeded(media, rfc3339(at), **values))
                if number % 100 == 0:
                    wired.media_records.hold(pipe, media)
                    wired.media_records.keep(pipe, succeeded(media, rfc3339(at), **values), record)
                    wired.collections.attach(pipe, [f"{ACTOR}/default"], media.media_id, at.timestamp())
                wired.events.add(pipe, articles.article_events(record, updated=False))
                records.append(record)
            pipe.execute()
        wired.article_lines.append(now.date(), *records)

    @staticmethod
    def _line(subscription: Subscription, now: datetime) -> JournalLineRecord:
        at = rfc3339(now)
        return {
            "poll_id": f"{subscription.id}@{at}",
            "at": at,
            "http_status": 304,
            "result": "not_modified",
            "interval_after_sec": 3600.0,
            "reason": "min-interval",
            "next_at": at,
        }

    def _record(self, number: int, at: datetime) -> ArticleFields:
        url = f"https://www.site-{number % 5000}.example/article/{number}"
        blocks = paragraphs(f"a {number % 997}", count=3)
        category = CATEGORIES[number % 8]
        text = "\n".join(blocks)
        return {
            "type": "article", "uid": url_uid(url), "url": url, "canonical_url": url, "final_url": url,
            "category": category, "categories": [category], "fetched_ts": round(at.timestamp(), 3),
            "fetched_at": rfc3339(at),
            "status": "success", "http_status": 200, "feed_id": self.feeds[number % len(self.feeds)],
            "entry_uid": f"id-{number}", "fetch_id": str(uuid.UUID(int=number)), "title": f"Story {number}",
            "clean_text": text, "text_len": len(text), "raw_len": 3 * len(text), "abstract": blocks[0], "image": None,
            "authors": ["Ada Writer"], "published": rfc3339(at), "modified": None, "language": LANGUAGES[number % 4],
            "site_name": "Site", "content_html": "".join(f"<p>{block}</p>" for block in blocks),
            "content_hash": articles.content_hash(f"{number}{text}"), "extractor": "prose",
        }  # fmt: skip

    def kinds(self) -> dict[str, tuple[int, Callable[[], str]]]:
        """Kinds of requests, each with its weight and its target."""
        pick = self._chance.choice
        since = rfc3339(datetime.now(UTC) - timedelta(days=1))
        return {
            NOTHING: (10, lambda: "/healthz"),
            "an article": (30, lambda: f"/articles/{pick(self.uids)}"),
            "articles, the newest 50": (10, lambda: "/articles"),
            "articles of a category": (6, lambda: f"/articles?category={pick(CATEGORIES)}&limit=20"),
            "articles of a feed": (4, lambda: f"/articles?feed={pick(self.feeds)}&limit=20"),
            "articles in a language since a day": (4, lambda: f"/articles?language=fr&limit=20&since={since}"),
            "a media record": (14, lambda: f"/media/{media_id(pick(self.uids))}"),
            "a collection": (4, lambda: "/collections/default?limit=20"),
            "a collection as Atom": (4, lambda: "/collections/default.atom?limit=20"),
            "events, 100": (6, lambda: "/events?limit=100"),
            "a feed": (8, lambda: f"/feeds/{pick(self.feeds)}"),
            "feeds": (4, lambda: "/feeds?limit=50"),
            "why a feed is polled next": (2, lambda: f"/feeds/{pick(self.feeds)}/why"),
            "a feed's fetches": (2, lambda: f"/feeds/{pick(self.feeds)}/fetches"),
            "the frontier": (2, lambda: "/frontier"),
        }


class Client:
    """Connections to one server that stay open; as many as are needed at a time."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter, float]] = []
        self.opened = 0

    async def get(self, target: str) -> tuple[int, int]:
        """Status and bytes of an answer."""
        reader, writer = self._still_open() or await self._opened()
        writer.write(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
        await reader.readexactly(length)
        if "connection: close" in head:
            writer.close()
        else:
            self._free.append((reader, writer, time.monotonic() + IDLE_SEC))
        return int(head.split(" ", 2)[1]), length

    def _still_open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        """A connection that the server has not ended meanwhile, as it may."""
        now = time.monotonic()
        self._free = [each for each in self._free if now < each[2] and not each[0].at_eof()]
        return self._free.pop()[:2] if self._free else None

    async def _opened(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        self.opened += 1
        return await asyncio.open_connection("127.0.0.1", self._port)


async def load(
    stock: Stock, client: Client, rate: float, seconds: float
) -> tuple[dict[str, list[float]], Counter[str]]:
    """The times of all requests by kind, from when each was due; and what was no success."""
    kinds, times, bad = stock.kinds(), defaultdict[str, list[float]](list), Counter[str]()
    names, weights = list(kinds), [weight for weight, _ in kinds.values()]
    clock = asyncio.get_running_loop().time

    async def one(kind: str, due: float) -> None:
        target = kinds[kind][1]()
        try:
            status, _ = await client.get(target)
        except (OSError, asyncio.IncompleteReadError, ValueError) as error:
            bad[f"{kind}: {error!r}"] += 1
            return
        times[kind].append(clock() - due)
        if status != 200:
            bad[f"{kind}: {status}"] += 1

    begun, tasks = clock(), list[asyncio.Task[None]]()
    for number, kind in enumerate(random.Random(7).choices(names, weights, k=round(rate * seconds))):
        due = begun + number / rate
        await asyncio.sleep(max(0.0, due - clock()))
        tasks.append(asyncio.create_task(one(kind, due)))
    await asyncio.gather(*tasks)
    return times, bad


def figures(name: str, times: list[float]) -> str:
    """A row of the table."""
    ranked = sorted(times)
    shares = (0.5, 0.95, 0.99)
    at = [1000 * ranked[min(len(ranked) - 1, int(share * len(ranked)))] for share in shares]
    return f"| {name} | {len(times)} | " + " | ".join(f"{each:.1f}" for each in (*at, 1000 * ranked[-1])) + " |"


@contextlib.contextmanager
def running(*command: str, env: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that ends with the block."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, *command], cwd=REPOSITORY, env=env, stdin=subprocess.PIPE, stdout=out, stderr=out
        )
    try:
        yield process
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(15)
        process.kill()


def until(holds: Callable[[], Any], what: str) -> Any:
    """What it answers once it is something."""
    for _ in range(600):
        with contextlib.suppress(OSError):
            if found := holds():
                return found
        time.sleep(0.05)
    raise SystemExit(f"{what} does not come")


def cpu_sec(process: subprocess.Popen[bytes]) -> float:
    """The processor's time that a process has had."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(stock: Stock, options: argparse.Namespace, env: dict[str, str], folder: Path) -> bool:
    """Runs the API, and the crawl beside it, and prints what readers waited; whether all were answered well."""
    with contextlib.ExitStack() as stack:
        port = ["-s", f"FEEDCRAWL_API_PORT={options.port}"]
        api = stack.enter_context(running("-m", "scrapy", "api", *port, env=env, log=folder / "api.log"))
        until(lambda: urlopen(f"http://127.0.0.1:{options.port}/readyz").status == 200, "the API")
        if not options.quiet:
            serve = ("tests/site/serve.py", "--hosts", "40", "--feeds", "400", "--entries", "5")
            stack.enter_context(running(*serve, env=env, log=folder / "origin.log"))
            urls = until(lambda: (folder / "origin.log").read_text().strip(), "the origin")
            arguments = ["-a", f"feeds={urls}", "-a", "forever=1"]
            stack.enter_context(
                running("-m", "scrapy", "crawl", "feeds", *arguments, env=env, log=folder / "crawl.log")
            )
            time.sleep(5)
        asyncio.run(load(stock, Client(options.port), 20, 3))  # what is made at the first request is made
        before, begun, client = cpu_sec(api), time.monotonic(), Client(options.port)
        times, bad = asyncio.run(load(stock, client, options.rate, options.seconds))
        lasted = time.monotonic() - begun
        used = (cpu_sec(api) - before) / lasted
    print("| GET | answers | p50 | p95 | p99 | longest |\n|---|--:|--:|--:|--:|--:|")
    for kind, each in sorted(times.items()):
        print(figures(kind, each))
    requested = [each for kind, each in times.items() if kind != NOTHING]
    print(figures("all but that", list(itertools.chain.from_iterable(requested))))
    print(f"\n{sum(map(len, times.values())) / lasted:.1f} answers a second over {client.opened} connections; ", end="")
    print(f"the API's processes used {100 * used:.0f} % of a core; no success: {dict(bad) or 'none'}")
    return not bad


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--feeds", type=int, default=10_000)
    parser.add_argument("--articles", type=int, default=100_000)
    parser.add_argument("--rate", type=float, default=100, help="requests a second")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--port", type=int, default=9135)
    parser.add_argument("--quiet", action="store_true", help="no crawl beside it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fc-api-") as name, running_redis() as url:
        own = {"REDIS_URL": url, "FEEDCRAWL_DATA_DIR": f"{name}/data", "FEEDCRAWL_RENDER": "never"}
        own |= {"FEEDCRAWL_ALLOW_NETWORKS": "127.0.0.0/8", "FEEDCRAWL_LOG_LEVEL": "WARNING"}
        made = Settings()
        made.setmodule(project, priority="project")
        made.setdict(own, priority="cmdline")
        begun, stock_wired = time.monotonic(), Wiring(made)
        with contextlib.closing(stock_wired) as wired:
            stock = Stock(wired, random.Random(7))
            stock.fill(options.feeds, options.articles)
            memory = int(str(wired.client.info("memory")["used_memory"])) >> 20
            print(f"{options.feeds} feeds and {options.articles} articles stored ({memory} MiB) ", end="")
            print(f"in {time.monotonic() - begun:.0f} s; {options.rate:g} requests a second\n", flush=True)
            return 0 if measure(stock, options, clean_environment() | own, Path(name)) else 1


if __name__ == "__main__":
    sys.exit(main())
