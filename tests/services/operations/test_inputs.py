import json
from datetime import UTC, datetime

import pytest

from feedcrawl.services.articles.repeats import Repeats
from feedcrawl.services.articles.tasks import hash_fields, page_key
from feedcrawl.services.frontier.leases import Leases
from feedcrawl.services.operations.inputs import Inputs
from feedcrawl.store.articles.records import Articles, Lifetimes
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy
from feedcrawl.store.operations.streams import Events

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
STORED = {
    "status": "success", "url": "https://a.test/1", "canonical_url": "https://a.test/1", "category": "news",
    "categories": ["news"], "title": "One", "content_hash": "ab" * 32, "text_len": 700, "fetched_ts": 1.0,
}  # fmt: skip


@pytest.fixture
def counted():
    return []


@pytest.fixture
def inputs(redis_client, counted):
    frontier = Shard(redis_client, FrontierPolicy(host_delay_sec=0))
    articles = Articles(redis_client, Lifetimes())
    repeats = Repeats(redis_client, frontier, articles, Events(redis_client, ttl_sec=3600), lambda: NOW)
    options = {"repeats": repeats, "ahead": 150, "count": counted.append}
    return Inputs(redis_client, Leases(frontier), articles, worker="me:1", now=lambda: NOW, **options)


def events(redis_client):
    return [(each["type"], each["id"], json.loads(each["data"])) for _, each in redis_client.xrange("feedcrawl:events")]


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
def test_items_that_a_killed_worker_had_taken_are_recovered(inputs, redis_client, left: str) -> None:
    redis_client.rpush(left, "https://a.test/1", "{")

    assert sum(inputs.recover()) == 2

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


def test_a_recent_url_gets_its_stored_result_and_a_url_with_again_is_fetched(inputs, redis_client, counted) -> None:
    frontier = Shard(redis_client, FrontierPolicy(host_delay_sec=0))
    url = "https://a.test/1"
    redis_client.rpush("crawler_queue", url)
    inputs.from_queue()
    (lease,) = frontier.take(1).leases
    frontier.done(lease, reason="stored")
    redis_client.set(f"webpage:{page_key(url)}", "<html>")
    with redis_client.pipeline() as pipe:
        inputs._articles.write(pipe, lease.id, hash_fields(STORED | {"uid": lease.id}))
        pipe.execute()

    redis_client.rpush("crawler_queue", json.dumps({"url": url, "category": "news"}))
    inputs.from_queue()
    (known, ready, page) = events(redis_client)
    at = int(NOW.timestamp())
    assert known[:2] == ("url_known", f"url_known:{lease.id}:{at}")
    assert {name: known[2][name] for name in ("uid", "url", "category", "status", "reason", "article_uid")} == {
        "uid": lease.id, "url": url, "category": "news", "status": "fetched", "reason": "stored",
        "article_uid": lease.id,
    }  # fmt: skip
    assert ready[:2] == ("article_ready", f"article_ready:{lease.id}:{'ab' * 8}:{at}")
    assert (ready[2]["title"], ready[2]["categories"]) == ("One", ["news"])
    assert page[0] == "webpage_fetched"
    assert counted == [1]
    assert not frontier.take(4).leases

    redis_client.rpush("crawler_queue", json.dumps({"url": url, "again": True}))
    inputs.from_queue()
    assert len(events(redis_client)) == 3
    assert [lease.task.url for lease in frontier.take(4).leases] == [url]


def test_a_failed_or_expired_url_is_announced_as_such(inputs, redis_client) -> None:
    frontier = Shard(redis_client, FrontierPolicy(host_delay_sec=0))
    redis_client.rpush("crawler_queue", "https://a.test/1", "https://b.test/2")
    inputs.from_queue()
    uids = {}
    for lease in (*frontier.take(1).leases, *frontier.take(1).leases):
        frontier.done(lease, status="dead", reason="http_404", dead_letter=True)
        uids[lease.task.url] = lease.id
    failed = {"uid": uids["https://a.test/1"], "url": "https://a.test/1", "status": "failure", "failure": "FAIL_HTTP"}
    with redis_client.pipeline() as pipe:
        inputs._articles.write(pipe, failed["uid"], hash_fields(failed | {"failure_reason": "http_404"}))
        pipe.execute()
    redis_client.rpush("crawler_queue", "https://a.test/1", "https://b.test/2")
    inputs.from_queue()
    assert [(kind, data["uid"]) for kind, _, data in events(redis_client)] == [
        ("url_known", uids["https://a.test/1"]),
        ("article_failed", uids["https://a.test/1"]),
        ("url_known", uids["https://b.test/2"]),
    ]
    assert {data["reason"] for kind, _, data in events(redis_client) if kind == "url_known"} == {"http_404"}


def test_items_beyond_the_room_of_the_frontier_stay_queued_in_order(inputs, redis_client) -> None:
    frontier = Shard(redis_client, FrontierPolicy(host_delay_sec=0))
    urls = [f"https://a.test/{number}" for number in range(400)]
    redis_client.rpush("crawler_queue", *urls)
    assert [inputs.from_queue() for _ in range(4)] == [100, 50, 0, 0]
    assert redis_client.llen("crawler_queue") == 250
    fetched = []
    while leases := frontier.take(1).leases:
        fetched += [lease.task.url for lease in leases]
        frontier.done(leases[0])
        inputs.from_queue()
    assert fetched == urls


def test_links_that_others_added_become_tasks_of_their_category_once(inputs, redis_client) -> None:
    redis_client.sadd("rss:category_links:news", "https://a.test/1", "https://c.test/2", "javascript:alert(1)")
    redis_client.sadd("rss:category_links:two words", "https://b.test/3")

    assert sum(inputs.from_categories()) == 3
    assert sum(inputs.from_categories()) == 0

    tasks = {url: lease.task.category for url, lease in taken(redis_client).items()}
    assert tasks == {"https://a.test/1": "news", "https://c.test/2": "news", "https://b.test/3": "two words"}
    assert json.loads(redis_client.lindex("page_fetcher_dlq", 0))["item"] == "javascript:alert(1)"


def test_a_pass_through_many_keys_is_read_in_small_steps(inputs, redis_client) -> None:
    redis_client.mset({f"other:{number}": "" for number in range(5_000)})
    redis_client.sadd("rss:category_links:news", *[f"https://a.test/{number}" for number in range(250)])
    redis_client.rpush("{crawler_queue}:taken:dead:7", "https://b.test/1")
    steps, commands = inputs.passes(), lambda: redis_client.info("stats")["total_commands_processed"]

    def a_pass():
        before = commands()
        while (new := next(steps)) is not None:
            yield new, commands() - before
            before = commands()

    first = list(a_pass())
    assert sum(new for new, _ in first) == 251
    assert len(first) >= 2 * 5
    assert max(sent for new, sent in first if not new) <= 5
    redis_client.sadd("rss:category_links:late", "https://c.test/1")
    assert sum(new for new, _ in a_pass()) == 1


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
