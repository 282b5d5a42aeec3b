"""Snapshots of the subscriptions in a data directory, and the restore of a server that lost its data.

    subscriptions.ndjson    {"feed": {…}} or {"sitemap": {…}} per line, as stored in the registry

Feeds keep their ids, so that entries, events and files from before and after a restore agree. The articles of
`articles/` count as fetched: none is requested or stored a second time. Data that is not on the disk is lost:
schedules, validators, journals, queued tasks, and which entries were known; a feed's first poll reports its entries
again, with the same event ids.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

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
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from feedcrawl.domain.articles.fields import ArticleFields
    from feedcrawl.domain.frontier.tasks import StoredTask
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
"""The time between two snapshots, in seconds, is at least the number of feeds divided by this."""
CHEAP: Final = 10_000


@dataclass(frozen=True, slots=True)
class Restored:
    """The number of restored records of each kind."""

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
    article_lines: NdjsonFile[ArticleFields]

    @property
    def path(self) -> Path:
        """The snapshot file."""
        return self.data_dir / "subscriptions.ndjson"

    def due_in(self, now: float) -> float:
        """Seconds until the next snapshot is due; the first process of the data directory that finds it due takes
        it.
        """
        path = self.path
        with map_disk_errors(path):
            every = max(EVERY_SEC, self._count() / FEEDS_PER_SEC)
            return max(0.0, path.stat().st_mtime + every - now) if path.exists() else 0.0

    def is_cheap(self) -> bool:
        """True if a snapshot takes at most half a second."""
        return self._count() <= CHEAP

    def _count(self) -> int:
        return self.registry.count() + self.sitemaps.count()

    def save(self) -> None:
        """Write the file anew. If the server has lost its data meanwhile, raises ServerRefused and leaves the
        file unchanged.
        """
        write_anew(self.path, self._lines())

    def _lines(self) -> Iterator[bytes]:
        for kind, store in (("feed", self.registry), ("sitemap", self.sitemaps)):
            for _, ids in store.pages(PAGE):
                lines = (f'{{"{kind}":{text}}}\n' for text in store.texts(ids))
                yield "".join(lines).encode("utf-8", "surrogateescape")
        self.generation.check()

    def restore(self, now: datetime) -> Restored:
        """Subscribe to the feeds of the snapshot, and record the articles on disk as fetched; safe to repeat.

        Records that the server already has stay unchanged.
        """
        feeds = sitemaps = 0
        for batch in batches(_records(self.path, "feed")):
            subscriptions = [self._subscribed(load_subscription(text)) for text in batch]
            self.frontier.enqueue(map(poll_task, subscriptions))
            feeds += len(subscriptions)
        for batch in batches(_records(self.path, "sitemap")):
            sitemaps += len(watch(self.sitemaps, self.frontier, list(map(load_sitemap, batch))))
        articles = sum(self._remember(batch) for batch in batches(self._articles(now)))
        self.generation.accept()
        return Restored(feeds, sitemaps, articles)

    def _subscribed(self, subscription: Subscription) -> Subscription:
        """The subscription as now stored in the registry, with each of its addresses leading to it."""
        holder = self.registry.add(subscription, url_key(subscription.url))
        if holder != subscription.id:
            return self.registry.load([holder])[holder].subscription
        for url in filter(None, (subscription.page, *subscription.formerly)):
            self.registry.claim(url_key(url), subscription.id)
        return subscription

    def _articles(self, now: datetime) -> Iterator[ArticleFields]:
        """The lines of articles that were fetched within the last `remember_sec` seconds."""
        life = timedelta(seconds=self.remember_sec)
        for days in range(life.days + 2):
            for record in self.article_lines.read((now - timedelta(days=days)).date()):
                if record.get("type") == "article" and record.get("fetched_ts", 0) > (now - life).timestamp():
                    yield record

    def _remember(self, records: list[ArticleFields]) -> int:
        """Record articles as stored, and the URLs that brought them as fetched; the last line of each counts."""
        latest = {record["uid"]: record for record in records}
        there = self.articles.stored(list(latest))
        with self.client.pipeline(transaction=False) as pipe:
            for uid in latest.keys() - there:
                record = latest[uid].copy()
                record.pop("type", None)
                task_ids = {uid, *(uid_of(record["url"], keep_trailing_slash=keep) for keep in (False, True))}
                for task_id in task_ids:
                    self.frontier.adopt(_fetched(task_id, record))
                self.articles.claim(uid, uid_of(record["url"]))
                self.articles.write(pipe, uid, hash_fields(record))
                self.articles.index(pipe, uid, record.get("categories") or (), record["fetched_ts"])
                self.articles.attempted(pipe, task_ids, record["fetched_ts"])
            pipe.execute()
        return len(latest.keys() - there)


def _fetched(task_id: str, record: ArticleFields) -> StoredTask:
    """The record of a task that has ended successfully."""
    at, url = round(record["fetched_ts"] * 1000), record["url"]
    times = dict.fromkeys(("discovered_at", "updated_at", "last_fetched_at"), at)
    task = {"id": task_id, "kind": "article", "url": url, "host": hostname(url), "priority": 5, "origin": "manual"}
    ended = {"status": "fetched", "reason": "restored", "fetch_count": 1}
    content = {"content_hash": found} if (found := record.get("content_hash")) else {}
    return {**task, **ended, **content, **times}


def _records(path: Path, kind: str) -> Iterator[str]:
    """The records of one kind in the lines, each as the text that the registry stores."""
    with map_disk_errors(path):
        if not path.exists():
            return
        with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
            yield from (json.dumps(record[kind]) for record in map(json.loads, lines) if kind in record)
