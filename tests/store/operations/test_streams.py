import time

import pytest
import redis

from feedcrawl.domain.operations.events import Event
from feedcrawl.store.operations.streams import TRIM_EVERY, Backlog, Events, StoredEvent
from feedcrawl.store.redis.keys import EVENTS, EVENTS_REFUSED, leader

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
    events.trim(time.time(), force=True)
    assert 300 <= length(redis_client) < 500  # whole nodes of a hundred


def test_a_missing_stream_is_no_error(events: Events, redis_client: redis.Redis) -> None:
    events.trim(time.time(), force=True)
    assert not redis_client.exists(EVENTS)


@pytest.mark.parametrize("read", [0, 100, 250])
def test_events_that_a_group_has_not_read_stay(events: Events, redis_client: redis.Redis, read: int) -> None:
    fill(redis_client, 500, age_sec=2 * TTL_SEC)
    redis_client.xgroup_create(EVENTS, "quick", id="$")
    redis_client.xgroup_create(EVENTS, "slow", id="0")
    if read:
        ((_, given),) = redis_client.xreadgroup("slow", "one", {EVENTS: ">"}, count=read)
        redis_client.xack(EVENTS, "slow", *(each for each, _ in given))
    events.trim(time.time(), force=True)
    assert length(redis_client) >= 500 - read
    left = redis_client.xreadgroup("slow", "one", {EVENTS: ">"}, count=1000)
    assert len(left[0][1]) == 500 - read


def test_events_that_a_group_has_not_acknowledged_stay(events: Events, redis_client: redis.Redis) -> None:
    ids = fill(redis_client, 500, age_sec=2 * TTL_SEC)
    redis_client.xgroup_create(EVENTS, "group", id="0")
    redis_client.xreadgroup("group", "one", {EVENTS: ">"}, count=500)
    redis_client.xack(EVENTS, "group", *ids[:120], *ids[121:])
    events.trim(time.time(), force=True)
    assert redis_client.xrange(EVENTS, ids[120], ids[120])
    assert length(redis_client) < 500
    redis_client.xack(EVENTS, "group", ids[120])
    events.trim(time.time(), force=True)
    assert length(redis_client) <= 100


def test_trimming_is_seldom(events: Events, redis_client: redis.Redis) -> None:
    fill(redis_client, 300, age_sec=2 * TTL_SEC)
    event = Event("new_entry", "1", "{}")
    with redis_client.pipeline() as pipe:
        events.add(pipe, [event] * (TRIM_EVERY - 1))
        events.trim(time.time())
        assert length(redis_client) == 300
        events.add(pipe, [event])
        events.trim(time.time())
    assert length(redis_client) < 300


def numbers(events: list[StoredEvent]) -> list[str]:
    return [each.fields["id"] for each in events]


def test_events_after_a_cursor_are_returned(events: Events, redis_client: redis.Redis) -> None:
    ids = fill(redis_client, 10, age_sec=10)
    assert [each.at for each in events.after("0", 100)] == ids
    assert numbers(events.after(ids[3], 2)) == ["4", "5"]
    assert events.after(ids[-1], 2) == []
    assert numbers(events.after(ids[3].partition("-")[0], 1)) == ["4"]  # of a time alone, what comes after it


def test_a_group_begins_with_the_oldest_event_and_continues_after_its_last(
    events: Events, redis_client: redis.Redis
) -> None:
    fill(redis_client, 6, age_sec=10)
    events.open_group("kafka")
    first = events.give("kafka", "relay", 4, again=False)
    events.acknowledge("kafka", first[:1])
    events.open_group("kafka")
    assert numbers(events.give("kafka", "relay", 2, again=True)) == ["1", "2"]
    assert numbers(events.give("kafka", "relay", 9, again=False)) == ["4", "5"]
    assert events.give("kafka", "relay", 9, again=False) == []
    events.acknowledge("kafka", [])


def test_an_unsent_event_that_was_deleted_has_no_fields(events: Events, redis_client: redis.Redis) -> None:
    ids = fill(redis_client, 2, age_sec=10)
    events.open_group("kafka")
    events.give("kafka", "relay", 2, again=False)
    redis_client.xdel(EVENTS, ids[0])
    assert [each.fields.get("id") for each in events.give("kafka", "relay", 2, again=True)] == [None, "1"]


def test_how_far_behind_each_group_is(events: Events, redis_client: redis.Redis) -> None:
    assert events.backlogs() == []
    ids = fill(redis_client, 10, age_sec=10)
    begin = int(ids[0].partition("-")[0])
    events.open_group("kafka")
    given = events.give("kafka", "relay", 4, again=False)
    events.acknowledge("kafka", given[:2])
    redis_client.xgroup_create(EVENTS, "ahead", id="$")
    assert {each.group: each for each in events.backlogs()} == {
        "kafka": Backlog("kafka", 2, 6, (begin + 2) / 1000),
        "ahead": Backlog("ahead", 0, 0, None),
    }
    events.acknowledge("kafka", given)
    assert next(each for each in events.backlogs() if each.group == "kafka") == Backlog(
        "kafka", 0, 6, (begin + 4) / 1000
    )


def test_a_single_worker_leads_until_it_leaves_or_expires(events: Events, redis_client: redis.Redis) -> None:
    assert events.lead("kafka", "a", 60)
    assert not events.lead("kafka", "b", 60)
    assert events.lead("kafka", "a", 60)
    events.leave("kafka", "b")
    assert not events.lead("kafka", "b", 60)
    events.leave("kafka", "a")
    assert events.lead("kafka", "b", 60)
    redis_client.delete(leader("kafka"))  # as when the time is over
    assert events.lead("kafka", "a", 60)
    assert not events.lead("kafka", "b", 60)


def test_an_event_that_can_never_be_sent_is_stored_with_its_reason(events: Events, redis_client: redis.Redis) -> None:
    events.refuse(StoredEvent("5-0", {"type": "new_entry", "id": "n:1", "data": "{"}), "kafka", "bad_json", "line 1")
    assert [fields for _, fields in redis_client.xrange(EVENTS_REFUSED)] == [
        {
            "type": "new_entry",
            "id": "n:1",
            "data": "{",
            "at": "5-0",
            "group": "kafka",
            "reason": "bad_json",
            "detail": "line 1",
        }
    ]
