"""A server that has lost everything gets back what the disk has."""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import redis
from scrapy.settings import Settings

from feedcrawl.domain.sitemaps.state import Sitemap
from feedcrawl.domain.sites.owners import Sources
from feedcrawl.domain.subscriptions.specs import SubscriptionSpec
from feedcrawl.services.articles.tasks import article_task
from feedcrawl.services.operations import snapshots
from feedcrawl.services.sites.watching import watch
from feedcrawl.services.subscriptions.registering import subscribe_all
from feedcrawl.settings import from_environment
from feedcrawl.store.redis.errors import ServerRefused
from feedcrawl.wiring import Wiring

NOW = datetime.now(UTC)
ARTICLE = {
    "type": "article",
    "uid": "0123456789abcdef",
    "url": "http://a.test/p?x=1",
    "canonical_url": "http://a.test/p",
    "categories": ["news"],
    "clean_text": "Text.",
    "content_hash": "c" * 64,
    "status": "success",
    "title": None,
    "authors": ["Ada"],
    "fetched_ts": NOW.timestamp() - 60,
}


@pytest.fixture(params=[1, 3])
def wire(redis_server: str, redis_client: redis.Redis, tmp_path: Path, request: Any) -> Iterator[Callable[..., Wiring]]:
    made = []

    def wire(folder: str = "data", **how: Any) -> Wiring:
        given = {
            "REDIS_URL": redis_server,
            "FEEDCRAWL_DATA_DIR": str(tmp_path / folder),
            "FEEDCRAWL_SHARDS": request.param,
        }
        made.append(Wiring(Settings(from_environment({}) | given), **how))
        return made[-1]

    yield wire
    for each in made:
        each.close()


@pytest.fixture
def wired(wire: Callable[..., Wiring]) -> Wiring:
    """A server in use, known to its data directory, with a snapshot."""
    wired = wire()
    specs = [
        SubscriptionSpec("http://a.test/feed", ("news",), "A", {"priority": 8, "min_interval_sec": 600.0}),
        SubscriptionSpec("http://b.test/ü", fields={"page": "http://b.test/", "formerly": ("http://old.test/",)}),
    ]
    subscribe_all(wired.registry, wired.frontier, specs, NOW)
    watch(
        wired.sitemaps,
        wired.frontier,
        [Sitemap("7d9c3bd6-6f4e-4d3b-9a53-0d6a8e1f2b3c", "http://a.test/map.xml", ("news",))],
    )
    wired.generation.settle()
    wired.generation.settle()
    wired.snapshots.save()
    return wired


def all_of(wired: Wiring) -> tuple[list[Any], list[Any]]:
    feeds = sorted((feed.subscription for feed in wired.registry.all()), key=lambda each: each.url)
    return feeds, sorted((watched.sitemap for watched in wired.sitemaps.all()), key=lambda each: each.url)


def test_subscriptions_are_restored_with_their_ids(wired: Wiring, wire: Callable[..., Wiring]) -> None:
    before = all_of(wired)
    wired.client.flushall()
    again = wire(any_server=True)
    assert again.snapshots.restore(NOW) == snapshots.Restored(2, 1, 0)
    assert all_of(again) == before
    for feed in before[0]:
        assert again.frontier.find(f"feed:{feed.id}")[1].status == "pending"
    assert again.registry.by_url("old.test/") == before[0][1].id
    assert again.snapshots.restore(NOW) == snapshots.Restored(2, 1, 0)
    assert all_of(again) == before
    assert again.frontier.counts()["pending:feed"] == 2
    with closing(wire()) as after:
        after.generation.settle()


def test_articles_on_disk_are_neither_requested_nor_stored_again(wired: Wiring, wire: Callable[..., Wiring]) -> None:
    old = {**ARTICLE, "uid": "f" * 16, "url": "http://a.test/old", "fetched_ts": NOW.timestamp() - 31 * 86_400}
    wired.article_lines.append(NOW.date(), {**ARTICLE, "clean_text": "Before."}, ARTICLE, {"type": "article_unmerged"})
    wired.article_lines.append((NOW - timedelta(days=31)).date(), old)
    wired.client.flushall()
    again = wire(any_server=True)
    assert again.snapshots.restore(NOW).articles == 1
    tasks = [article_task(url, Sources()) for url in (ARTICLE["url"], old["url"])]
    assert again.frontier.enqueue(tasks) == ["known", "queued"]
    assert again.articles.owners([ARTICLE["uid"]]) == {ARTICLE["uid"]: tasks[0].id}
    stored = again.client.hgetall(f"rss:article_canonical:{ARTICLE['uid']}")
    assert (stored["clean_text"], stored["title"], json.loads(stored["authors"])) == ("Text.", "", ["Ada"])
    assert "type" not in stored
    assert again.client.smembers("rss:articles_by_category:news") == {ARTICLE["uid"]}
    assert again.client.sismember("rss:canonical_attempted", ARTICLE["uid"])
    assert again.snapshots.restore(NOW).articles == 0


def test_records_that_the_server_already_has_stay(wired: Wiring, wire: Callable[..., Wiring]) -> None:
    wired.client.flushall()
    other = wire("other")
    (own,), _ = subscribe_all(other.registry, other.frontier, [SubscriptionSpec("https://a.test/feed", ("mine",))], NOW)
    other.generation.settle()
    again = wire(any_server=True)
    again.snapshots.restore(NOW)
    feeds, _ = all_of(again)
    assert [(feed.id, feed.categories) for feed in feeds if "a.test" in feed.url] == [(own, ("mine",))]
    assert len(feeds) == 2
    with closing(wire()) as first, closing(wire("other")) as second:
        assert first.client.get("fc:{0}:generation") == second.client.get("fc:{0}:generation")


def test_a_server_that_was_emptied_leaves_the_snapshot_alone(wired: Wiring) -> None:
    before = wired.snapshots.path.read_bytes()
    assert len(before.splitlines()) == 3
    wired.client.flushall()
    with pytest.raises(ServerRefused, match="emptied"):
        wired.snapshots.save()
    assert wired.snapshots.path.read_bytes() == before
    assert not list(wired.snapshots.path.parent.glob("*.tmp"))


def test_without_a_snapshot_articles_are_restored(wire: Callable[..., Wiring]) -> None:
    again = wire(any_server=True)
    again.article_lines.append(NOW.date(), ARTICLE)
    assert again.snapshots.restore(NOW) == snapshots.Restored(0, 0, 1)


def test_a_snapshot_is_due_after_its_interval_or_at_once_if_missing(wired: Wiring) -> None:
    path = wired.snapshots.path
    assert wired.snapshots.due_in(time.time()) > snapshots.EVERY_SEC - 20
    os.utime(path, (0, 0))
    assert wired.snapshots.due_in(time.time()) == 0
    path.unlink()
    assert wired.snapshots.due_in(time.time()) == 0
    assert wired.snapshots.is_cheap()
