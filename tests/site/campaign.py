"""Kills of all kinds during a crawl, and the check of the results.

Each round of a campaign subscribes a site of its own and injects one fault; `account` then looks for every page that
was served.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import redis
from documents import rss
from faults import STEPS
from origin import document
from scrapy_process import Process
from world import World, entry, events, good_page, keys_like

from feedcrawl.domain.urls import url_uid
from feedcrawl.services.subscriptions.registering import poll_task
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy
from feedcrawl.store.redis.connection import connect
from feedcrawl.store.subscriptions.registry import Registry

LEASE_SEC = 2.0
FAULTS = Path(__file__).with_name("faults.py")
SETTINGS = {
    "FEEDCRAWL_LEASE_SEC": str(LEASE_SEC),
    "FEEDCRAWL_MAX_ATTEMPTS": "1000",  # a task that outlives four workers is given up otherwise
    "FEEDCRAWL_LINGER_SEC": str(LEASE_SEC + 1),
    **{f"FEEDCRAWL_{kind}_TIMEOUT_SEC": "1.5" for kind in ("FETCH", "ARTICLE", "ROBOTS", "SITEMAP", "RENDER")},
}
EDITED = "edited"
NOT_ASLEEP = {"child_parsing", "half_line", "half_published"}
"""Where no worker can sleep: in a child, and within one system call."""
NOT_KILLED = {"worker stopped", "worker asked to end", "killed before its feed was subscribed"}
NAMED = [(kind, step) for kind, steps in STEPS.items() for step in steps]

STARTS = 8
"""Crawls at most until nothing is pending."""


@dataclass(frozen=True, slots=True)
class Account:
    """What a crawl has kept of `articles` pages.

    Lost is what is not in Redis, on the disk, in its category and in the stream of events, or whose task has not ended;
    stored twice what is there under several uids or in several versions, or has ended more than once. Lines and events
    may repeat with the same content and the same id.
    """

    articles: int
    lost: int
    stored_twice: int
    leases_left: int
    repeated_lines: int = field(compare=False, default=0)
    repeated_events: int = field(compare=False, default=0)
    examples: tuple[str, ...] = field(compare=False, default=())


def account(world: World, urls: Iterable[str], category: str = "kept") -> Account:
    """The account of a world in which nobody works any more."""
    uids = {url_uid(url) for url in urls}
    with connect(url=world.url, data_dir=world.data) as connection:
        client = connection.client
        frontier = Shard(client, FrontierPolicy())
        tasks = {uid: frontier.find(uid) for uid in uids}
        leases = frontier.counts()["leased"]
        hashes = {key.rpartition(":")[2] for key in keys_like(client, "rss:article_canonical:*")}
        good = {uid for uid in hashes if client.hget(f"rss:article_canonical:{uid}", "status") == "success"}
        listed = client.smembers(f"rss:articles_by_category:{category}")
        ready = Counter((event["uid"], event["event"]) for event in events(client, "article_ready"))
        new = Counter((event["article_uid"], event["event"]) for event in events(client, "new_entry"))
    lines = [(line["uid"], line["content_hash"]) for line in world.lines("articles")]
    entries = Counter((line["article_uid"], line["content_hash"]) for line in world.lines("entries"))
    new, entries = (Counter({each: n for each, n in found.items() if each[0] in uids}) for found in (new, entries))
    ended = {uid for uid, each in tasks.items() if each is not None and each[1].status == "fetched"}
    several = sum(each is not None and each[1].fetch_count > 1 for each in tasks.values())
    complete = ended & good & listed & {uid for uid, _ in lines} & {uid for uid, _ in ready}
    places: dict[str, Collection[str | tuple[str, str]]] = {
        "lines": set(lines),
        "good": good,
        "listed": listed,
        "entries": entries,
        "ready": ready,
        "new": new,
    }
    more = [len(versions) - len(uids) for versions in places.values()]
    return Account(
        articles=len(uids),
        lost=len(uids - complete) + sum(max(0, -each) for each in more),
        stored_twice=several + sum(max(0, each) for each in more),
        leases_left=leases,
        repeated_lines=len(lines) - len(set(lines)) + entries.total() - len(entries),
        repeated_events=sum(ids.total() - len(ids) for ids in (ready, new)),
        examples=(
            *(f"lost: {tasks[uid]}" for uid in sorted(uids - complete)[:5]),
            *(f"ended twice: {each}" for each in tasks.values() if each is not None and each[1].fetch_count > 1),
            *(f"{name}: {each}" for name, versions in places.items() for each in _extra(versions, uids)),
        ),
    )


def _extra(versions: Iterable[str | tuple[str, str]], uids: set[str]) -> Iterator[str | tuple[str, str]]:
    """Those of no page that was served, and the second and later ones of a page."""
    seen = Counter(version if isinstance(version, str) else version[0] for version in versions)
    for version in versions:
        uid = version if isinstance(version, str) else version[0]
        if uid not in uids or seen[uid] > 1:
            yield version


@dataclass
class Campaign:
    """Rounds of faults in a world. `urls` are the pages of all sites so far, `faults` counts what was done."""

    world: World
    pages: int = 3
    chance: random.Random = field(default_factory=lambda: random.Random(4))
    urls: list[str] = field(default_factory=list)
    feeds: list[str] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    sites: int = 0

    @property
    def kills(self) -> int:
        """How many processes were killed."""
        return sum(count for name, count in self.faults.items() if name not in NOT_KILLED)

    def site(self, name: str) -> str:
        """Serves a feed of new pages on a host of that name, slowly and in pieces; returns the feed's URL."""
        self.sites += 1
        site = self.world.origin.site(f"{name}-{self.sites}.test")
        names = [f"{name}-{self.sites}-{page}" for page in range(self.pages)]
        slow: dict[str, Any] = {"wait_sec": 0.02, "piece_bytes": 1500, "drip_sec": 0.002}
        self.urls += [site.serve(f"/{each}", good_page(each, **slow)) for each in names]
        entries = [entry(site, each) for each in names]
        self.feeds.append(site.url("/feed"))
        return site.serve("/feed", document(rss(entries), content_type="application/rss+xml", etag='"1"', **slow))

    def start(self, feed: str, *fault: str) -> Process:
        """A worker that subscribes a feed and goes on for ever; `fault` are the words of `faults.py`."""
        command = (str(FAULTS), *fault) if fault else ("-m", "scrapy")
        listed = self.world.folder / f"feeds-{self.sites}.txt"
        listed.write_text(f"{feed} kept\n")
        return self.world.start(f"feeds={listed}", "forever=1", command=command)

    def at_step(self, kind: str, step: str) -> None:
        """A worker dies at a step of the first task of its site; where a child is to die, the worker ends with it."""
        feed = self.site(f"{kind}-{step.replace('_', '-')}")
        worker = self.start(feed, step, kind, str(urlsplit(feed).hostname), "KILL")
        if step == "child_parsing":
            uids = [url_uid(url) for url in self.urls[-self.pages :]]
            with self.world.client() as client:
                self.world.until(lambda: all(client.exists(f"rss:article_canonical:{uid}") for uid in uids))
            worker.kill()
        assert worker.wait(timeout=40) == -signal.SIGKILL, f"{kind} {step}: {self.world.logs()[-6000:]}"
        self.faults[f"{kind} {step}"] += 1

    def asleep(self, kind: str, step: str) -> Process:
        """A worker that is stopped at a step of the first task of its site."""
        feed = self.site(f"asleep-{kind}-{step.replace('_', '-')}")
        worker = self.start(feed, step, kind, str(urlsplit(feed).hostname), "STOP")
        self.world.until(lambda: is_stopped(worker))
        self.faults["worker stopped"] += 1
        return worker

    def edit(self) -> None:
        """The pages of the last site have another text from now on."""
        for url in self.urls[-self.pages :]:
            host, path = str(urlsplit(url).hostname), urlsplit(url).path
            self.world.origin.sites[host].serve(path, good_page(f"{EDITED} {path}"))

    def at_random(self, after_sec: float = 0.0) -> None:
        """A worker dies at any moment."""
        worker = self.start(self.site("random"))
        self._until_requests(self.chance.randint(1, 8))
        time.sleep(after_sec + self.chance.uniform(0, 0.1))
        kill(worker)
        self.faults["worker killed"] += 1

    def server_killed(self) -> None:
        """The embedded server dies under a worker, who starts it again; then the worker dies."""
        worker = self.start(self.site("server"))
        self._until_requests(self.chance.randint(4, 12))
        with self.world.client() as client:
            number = int(client.info("server")["process_id"])
        os.kill(number, signal.SIGKILL)
        self.faults["server killed"] += 1
        self._until_requests(self.chance.randint(1, 8))
        kill(worker)
        self.faults["worker killed"] += 1

    def drained(self) -> None:
        """A worker is terminated in the middle of its work, and ends in order."""
        worker = self.start(self.site("drained"))
        self._until_requests(self.chance.randint(4, 12))
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(timeout=40) in (0, 1), self.world.logs()[-6000:]
        self.faults["worker asked to end"] += 1

    def group_ended(self) -> None:
        """A supervisor asks a worker and all of its children at once to end, as systemd does."""
        worker = self.start(self.site("group"))
        self._until_requests(self.chance.randint(4, 8))
        os.killpg(worker.pid, signal.SIGTERM)
        assert worker.wait(timeout=40) in (0, 1), self.world.logs()[-6000:]
        self.faults["worker asked to end"] += 1

    def woken(self) -> None:
        """A worker sleeps through its lease at some step while another works, then wakes and dies."""
        kind, step = self.chance.choice([each for each in NAMED if each[1] not in NOT_ASLEEP])
        worker = self.asleep(kind, step)
        self.at_random(after_sec=LEASE_SEC)
        worker.send_signal(signal.SIGCONT)
        time.sleep(self.chance.uniform(0.1, 1.0))
        kill(worker)
        self.faults["worker killed"] += 1

    def pair_killed(self) -> None:
        """Two workers share the work and die one after the other."""
        workers = [self.start(self.site("pair")) for _ in range(2)]
        for worker in workers:
            self._until_requests(self.chance.randint(4, 20))
            kill(worker)
            self.faults["worker killed"] += 1

    def any_step(self) -> None:
        """A worker dies at some step."""
        self.at_step(*self.chance.choice([each for each in NAMED if each[1] != "child_parsing"]))

    def worked_off(self, timeout_sec: float) -> None:
        """Two workers do what there is to do, and end."""
        workers = [self.world.start("forever=1") for _ in range(2)]
        self.world.until(lambda: not self._left(), timeout_sec)
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
            worker.wait(timeout=60)

    def _left(self) -> int:
        with self.world.client() as client, contextlib.suppress(redis.ConnectionError):
            return Shard(client, FrontierPolicy()).counts().get("pending:article", 0)
        return 1  # nobody has started the server yet

    def _until_requests(self, more: int) -> None:
        wanted = len(self.world.origin.ledger.requests) + more
        self.world.until(lambda: len(self.world.origin.ledger.requests) >= wanted)

    def rest(self) -> None:
        """All that is left is done, each feed is requested once more, and nothing is new."""
        self.world.until(lambda: all(map(is_gone, self.world.started)))
        self.world.leases_expire()
        listed = self.world.folder / "unheard.txt"
        listed.write_text("".join(f"{feed} kept\n" for feed in self._unheard()))
        self._hasten()
        self.world.crawl("rest", *([f"feeds={listed}"] if listed.stat().st_size else []))
        for number in range(STARTS):  # a retry may wait longer than a crawl lingers
            if not self._left():
                break
            time.sleep(LEASE_SEC)
            self._hasten()
            self.world.crawl(f"rest-{number}")
        self.world.crawl("again", "now=1")

    def _hasten(self) -> None:
        """Asks for what waits ever longer because workers died with it: 8 leases after three deaths, 64 after four."""
        with self.world.wired() as wired:
            feeds = [poll_task(feed.subscription) for feed in wired.registry.all() if feed.polls.last_fetch_at is None]
            found = [wired.frontier.find(url_uid(url)) for url in self.urls]
            pages = [each[0] for each in found if each is not None and each[1].status == "pending"]
            wired.frontier.enqueue([*feeds, *pages], again="operator")

    def _unheard(self) -> list[str]:
        """Feeds whose workers died before they had subscribed them: a command that did not end is given again."""
        requested = {request.host for request in self.world.origin.ledger.requests if request.path == "/feed"}
        feeds = [feed for feed in self.feeds if urlsplit(feed).hostname not in requested]
        if feeds:
            with connect(url=self.world.url, data_dir=self.world.data) as connection:
                known = {feed.subscription.url for feed in Registry(connection.client).all()}
            feeds = [feed for feed in feeds if feed not in known]
        self.faults["killed before its feed was subscribed"] += len(feeds)
        return feeds

    def account(self) -> Account:
        return account(self.world, self.urls)


def kill(worker: Process) -> None:
    """The worker alone."""
    worker.kill()
    worker.wait()


def is_stopped(worker: Process) -> bool:
    return Path(f"/proc/{worker.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def is_gone(worker: Process) -> bool:
    """Whether nothing of the worker is left: its children must end by themselves."""
    try:
        os.killpg(worker.pid, 0)
    except ProcessLookupError:
        return True
    return False
