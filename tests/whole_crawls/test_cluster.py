"""The main job on a Redis Cluster of three nodes, with more shards than nodes."""

import json
import signal
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import redis
from origin import document, failure, redirect
from redis_cluster import Cluster
from scrapy_process import run_scrapy
from world import World, article, entry, events, feed, good_page, world_in

from feedcrawl.domain.frontier.shards import shard_of, shard_of_host
from feedcrawl.domain.frontier.tasks import History, Task
from feedcrawl.domain.urls import url_uid
from feedcrawl.store.frontier.scripts import FrontierPolicy
from feedcrawl.store.frontier.shards import Shards
from feedcrawl.store.redis import keys
from feedcrawl.store.redis.connection import connect
from feedcrawl.store.subscriptions.registry import Registry

pytestmark = pytest.mark.slow

SHARDS = 4


@pytest.fixture
def world(tmp_path: Path, redis_cluster: Cluster) -> Iterator[World]:
    redis_cluster.flush()
    with world_in(tmp_path, url=redis_cluster.url, FEEDCRAWL_SHARDS=str(SHARDS)) as world:
        yield world


@pytest.fixture
def client(world: World, tmp_path: Path) -> Iterator[redis.RedisCluster]:
    with connect(url=world.url, data_dir=tmp_path) as connection:
        yield connection.client


def host(shard: int) -> str:
    names = (f"site-{number}.test" for number in count())
    return next(name for name in names if shard_of_host(name, SHARDS) == shard)


def command(world: World, *words: str, code: int = 0) -> str:
    run = run_scrapy(*words, data_dir=world.data, env=world.env, timeout_sec=60)
    assert run.code == code, run.err[-3000:]
    return run.out


def sites(world: World, **how: Any) -> list[str]:
    """A feed with pages in every shard; the URLs of all pages."""
    urls, feeds = [], []
    for shard in range(SHARDS):
        site = world.origin.site(host(shard))
        names = [f"p{shard}-{number}" for number in range(6)]
        urls += [site.serve(f"/{name}", good_page(name, **how)) for name in names]
        feeds.append(site.serve("/feed", feed([entry(site, name) for name in names])))
    world.feeds_file("".join(f"{url} news\n" for url in feeds))
    return urls


def wandering(world: World) -> tuple[str, str, str]:
    """A feed whose address sends readers to a host of another shard, where its article went to, and a dead one."""
    here, there = world.origin.site(f"here.{host(0)}"), world.origin.site(f"there.{host(1)}")
    there.serve("/feed", feed([entry(here, name) for name in ("goes", "gone")]))
    went = there.serve("/went", good_page("went"))
    here.serve("/goes", redirect(went, 302))
    return here.serve("/feed", redirect(there.url("/feed"), 302)), went, here.serve("/gone", failure(404))


def test_the_main_job(world: World, client: redis.RedisCluster) -> None:
    urls, site = sites(world), world.origin.site(host(2))
    wanderer, went, gone = wandering(world)
    urls += [site.serve(path, good_page(path)) for path in ("/queued", "/mapped")]
    listed = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{urls[-1]}</loc></url></urlset>'
    sitemap = site.serve("/sitemap.xml", document(listed.encode(), content_type="application/xml"))
    client.rpush(keys.CRAWLER_QUEUE, json.dumps({"url": urls[-2], "category": "asked"}))
    command(world, "subscribe", "--category", "news", wanderer, str(world.folder / "feeds.txt"))
    world.crawl("sitemaps", f"sitemaps={sitemap}", spider="sitemaps")

    urls.append(went)
    assert Counter(line["uid"] for line in world.lines("articles")) == Counter(map(url_uid, urls))
    assert {article(client, url)["status"] for url in urls} == {"success"}
    assert client.smembers("rss:articles_by_category:asked") == {url_uid(urls[-3])}
    assert len(client.smembers("rss:articles_by_category:news")) == SHARDS * 6 + 1
    announced = Counter(each["event"] for each in events(client, "new_entry"))
    assert len(announced) == SHARDS * 6 + 2
    assert set(announced.values()) == {1}
    letters = [json.loads(letter) for letter in client.lrange(keys.DEAD_LETTERS, 0, -1)]
    assert [(letter["url"], letter["reason"]) for letter in letters] == [(gone, "http_404")]

    feeds = {each.subscription.url: each for each in Registry(client, shards=SHARDS).all()}
    assert {each.polls.last_result for each in feeds.values()} == {"fetched"}
    frontier = Shards(client, FrontierPolicy(), shards=SHARDS)
    counts = frontier.counts()
    assert (counts["leased"], counts["pending:feed"], counts["pending:article"]) == (0, SHARDS + 1, 0)
    for each in feeds.values():  # each at home again, and its record in the shard of its host
        task, history = found(frontier, f"feed:{each.id}")
        assert (task.url, history.status) == (each.subscription.url, "pending")
        assert shard_of(each.id, SHARDS) == shard_of_host(task.host, SHARDS)
    assert "HTTP 200" in command(world, "why", wanderer)


def found(frontier: Shards, task_id: str) -> tuple[Task, History]:
    there = frontier.find(task_id)
    assert there is not None
    return there


def test_a_node_that_restarts_during_a_crawl_costs_only_time(
    world: World, client: redis.RedisCluster, redis_cluster: Cluster
) -> None:
    urls = sites(world, wait_sec=0.2)
    worker = world.start(f"feeds={world.folder / 'feeds.txt'}", "forever=1")
    ledger = world.origin.ledger
    world.until(lambda: len(ledger.requests) > SHARDS * 3)
    node = redis_cluster.node_of(keys.shard(1))
    node.kill()
    world.until(lambda: "store_away" in world.logs())
    node.start()
    redis_cluster.wait_whole()
    world.until(lambda: all(article(client, url).get("status") == "success" for url in urls))
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=30) == 0, world.logs()
    assert "store_back" in world.logs()
    assert Counter(line["uid"] for line in world.lines("articles")).keys() == {url_uid(url) for url in urls}
    announced = [each["event"] for each in events(client, "article_ready")]
    assert len(set(announced)) == len(urls)
    for each in ledger.hosts():
        assert ledger.max_open(each) == 1
