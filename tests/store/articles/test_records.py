import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from feedcrawl.store.articles.records import INDEX_LIFE_SEC, Articles, Lifetimes
from feedcrawl.store.redis import keys

LIVES = Lifetimes(article_sec=700, category_links_sec=200, page_sec=60, pages_bytes=1000)
DIGESTS = [f"{number:064x}" for number in range(40)]


@pytest.fixture
def articles(redis_client: redis.Redis) -> Articles:
    return Articles(redis_client, LIVES)


@pytest.fixture
def queue(redis_client: redis.Redis) -> Callable[..., None]:
    """Calls a method that queues on a pipeline, and sends the pipeline."""

    def call(method: Callable[..., None], *arguments: object) -> None:
        with redis_client.pipeline() as pipe:
            method(pipe, *arguments)
            pipe.execute()

    return call


@pytest.fixture
def query(articles: Articles, redis_client: redis.Redis) -> Callable[..., Any]:
    """What is known of an article."""

    def call(uid_or_url: str, uid: str, *, claim: bool = True) -> Any:
        with redis_client.pipeline() as pipe:
            articles.query(pipe, uid_or_url, uid, claim=claim)
            replies = pipe.execute()
        assert len(replies) == articles.QUERIES
        return articles.decoded(replies, uid_or_url)

    return call


# --- claims ---


def test_the_first_claim_wins(articles: Articles, redis_client: redis.Redis) -> None:
    assert articles.claim("uid", "first") == "first"
    assert articles.claim("uid", "second") == "first"
    assert articles.claim("uid", "first") == "first"
    assert articles.owners(["uid", "other"]) == {"uid": "first"}
    assert 0 < redis_client.ttl("fc:{0}:claim:uid") <= INDEX_LIFE_SEC


def test_an_empty_list_of_claims_sends_no_command() -> None:
    knows_no_command = SimpleNamespace(register_script=str)
    assert Articles(knows_no_command, LIVES).owners([]) == {}


def test_urls_and_merges_of_an_article_are_stored(articles: Articles, queue: Callable[..., None]) -> None:
    assert (articles.other_urls("w"), articles.target_of("l")) == (set(), None)
    for url in ("http://a.test/1", "http://a.test/2", "http://a.test/1"):
        queue(articles.add_other_url, "w", url)
    queue(articles.merge, "l", "w")
    assert articles.other_urls("w") == {"http://a.test/1", "http://a.test/2"}
    assert articles.target_of("l") == "w"


def test_an_undone_merge_is_found_no_more(articles: Articles, queue: Callable[..., None]) -> None:
    queue(articles.merge, "l", "w")
    queue(articles.add_other_url, "w", "http://a.test/1")
    queue(articles.unmerge, "l")
    queue(articles.remove_other_url, "w", "http://a.test/1")
    assert (articles.other_urls("w"), articles.target_of("l")) == (set(), None)


def test_all_facts_of_an_article_are_read_in_a_single_step(
    articles: Articles, queue: Callable[..., None], query: Callable[..., Any]
) -> None:
    queue(articles.request_categories, "asked", ["a", "b"])
    queue(articles.request_categories, "own", ["b", "c"])
    queue(articles.request_categories, "own", [])
    assert articles.requested_categories("asked", "own") == {"a", "b", "c"}
    assert query("asked", "own") == ("asked", {"a", "b", "c"}, None, None)
    queue(articles.write, "own", {"status": "failure", "content_hash": ""})
    assert query("asked", "own")[2] is None
    queue(articles.write, "own", {"status": "success", "content_hash": "h"})
    queue(articles.merge, "own", "other")
    assert query("asked", "own")[2:] == ("h", "other")


def test_a_read_claims_the_uid_only_on_request(articles: Articles, query: Callable[..., Any]) -> None:
    assert query("first", "own", claim=False)[0] == "first"
    assert articles.owners(["own"]) == {}
    assert query("second", "own")[0] == query("first", "own")[0] == "second"
    assert articles.owners(["own"]) == {"own": "second"}


