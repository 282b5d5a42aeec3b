import time

import pytest
import redis

from feedcrawl.domain.events import Event
from feedcrawl.store.keys import EVENTS
from feedcrawl.store.streams import TRIM_EVERY, Events

TTL_SEC = 3600


@pytest.fixture
def events(redis_client: redis.Redis) -> Events:
    return Events(redis_client, ttl_sec=TTL_SEC)


def fill(client: redis.Redis, count: int, age_sec: float) -> list[str]:
    """So many events of about that age."""
    start = int((time.time() - age_sec) * 1000)
    with client.pipeline() as pipe:
        for number in range(count):
            pipe.xadd(EVENTS, {"type": "new_entry", "id": str(number), "data": "{}"}, id=f"{start + number}-0")
        return pipe.execute()


def length(client: redis.Redis) -> int:
    return int(client.xlen(EVENTS))


def test_events_come_in_order_with_their_three_fields(events: Events, redis_client: redis.Redis) -> None:
    with redis_client.pipeline() as pipe:
        events.add(pipe, [Event("new_entry", "new_entry:1:a", '{"title":"é"}'), Event("article_ready", "x", "{}")])
        pipe.execute()
    assert [fields for _, fields in redis_client.xrange(EVENTS)] == [
        {"type": "new_entry", "id": "new_entry:1:a", "data": '{"title":"é"}'},
        {"type": "article_ready", "id": "x", "data": "{}"},
    ]


def test_old_events_go(events: Events, redis_client: redis.Redis) -> None:
    fill(redis_client, 500, age_sec=2 * TTL_SEC)
    fill(redis_client, 300, age_sec=TTL_SEC / 2)
    events.trim(force=True)
    assert 300 <= length(redis_client) < 500  # whole nodes of a hundred


def test_a_stream_that_is_not_there_is_no_error(events: Events, redis_client: redis.Redis) -> None:
    events.trim(force=True)
    assert not redis_client.exists(EVENTS)


@pytest.mark.parametrize("read", [0, 100, 250])
def test_what_a_group_has_not_been_given_stays(events: Events, redis_client: redis.Redis, read: int) -> None:
    fill(redis_client, 500, age_sec=2 * TTL_SEC)
    redis_client.xgroup_create(EVENTS, "quick", id="$")
    redis_client.xgroup_create(EVENTS, "slow", id="0")
    if read:
        ((_, given),) = redis_client.xreadgroup("slow", "one", {EVENTS: ">"}, count=read)
        redis_client.xack(EVENTS, "slow", *(each for each, _ in given))
    events.trim(force=True)
    assert length(redis_client) >= 500 - read
    left = redis_client.xreadgroup("slow", "one", {EVENTS: ">"}, count=1000)
    assert len(left[0][1]) == 500 - read


def test_what_a_group_has_not_acknowledged_stays(events: Events, redis_client: redis.Redis) -> None:
    ids = fill(redis_client, 500, age_sec=2 * TTL_SEC)
    redis_client.xgroup_create(EVENTS, "group", id="0")
    redis_client.xreadgroup("group", "one", {EVENTS: ">"}, count=500)
    redis_client.xack(EVENTS, "group", *ids[:120], *ids[121:])
    events.trim(force=True)
    assert redis_client.xrange(EVENTS, ids[120], ids[120])
    assert length(redis_client) < 500
    redis_client.xack(EVENTS, "group", ids[120])
    events.trim(force=True)
    assert length(redis_client) <= 100


def test_trimming_is_seldom(events: Events, redis_client: redis.Redis) -> None:
    fill(redis_client, 300, age_sec=2 * TTL_SEC)
    event = Event("new_entry", "1", "{}")
    with redis_client.pipeline() as pipe:
        events.add(pipe, [event] * (TRIM_EVERY - 1))
        events.trim()
        assert length(redis_client) == 300
        events.add(pipe, [event])
        events.trim()
    assert length(redis_client) < 300
