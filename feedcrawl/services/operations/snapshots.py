"""What a data directory remembers of the subscriptions, and how a server that lost its data gets back what it can.

    subscriptions.ndjson    {"feed": {…}} or {"sitemap": {…}} a line, as they stand in the registry

Feeds keep their ids, so that entries, events and files of before and after speak of the same ones. The articles of
`articles/` are remembered as fetched: none is asked for or stored a second time. What is not on the disk is lost:
schedules, validators, journals, what waited to be fetched, and which entries were known; a feed's first poll says again
what is in it, under the same event ids.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from feedcrawl.domain.frontier.tasks import compact
from feedcrawl.domain.sitemaps.state import load_sitemap
from feedcrawl.domain.subscriptions.records import load_subscription
from feedcrawl.domain.urls import hostname
from feedcrawl.services.articles.submissions import batches
from feedcrawl.services.articles.tasks import hash_fields, uid_of
from feedcrawl.services.sites.watching import watch
from feedcrawl.services.subscriptions.finding import url_key
from feedcrawl.services.subscriptions.registering import poll_task
from feedcrawl.store.disk.files import map_disk_errors, write_anew

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime
    from pathlib import Path

    from feedcrawl.domain.subscriptions.records import Subscription
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.disk.ndjson import NdjsonFile
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.redis.client import Client
    from feedcrawl.store.redis.generation import Generation
    from feedcrawl.store.sites.sitemaps import Sitemaps
    from feedcrawl.store.subscriptions.registry import Registry

PAGE: Final = 250
EVERY_SEC: Final = 300.0
FEEDS_PER_SEC: Final = 1000.0
"""A snapshot is taken this often, or as much less often as it has more feeds than this a second."""
CHEAP: Final = 10_000


@dataclass(frozen=True, slots=True)
class Restored:
    """How many of each are there again."""

    feeds: int
    sitemaps: int
    articles: int


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The snapshot of one data directory. Methods raise StoreUnavailable and DiskUnavailable."""

    data_dir: Path
    remember_sec: float
    client: Client
    generation: Generation
    registry: Registry
    sitemaps: Sitemaps
    frontier: Frontier
    articles: Articles
    article_lines: NdjsonFile

    @property
    def path(self) -> Path:
        """The file."""
        return self.data_dir / "subscriptions.ndjson"

    def due_in(self, now: float) -> float:
        """Seconds until a snapshot is worth taking; whichever process of the data directory is first takes it."""
        path = self.path
        with map_disk_errors(path):
            every = max(EVERY_SEC, self._count() / FEEDS_PER_SEC)
            return max(0.0, path.stat().st_mtime + every - now) if path.exists() else 0.0

    def is_cheap(self) -> bool:
        """Whether a snapshot takes no longer than half a second."""
        return self._count() <= CHEAP

    def _count(self) -> int:
        return self.registry.count() + self.sitemaps.count()

    def save(self) -> None:
        """Writes the file anew. ServerRefused, and the file as it was, where the server has lost its data meanwhile."""
        write_anew(self.path, self._lines())

    def _lines(self) -> Iterator[bytes]:
        for kind, store in (("feed", self.registry), ("sitemap", self.sitemaps)):
            for _, ids in store.pages(PAGE):
                lines = (f'{{"{kind}":{said}}}\n' for said in store.said(ids))
                yield "".join(lines).encode("utf-8", "surrogateescape")
        self.generation.check()

    def restore(self, now: datetime) -> Restored:
        """Subscribes to what the snapshot has, and remembers the articles that are on disk; safe to repeat.

        What the server has already stays as it is.
        """
        feeds = sitemaps = 0
        for batch in batches(_records(self.path, "feed")):
            said = [self._subscribed(load_subscription(text)) for text in batch]
            self.frontier.push(map(poll_task, said))
            feeds += len(said)
        for batch in batches(_records(self.path, "sitemap")):
            sitemaps += len(watch(self.sitemaps, self.frontier, list(map(load_sitemap, batch))))
        articles = sum(self._remember(batch) for batch in batches(self._articles(now)))
        self.generation.accept()
        return Restored(feeds, sitemaps, articles)

    def _subscribed(self, said: Subscription) -> Subscription:
        """The subscription as it is in the registry now, each of its addresses leading to it."""
        holder = self.registry.add(said, url_key(said.url))
        if holder != said.id:
            return self.registry.load([holder])[holder].subscription
        for url in filter(None, (said.page, *said.formerly)):
            self.registry.claim(url_key(url), said.id)
        return said

    def _articles(self, now: datetime) -> Iterator[dict[str, Any]]:
        """The lines of articles that are still remembered."""
        life = timedelta(seconds=self.remember_sec)
        for days in range(life.days + 2):
            for record in self.article_lines.read((now - timedelta(days=days)).date()):
                if record.get("type") == "article" and record.get("fetched_ts", 0) > (now - life).timestamp():
                    yield record

    def _remember(self, records: list[dict[str, Any]]) -> int:
        """Has articles be stored, and the URLs that brought them fetched; the last line of each counts."""
        latest = {record["uid"]: record for record in records}
        there = self.articles.stored(list(latest))
        with self.client.pipeline(transaction=False) as pipe:
            for uid in latest.keys() - there:
                record = {name: value for name, value in latest[uid].items() if name != "type"}
                asked = {uid, *(uid_of(record["url"], keep_trailing_slash=keep) for keep in (False, True))}
                for task_id in asked:
                    self.frontier.adopt(_fetched(task_id, record))
                self.articles.claim(uid, uid_of(record["url"]))
                self.articles.write(pipe, uid, hash_fields(record))
                self.articles.index(pipe, uid, record.get("categories") or (), record["fetched_ts"])
                self.articles.attempted(pipe, asked, record["fetched_ts"])
            pipe.execute()
        return len(latest.keys() - there)


def _fetched(task_id: str, record: Mapping[str, Any]) -> str:
    """The record of a task that has ended well."""
    at, url = round(record["fetched_ts"] * 1000), record["url"]
    times = dict.fromkeys(("discovered_at", "updated_at", "last_fetched_at"), at)
    task = {"id": task_id, "kind": "article", "url": url, "host": hostname(url), "priority": 5, "origin": "manual"}
    ended = {"status": "fetched", "reason": "restored", "fetch_count": 1, "content_hash": record.get("content_hash")}
    return compact({**task, **ended, **times})


def _records(path: Path, kind: str) -> Iterator[str]:
    """What the lines of a kind say, each as the text that the registry keeps."""
    with map_disk_errors(path):
        if not path.exists():
            return
        with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
            yield from (json.dumps(record[kind]) for record in map(json.loads, lines) if kind in record)