def test_the_state_of_a_merge_target_is_read(
    articles: Articles, queue: Callable[..., None], redis_client: redis.Redis
) -> None:
    queue(articles.write, "w", {"status": "success", "canonical_url": "http://a.test/w", "content_hash": "h"})
    queue(articles.categorize, "w", ["a"])
    articles.claim("w", "task")
    with redis_client.pipeline() as pipe:
        articles.query_target(pipe, "w", ["a", "b"])
        assert pipe.execute() == [["success", "http://a.test/w"], "task", 1, 0]
    queue(articles.uncategorize, "w", ["a"])
    assert not redis_client.exists(keys.articles_by_category("a"))


def test_known_articles_get_categories_under_their_target(
    articles: Articles, queue: Callable[..., None], redis_client: redis.Redis
) -> None:
    queue(articles.write, "w", {"status": "success"})
    queue(articles.write, "f", {"status": "failure"})
    queue(articles.merge, "l", "w")
    articles.categorize_known(["l", "f", "unknown"], ["a", "b"])
    assert redis_client.smembers(keys.articles_by_category("a")) == {"w"}
    assert redis_client.smembers(keys.articles_by_category("b")) == {"w"}


# --- what consumers read ---


def test_a_hash_is_written_whole_and_lives(
    articles: Articles, queue: Callable[..., None], redis_client: redis.Redis
) -> None:
    queue(articles.write, "u", {"uid": "u", "title": "old", "abstract": "gone"})
    queue(articles.write, "u", {"uid": "u", "title": "new", "text_len": 7, "fetched_ts": 1.5})
    assert redis_client.hgetall(keys.article("u")) == {"uid": "u", "title": "new", "text_len": "7", "fetched_ts": "1.5"}
    assert 0 < redis_client.ttl(keys.article("u")) <= 700


def test_indexes_forget_after_their_time(
    articles: Articles, queue: Callable[..., None], redis_client: redis.Redis
) -> None:
    now = time.time()
    old = now - INDEX_LIFE_SEC - 1
    queue(articles.index, "old", ["a"], old)
    queue(articles.failure, "old", "FAIL_HTTP", old)
    queue(articles.index, "u", ["a", "b"], now)
    queue(articles.failure, "u", "FAIL_EMPTY", now)
    assert redis_client.zrange(keys.ARTICLE_INDEX, 0, -1) == ["u"]
    assert redis_client.zrange(keys.CANONICAL_FAILURES, 0, -1) == ["u:FAIL_EMPTY"]
    assert redis_client.smembers(keys.articles_by_category("b")) == {"u"}
    assert 0 < redis_client.ttl(keys.articles_by_category("a")) <= 700


def test_attempted_uids_leave_after_thirty_days(
    articles: Articles, queue: Callable[..., None], redis_client: redis.Redis
) -> None:
    now = time.time()
    queue(articles.attempted, ["a", "b"], now - INDEX_LIFE_SEC - 1)
    queue(articles.attempted, ["b", "c"], now)
    assert redis_client.smembers(keys.CANONICAL_ATTEMPTED) == {"a", "b", "c"}
    assert articles.expire(now) == 1
    assert redis_client.smembers(keys.CANONICAL_ATTEMPTED) == {"b", "c"}
    assert articles.expire(now) == 0
    for key in (keys.CANONICAL_ATTEMPTED, keys.CANONICAL_ATTEMPTED_AT):  # they leave also where no worker runs
        assert INDEX_LIFE_SEC - 5 < redis_client.ttl(key) <= INDEX_LIFE_SEC


def test_all_old_uids_are_removed_however_many(
    articles: Articles, queue: Callable[..., None], redis_client: redis.Redis
) -> None:
    now = time.time()
    old = now - INDEX_LIFE_SEC - 1
    redis_client.zadd(keys.CANONICAL_ATTEMPTED_AT, {f"u{number}": old for number in range(2500)})
    redis_client.sadd(keys.CANONICAL_ATTEMPTED, *(f"u{number}" for number in range(2500)))
    redis_client.zadd(keys.CANONICAL_FAILURES, {"u:FAIL_EMPTY": old, "v:FAIL_EMPTY": now})
    redis_client.zadd(keys.ARTICLE_INDEX, {"u": old, "v": now})
    queue(articles.attempted, ["new"], now)
    assert articles.expire(now) == 2502
    assert redis_client.smembers(keys.CANONICAL_ATTEMPTED) == {"new"}
    assert redis_client.zrange(keys.CANONICAL_FAILURES, 0, -1) == ["v:FAIL_EMPTY"]
    assert redis_client.zrange(keys.ARTICLE_INDEX, 0, -1) == ["v"]


