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
from feedcrawl.services.subscriptions.registering import poll_task, url_key
from feedcrawl.store.disk.files import map_disk_errors, write_anew

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime
    from pathlib import Path

    from feedcrawl.domain.subscriptions.records import Subscription
    from feedcrawl.wiring import Wiring

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


def path_of(wired: Wiring) -> Path:
    """The file."""
    return wired.config.data_dir / "subscriptions.ndjson"


def due_in(wired: Wiring, now: float) -> float:
    """Seconds until a snapshot is worth taking; whichever process of the data directory is first takes it."""
    path = path_of(wired)
    with map_disk_errors(path):
        every = max(EVERY_SEC, _count(wired) / FEEDS_PER_SEC)
        return max(0.0, path.stat().st_mtime + every - now) if path.exists() else 0.0


def is_cheap(wired: Wiring) -> bool:
    """Whether a snapshot takes no longer than half a second."""
    return _count(wired) <= CHEAP


def _count(wired: Wiring) -> int:
    return wired.registry.count() + wired.sitemaps.count()


def save(wired: Wiring) -> None:
    """Writes the file anew. ServerRefused, and the file as it was, where the server has lost its data meanwhile."""
    write_anew(path_of(wired), _lines(wired))


def _lines(wired: Wiring) -> Iterator[bytes]:
    for kind, store in (("feed", wired.registry), ("sitemap", wired.sitemaps)):
        for _, ids in store.pages(PAGE):
            lines = (f'{{"{kind}":{said}}}\n' for said in store.said(ids))
            yield "".join(lines).encode("utf-8", "surrogateescape")
    wired.generation.check()


def restore(wired: Wiring, now: datetime) -> Restored:
    """Subscribes to what the snapshot has, and remembers the articles that are on disk; safe to repeat.

    What the server has already stays as it is.
    """
    feeds = sitemaps = 0
    for batch in batches(_records(path_of(wired), "feed")):
        said = [_subscribed(wired, load_subscription(text)) for text in batch]
        wired.frontier.push(map(poll_task, said))
        feeds += len(said)
    for batch in batches(_records(path_of(wired), "sitemap")):
        sitemaps += len(watch(wired.sitemaps, wired.frontier, list(map(load_sitemap, batch))))
    articles = sum(_remember(wired, batch) for batch in batches(_articles(wired, now)))
    wired.generation.accept()
    return Restored(feeds, sitemaps, articles)


def _subscribed(wired: Wiring, said: Subscription) -> Subscription:
    """The subscription as it is in the registry now, each of its addresses leading to it."""
    holder = wired.registry.add(said, url_key(said.url))
    if holder != said.id:
        return wired.registry.load([holder])[holder].subscription
    for url in filter(None, (said.page, *said.formerly)):
        wired.registry.claim(url_key(url), said.id)
    return said


def _articles(wired: Wiring, now: datetime) -> Iterator[dict[str, Any]]:
    """The lines of articles that are still remembered."""
    life = timedelta(seconds=wired.config.remember_sec)
    for days in range(life.days + 2):
        for record in wired.article_lines.read((now - timedelta(days=days)).date()):
            if record.get("type") == "article" and record.get("fetched_ts", 0) > (now - life).timestamp():
                yield record


def _remember(wired: Wiring, records: list[dict[str, Any]]) -> int:
    """Has articles be stored, and the URLs that brought them fetched; the last line of each counts."""
    latest = {record["uid"]: record for record in records}
    there = wired.articles.stored(list(latest))
    with wired.client.pipeline(transaction=False) as pipe:
        for uid in latest.keys() - there:
            record = {name: value for name, value in latest[uid].items() if name != "type"}
            asked = {uid, *(uid_of(record["url"], keep_trailing_slash=keep) for keep in (False, True))}
            for task_id in asked:
                wired.frontier.adopt(_fetched(task_id, record))
            wired.articles.claim(uid, uid_of(record["url"]))
            wired.articles.write(pipe, uid, hash_fields(record))
            wired.articles.index(pipe, uid, record.get("categories") or (), record["fetched_ts"])
            wired.articles.attempted(pipe, asked, record["fetched_ts"])
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
