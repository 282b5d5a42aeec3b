import json
from dataclasses import replace
from threading import Thread

import pytest
import redis

from feedcrawl.domain.frontier.shards import shard_of
from feedcrawl.domain.subscriptions.records import PollRecord, Subscription
from feedcrawl.store.redis.keys import shard_number
from feedcrawl.store.subscriptions.registry import PAGE, Registry

FIRST = Subscription("1", "https://a.test/feed", ("news",), added_at="2026-11-27T10:00:00.000Z")
POLLS = PollRecord(etag='W/"\x80"', interval_sec=900.0, last_status=200, candidates=(("initial", 900.0),))


@pytest.fixture
def registry(redis_client: redis.Redis) -> Registry:
    return Registry(redis_client, journal_length=3)


def record(client: redis.Redis, commands: list[list[str | int]]) -> None:
    for command in commands:
        client.execute_command(*command)


def test_an_added_feed_is_found(registry: Registry) -> None:
    assert registry.add(FIRST, "a.test/feed") == "1"
    found = registry.load(["1", "2"])
    assert found["1"].subscription == FIRST
    assert found["1"].polls == PollRecord()
    assert list(found) == ["1"]
    assert (registry.by_url("a.test/feed"), registry.by_url("b.test/"), registry.count()) == ("1", None, 1)


def test_a_url_is_a_single_feed(registry: Registry) -> None:
    registry.add(FIRST, "a.test/feed")
    second = replace(FIRST, id="2", categories=("other",))
    assert registry.add(second, "a.test/feed") == "1"
    assert registry.load(["1", "2"]) == {"1": registry.load(["1"])["1"]}
    assert registry.load(["1"])["1"].subscription.categories == ("news",)


def test_a_url_that_was_claimed_and_not_written_is_written_by_the_next(
    registry: Registry, redis_client: redis.Redis
) -> None:
    redis_client.hset("fc:{0}:feed_by_url", "a.test/feed", "1")  # a kill between the two steps
    assert registry.add(replace(FIRST, id="2"), "a.test/feed") == "1"
    assert registry.load(["1"])["1"].subscription == FIRST


def test_feeds_added_at_once_are_the_same_feed(redis_server: str, redis_client: redis.Redis) -> None:
    answers: list[str] = []

    def add(number: int) -> None:
        with redis.Redis.from_url(redis_server, decode_responses=True) as client:
            answers.append(Registry(client).add(replace(FIRST, id=str(number)), "a.test/feed"))

    threads = [Thread(target=add, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(answers)) == 1
    assert Registry(redis_client).count() == 1


def test_a_removed_feed_leaves_nothing(registry: Registry, redis_client: redis.Redis) -> None:
    registry.add(FIRST, "a.test/feed")
    record(redis_client, registry.commit("1", POLLS, {"poll_id": "1@a"}))
    assert registry.remove("1", "a.test/feed")
    assert not registry.remove("1", "a.test/feed")
    assert redis_client.keys() == []
    assert registry.add(replace(FIRST, id="2"), "a.test/feed") == "2"


def test_a_poll_is_recorded(registry: Registry, redis_client: redis.Redis) -> None:
    registry.add(FIRST, "a.test/feed")
    record(redis_client, registry.commit("1", POLLS, {"poll_id": "1@a", "note": "café \u2028"}))
    assert registry.load(["1"])["1"].polls == POLLS
    assert registry.journal("1") == [{"poll_id": "1@a", "note": "café \u2028"}]


def test_the_commands_of_a_commit_are_plain_and_of_a_single_shard() -> None:
    registry = Registry(None, shards=64)
    commands = registry.commit("1", POLLS, {"poll_id": "1@a"}) + registry.demand_changed("1", 0.5)
    assert {shard_number(str(command[1])) for command in commands} == {shard_of("1", 64)}
    assert json.loads(json.dumps(commands)) == commands


def test_the_journal_is_short_newest_first_and_has_each_poll_once(
    registry: Registry, redis_client: redis.Redis
) -> None:
    for poll_id in ("a", "b", "c", "c", "d"):
        record(redis_client, registry.commit("1", POLLS, {"poll_id": poll_id}))
    assert [fetch["poll_id"] for fetch in registry.journal("1")] == ["d", "c"]
    assert redis_client.llen("fc:{0}:journal:1") == 3
    assert registry.journal("2") == []


@pytest.mark.parametrize("count", [0, 1, PAGE - 1, PAGE, PAGE + 1])
def test_all_feeds_come(registry: Registry, count: int) -> None:
    for number in range(count):
        registry.save(replace(FIRST, id=str(number)))
    assert sorted(int(feed.id) for feed in registry.all()) == list(range(count))
    assert registry.count() == count


def test_a_listed_feed_without_a_record_stops_no_other(registry: Registry, redis_client: redis.Redis) -> None:
    registry.save(FIRST)
    redis_client.sadd("fc:{0}:feeds", "ghost")
    assert [feed.id for feed in registry.all()] == ["1"]


@pytest.mark.parametrize("category", ["news", "naïve", 'a "b"', "Ω"])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_feeds_of_a_category(registry: Registry, redis_client: redis.Redis, category: str, ascii_only: bool) -> None:
    """However an earlier version escaped its name; a title that has the name is no category."""
    registry.save(replace(FIRST, id="1", categories=("other", category)))
    registry.save(replace(FIRST, id="2", categories=("other",), title=category))
    registry.save(replace(FIRST, id="3", categories=(f"{category} two",)))
    stored = json.loads(redis_client.get("fc:{0}:feed:1") or "")
    redis_client.set("fc:{0}:feed:1", json.dumps(stored, ensure_ascii=ascii_only))
    registry.save_polls("1", POLLS)
    assert [(feed.id, feed.polls) for feed in registry.of_category(category)] == [("1", POLLS)]
    assert list(registry.of_category("none")) == []


def test_an_empty_list_of_ids_loads_nothing() -> None:
    assert Registry(None).load([]) == {}


@pytest.mark.parametrize("shards", [1, 3])
def test_feeds_that_fail_are_listed_until_they_do_not_or_are_gone(redis_client: redis.Redis, shards: int) -> None:
    registry = Registry(redis_client, shards=shards)
    good = PollRecord(last_result="not_modified")
    failed = {times: PollRecord(last_result="dns", cadence=f'{{"errors":{times}}}') for times in (1, 2, 3)}
    for feed_id, times in (("a", 1), ("b", 3), ("c", 2)):
        registry.save(Subscription(feed_id, f"https://{feed_id}.example/"))
        record(redis_client, registry.failing_changed(feed_id, good, failed[times]))
    assert (registry.failing_count(), registry.failing(2)) == (3, ["b", "c"])
    assert registry.failing() == ["b", "c", "a"]
    record(redis_client, registry.failing_changed("b", failed[3], good))
    registry.remove("c")
    assert (registry.failing_count(), registry.failing(9)) == (1, ["a"])
    assert registry.failing_changed("a", PollRecord(), good) == []
    assert set(registry.some(9)) == {"a", "b"}