def test_links_of_a_category_live_after_the_last_addition(
    articles: Articles, queue: Callable[..., None], redis_client: redis.Redis
) -> None:
    queue(articles.category_links, "a", ["http://a.test/1"])
    redis_client.expire(keys.category_links("a"), 5)
    queue(articles.category_links, "a", [])
    assert redis_client.ttl(keys.category_links("a")) <= 5
    queue(articles.category_links, "a", ["http://a.test/1", "http://a.test/2"])
    assert 5 < redis_client.ttl(keys.category_links("a")) <= 200
    assert redis_client.scard(keys.category_links("a")) == 2


# --- the page cache ---


def cached_bytes(client: redis.Redis) -> tuple[int, int]:
    """Bytes that are kept, and bytes that the books say."""
    pages = [digest for digest in DIGESTS if client.exists(keys.webpage(digest))]
    sizes = client.hgetall(keys.PAGE_CACHE_SIZES)
    assert set(sizes) == set(client.zrange(keys.PAGE_CACHE_INDEX, 0, -1)) == set(pages)
    total = sum(len(client.get(keys.webpage(digest)).encode("utf-8", "surrogateescape")) for digest in pages)
    return total, int(client.get(keys.PAGE_CACHE_BYTES) or 0)


def test_a_page_is_kept_for_its_time(articles: Articles, redis_client: redis.Redis) -> None:
    articles.cache_page(DIGESTS[0], "<p>é", time.time())
    assert articles.cached_page(DIGESTS[0]) == "<p>é"
    assert articles.cached_page(DIGESTS[1]) == ""
    assert 0 < redis_client.ttl(keys.webpage(DIGESTS[0])) <= 60
    assert cached_bytes(redis_client) == (5, 5)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pages=st.lists(st.tuples(st.sampled_from(DIGESTS), st.integers(0, 1100)), max_size=40))
def test_all_pages_together_stay_below_the_limit(
    articles: Articles, redis_client: redis.Redis, pages: list[tuple[str, int]]
) -> None:
    redis_client.flushall()
    for digest, size in pages:
        articles.cache_page(digest, "x" * size, time.time())
        stored, counted = cached_bytes(redis_client)
        assert stored == counted <= 1000


def test_the_oldest_page_goes_first(articles: Articles, redis_client: redis.Redis) -> None:
    for digest in DIGESTS[:12]:
        articles.cache_page(digest, "x" * 100, time.time())
    stored = [bool(redis_client.exists(keys.webpage(digest))) for digest in DIGESTS[:12]]
    assert stored == sorted(stored)
    assert stored[-1]
    assert sum(stored) >= 8


def test_expired_pages_leave_the_index(articles: Articles, redis_client: redis.Redis) -> None:
    articles.cache_page(DIGESTS[0], "x" * 100, time.time())
    redis_client.delete(keys.webpage(DIGESTS[0]))
    redis_client.zadd(keys.PAGE_CACHE_INDEX, {DIGESTS[0]: time.time() - 61})
    articles.cache_page(DIGESTS[1], "x" * 50, time.time())
    assert cached_bytes(redis_client) == (50, 50)


@pytest.mark.parametrize("lives", [Lifetimes(page_sec=0), Lifetimes(pages_bytes=0), Lifetimes(pages_bytes=3)])
def test_a_disabled_cache_stores_no_page(redis_client: redis.Redis, lives: Lifetimes) -> None:
    Articles(redis_client, lives).cache_page(DIGESTS[0], "<p>x", time.time())
    assert redis_client.keys() == []
