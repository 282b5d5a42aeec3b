import json
from datetime import UTC, datetime

import pytest

from feedcrawl.services.articles.tasks import page_key
from feedcrawl.services.frontier.leases import Leases
from feedcrawl.services.operations.inputs import Inputs
from feedcrawl.store.articles.records import Articles, Lives
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy


@pytest.fixture
def told():
    return []


@pytest.fixture
def inputs(redis_client, told):
    frontier = Shard(redis_client, FrontierPolicy(host_delay_sec=0))
    articles = Articles(redis_client, Lives())
    return Inputs(
        redis_client, Leases(frontier), articles, worker="me:1", now=lambda: datetime.now(UTC), cached=told.append
    )


def taken(redis_client):
    frontier = Shard(redis_client, FrontierPolicy(host_delay_sec=0))
    return {lease.task.url: lease for _ in range(20) for lease in frontier.take(10).leases}


def test_the_queue_becomes_tasks_and_is_empty(inputs, redis_client) -> None:
    redis_client.rpush("crawler_queue", "https://a.test/1", '{"url":"https://b.test/2","category":"news","priority":9}')

    assert inputs.from_queue() == 2

    tasks = {url: lease.task for url, lease in taken(redis_client).items()}
    assert set(tasks) == {"https://a.test/1", "https://b.test/2"}
    assert (tasks["https://b.test/2"].category, tasks["https://b.test/2"].priority) == ("news", 9)
    assert {task.origin for task in tasks.values()} == {"queue"}
    assert redis_client.llen("crawler_queue") == 0
    assert not redis_client.keys("*crawler_queue*taken*")


def test_bad_items_are_dead_letters_with_a_reason_and_stop_no_other(inputs, redis_client) -> None:
    redis_client.rpush("crawler_queue", "{", "https://a.test/1", "ftp://a.test/", b"\xff\xfe")

    inputs.from_queue()

    letters = [json.loads(letter) for letter in redis_client.lrange("page_fetcher_dlq", 0, -1)]
    assert [(letter["item"], letter["reason"]) for letter in letters[:2]] == [
        ("{", "bad_queue_item"),
        ("ftp://a.test/", "url_scheme"),
    ]
    assert len(letters) == 3
    assert set(taken(redis_client)) == {"https://a.test/1"}
    assert not redis_client.keys("*crawler_queue*taken*")


@pytest.mark.parametrize("left", ["{crawler_queue}:taken:dead:7", "crawler_queue:taken:dead:7"])
def test_what_a_killed_worker_had_taken_is_taken_up(inputs, redis_client, left: str) -> None:
    redis_client.rpush(left, "https://a.test/1", "{")

    assert inputs.recover() == 2

    assert set(taken(redis_client)) == {"https://a.test/1"}
    assert not redis_client.keys("*crawler_queue*taken*")


def test_a_dead_letter_put_back_unchanged_is_tried_again(inputs, redis_client) -> None:
    frontier = Shard(redis_client, FrontierPolicy(host_delay_sec=0))
    redis_client.rpush("crawler_queue", "https://a.test/1")
    inputs.from_queue()
    (lease,) = frontier.take(1).leases
    frontier.done(lease, status="dead", reason="http_404", dead_letter=True, http_status=404)
    frontier.deliver_dead_letters()
    letter = redis_client.lpop("page_fetcher_dlq")

    redis_client.rpush("crawler_queue", "https://a.test/1", letter)
    inputs.from_queue()

    (again,) = frontier.take(4).leases
    assert (again.task.url, again.history.again) == ("https://a.test/1", "retry")


def test_a_plain_url_that_is_still_cached_is_told_again_and_one_with_again_is_fetched(
    inputs, redis_client, told
) -> None:
    frontier = Shard(redis_client, FrontierPolicy(host_delay_sec=0))
    url = "https://a.test/1"
    redis_client.rpush("crawler_queue", url)
    inputs.from_queue()
    (lease,) = frontier.take(1).leases
    frontier.done(lease, reason="stored")
    redis_client.set(f"webpage:{page_key(url)}", "<html>")

    redis_client.rpush("crawler_queue", url)
    inputs.from_queue()
    assert told == [url]
    assert not frontier.take(4).leases

    redis_client.rpush("crawler_queue", json.dumps({"url": url, "again": True}))
    inputs.from_queue()
    assert told == [url]
    assert [lease.task.url for lease in frontier.take(4).leases] == [url]


def test_links_that_others_added_become_tasks_of_their_category_once(inputs, redis_client) -> None:
    redis_client.sadd("rss:category_links:news", "https://a.test/1", "https://c.test/2", "javascript:alert(1)")
    redis_client.sadd("rss:category_links:two words", "https://b.test/3")

    assert sum(inputs.from_categories()) == 3
    assert sum(inputs.from_categories()) == 0

    tasks = {url: lease.task.category for url, lease in taken(redis_client).items()}
    assert tasks == {"https://a.test/1": "news", "https://c.test/2": "news", "https://b.test/3": "two words"}
    assert json.loads(redis_client.lindex("page_fetcher_dlq", 0))["item"] == "javascript:alert(1)"


def test_links_that_were_tried_are_left_alone(inputs, redis_client) -> None:
    redis_client.sadd("rss:category_links:news", "https://a.test/1")
    (uid,) = [key.rsplit(":", 1)[1] for key in _pushed_keys(inputs, redis_client)]
    redis_client.flushall()
    redis_client.sadd("rss:category_links:news", "https://a.test/1")
    redis_client.sadd("rss:canonical_attempted", uid)
    inputs._seen.clear()

    assert sum(inputs.from_categories()) == 0
    assert not taken(redis_client)


def _pushed_keys(inputs, redis_client):
    sum(inputs.from_categories())
    return redis_client.keys("fc:{0}:t:*")


def test_links_of_a_category_that_no_key_can_have_are_refused_once(inputs, redis_client) -> None:
    redis_client.sadd("rss:category_links:news", "https://a.test/1")
    for bad in ("x" * 257, "{tag}", "a\x1b[2J"):
        redis_client.sadd(f"rss:category_links:{bad}", "https://a.test/2")
    assert [sum(inputs.from_categories()) for _ in range(2)] == [1, 0]
    assert set(taken(redis_client)) == {"https://a.test/1"}
    letters = [json.loads(text) for text in redis_client.lrange("page_fetcher_dlq", 0, -1)]
    assert [each["reason"] for each in letters] == ["bad_category"] * 3
