import json
from dataclasses import replace

import pytest
import redis

from feedcrawl.domain.sitemaps.state import Sitemap, SitemapRecord
from feedcrawl.store.sites.sitemaps import Known, Sitemaps

ROOT = Sitemap("r", "http://a.test/index.xml")
PART = Sitemap("p", "http://a.test/part.xml", root="r", root_url=ROOT.url, depth=1)


@pytest.fixture
def store(redis_client: redis.Redis) -> Sitemaps:
    return Sitemaps(redis_client, journal_length=3)


def test_a_sitemap_is_watched_once(store: Sitemaps) -> None:
    assert store.add([]) == []
    assert store.add([(ROOT, "a"), (PART, "b"), (replace(PART, id="q"), "b")]) == ["r", "p", "p"]
    assert store.add([(replace(ROOT, id="x"), "a")]) == ["r"]
    assert {each.id for each in store.all()} == {"r", "p"}
    assert (store.count(), store.by_url("b"), store.by_url("c")) == (2, "p", None)
    found = store.load(["p", "gone", "r"])
    assert (found["p"].sitemap, found["r"].record, set(found)) == (PART, SitemapRecord(), {"p", "r"})
    assert store.load([]) == {}


def test_a_sitemap_that_a_kill_left_claimed_is_written(store: Sitemaps, redis_client: redis.Redis) -> None:
    redis_client.hset("fc:{0}:sitemap_by_url", "a", "claimed")
    assert store.add([(ROOT, "a")]) == ["claimed"]
    assert store.load(["claimed"])["claimed"].sitemap.url == ROOT.url


def test_parts_belong_to_a_tree_until_they_are_removed(store: Sitemaps) -> None:
    store.add([(ROOT, "a"), (PART, "b")])
    assert store.tree("r") == {"p"}
    assert store.known(PART, "a.test", "20261128").parts == 1
    assert store.remove(PART, "b")
    assert not store.remove(PART, "b")
    assert (store.tree("r"), store.by_url("b"), store.load(["p"])) == (set(), None, {})


def test_digests_of_seen_urls_are_stored_byte_for_byte(store: Sitemaps, redis_client: redis.Redis) -> None:
    seen = bytes(range(256)) * 3
    assert store.known(ROOT, "a.test", "20261128") == Known(b"", 0, 0)
    store.save_seen("r", seen)
    assert [store.take("a.test", "20261128", number, 100) for number in (3, 4)] == [3, 4]
    assert store.known(ROOT, "a.test", "20261128") == Known(seen, 7, 0)
    assert store.today(["a.test", "b.test"], "20261128") == {"a.test": 7, "b.test": 0}
    assert store.today([], "20261128") == {}
    assert store.known(PART, "a.test", "20261129") == Known(b"", 0, 0)
    assert all(redis_client.ttl(key) > 0 for key in redis_client.keys("fc:{0}:sitemap_*"))


def test_polls_at_the_same_time_share_the_daily_limit_of_a_site(store: Sitemaps) -> None:
    assert [store.take("a.test", "20261128", number, 5) for number in (3, 4, 1, 2)] == [3, 2, 0, 0]
    assert store.take("a.test", "20261129", 9, 5) == 5
    assert store.take("b.test", "20261128", 5, 5) == 5
    assert store.today(["a.test", "b.test"], "20261128") == {"a.test": 5, "b.test": 5}
    assert store.take("a.test", "20261128", 1, 2) == 0  # the limit was larger this morning
    assert store.today(["a.test"], "20261128") == {"a.test": 5}


def test_a_poll_is_recorded_with_its_line(store: Sitemaps, redis_client: redis.Redis) -> None:
    store.add([(ROOT, "a")])
    for number in (1, 2, 2, 3, 4):
        record = SitemapRecord(etag=f'"{number}"')
        for command in store.commit("r", record, {"poll_id": f"r@{number}"}):
            redis_client.execute_command(*command)
            json.dumps(command)
    assert store.load(["r"])["r"].record.etag == '"4"'
    assert [line["poll_id"] for line in store.journal("r")] == ["r@4", "r@3", "r@2"]
