import json

import pytest
import redis

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.operations.events import event
from feedcrawl.services.operations import events as service
from feedcrawl.store.operations.streams import Events
from feedcrawl.store.redis import keys


@pytest.fixture
def events(redis_client: redis.Redis) -> Events:
    return Events(redis_client, ttl_sec=3600)


def publish(client: redis.Redis, events: Events, count: int) -> list[str]:
    """Every third is an article, the others entries; the cursors."""
    with client.pipeline() as pipe:
        kinds = ("article_ready", "new_entry", "new_entry")
        events.add(pipe, [event(kinds[number % 3], str(number), {"n": number}) for number in range(count)])
        return pipe.execute()


def test_pages_follow_each_other_to_the_end(events: Events, redis_client: redis.Redis) -> None:
    cursors = publish(redis_client, events, 7)
    page, seen = service.Page((), service.BEGINNING), []
    for _ in range(4):
        page = service.read(events, page.cursor, 3)
        seen += page.events
    assert [each["data"] for each in seen] == [{"n": number} for number in range(7)]
    assert seen[0] == {"cursor": cursors[0], "type": "article_ready", "id": "article_ready:0", "data": {"n": 0}}
    assert page == service.Page((), cursors[-1])


def test_types_narrow_down_and_the_cursor_moves_on(
    events: Events, redis_client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    cursors = publish(redis_client, events, 10)
    page = service.read(events, "0", 2, {"article_ready"})
    assert ([each["data"]["n"] for each in page.events], page.cursor) == ([0, 3], cursors[3])
    page = service.read(events, page.cursor, 2, {"article_ready"})
    assert ([each["data"]["n"] for each in page.events], page.cursor) == ([6, 9], cursors[9])
    monkeypatch.setattr(service, "_LOOKED_AT", 4)
    page = service.read(events, "0", 2, {"article_failed"})
    assert page == service.Page((), cursors[3])
    assert service.read(events, page.cursor, 2, {"article_failed"}).cursor == cursors[7]


def test_from_now_on(events: Events, redis_client: redis.Redis) -> None:
    assert service.read(events, service.NOW) == service.Page((), "0")
    publish(redis_client, events, 3)
    page = service.read(events, service.NOW)
    assert page.events == ()
    (later,) = publish(redis_client, events, 1)
    assert [each["cursor"] for each in service.read(events, page.cursor).events] == [later]


def test_an_event_of_another_program_is_text(events: Events, redis_client: redis.Redis) -> None:
    redis_client.xadd(keys.EVENTS, {"data": "{"})
    (found,) = service.read(events).events
    assert (found["type"], found["id"], found["data"]) == (None, None, "{")


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"after": "x"}, "bad_cursor"),
        ({"after": ""}, "bad_cursor"),
        ({"after": "-"}, "bad_cursor"),
        ({"after": "1-2-3"}, "bad_cursor"),
        ({"after": "9" * 30}, "bad_cursor"),
        ({"after": "1-٣"}, "bad_cursor"),
        ({"limit": 0}, "bad_limit"),
        ({"limit": 1001}, "bad_limit"),
        ({"types": {"new_entry", "weather"}}, "unknown_type"),
    ],
)
def test_a_bad_argument_is_refused(events: Events, given: dict[str, object], code: str) -> None:
    with pytest.raises(Refusal) as refused:
        service.read(events, **given)  # type: ignore[arg-type]
    assert refused.value.code == code


def test_a_whole_page_is_json(events: Events, redis_client: redis.Redis) -> None:
    publish(redis_client, events, 3)
    assert json.loads(json.dumps(service.read(events).events))[2]["data"] == {"n": 2}
