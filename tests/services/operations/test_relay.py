import asyncio
import hashlib
import json
import logging
import random
from collections.abc import Awaitable, Callable, Iterator, Sequence

import pytest
import redis
from confluent_kafka import Message as Received
from kafka_cluster import Kafka

from feedcrawl.domain.operations.events import Event, Unprocessable
from feedcrawl.domain.operations.kafka_messages import Message, NewEntry, WebpageEvent
from feedcrawl.services.operations import consumer as module
from feedcrawl.services.operations.consumer import Consumer, TargetAway, backlog
from feedcrawl.services.operations.kafka import Brokers
from feedcrawl.services.operations.relay import AWAY, GROUP, relay
from feedcrawl.store.operations.streams import Events
from feedcrawl.store.redis import keys

TOPICS = {"webpage_fetched": "webpage_log", "new_entry": "new_entry"}


@pytest.fixture(scope="module")
def kafka() -> Iterator[Kafka]:
    cluster = Kafka(brokers=3)
    yield cluster
    cluster.close()


@pytest.fixture
def topics(request: pytest.FixtureRequest) -> dict[str, str]:
    """Topics of the test's own on the shared brokers."""
    name = hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:8]
    return {kind: f"{topic}-{name}" for kind, topic in TOPICS.items()}


@pytest.fixture
def events(redis_client: redis.Redis) -> Events:
    return Events(redis_client, ttl_sec=3600)


def page(number: int, version: int = 0) -> Event:
    data = {
        "type": "webpage_fetched",
        "url": f"http://news.test/{number}",
        "cache_key": "",
        "status_code": 200,
        "content_type": "text/html",
        "content_length": version,
        "content_hash": "a" * 64,
        "fetched_at": "2026-11-28T00:33:05Z",
    }
    return Event("webpage_fetched", f"webpage_fetched:{number}:{version}", json.dumps(data))


def new_entry(number: int, *, uid: str = "") -> Event:
    data = {
        "entry_uid": uid or f"e{number}",
        "feed_id": "0d63020a-ef80-4076-b20d-10c0346f7a6b",
        "published": None,
        "canonical_link": f"http://news.test/{number}",
        "title": "A bridge",
        "article_uid": None,
        "content_hash": "b" * 64,
        "raw_refs": [],
        "ingested_at": "2026-11-28T00:33:04.151Z",
    }
    return Event("new_entry", f"new_entry:{number}", json.dumps(data))


def publish(client: redis.Redis, events: Events, announced: Sequence[Event]) -> None:
    with client.pipeline(transaction=False) as pipe:
        events.add(pipe, announced)
        pipe.execute()


def relaying(consumer: Consumer) -> bool:
    return asyncio.run(consumer.run(asyncio.Event(), once=True))


def ids(found: Sequence[Received]) -> list[str]:
    return [dict(each.headers())["id"].decode() for each in found]


class Flaky:
    """A producer that records the messages sent; a test may have it fail or hang."""

    def __init__(self, ends: Sequence[object] = ()) -> None:
        self.sent: list[str] = []
        self.closed = 0
        self._ends = list(ends)

    async def send(self, messages: Sequence[Message]) -> list[Unprocessable | None]:
        end = self._ends.pop(0) if self._ends else None
        if callable(end):
            await end()
        if isinstance(end, int):  # so many were sent before it failed
            self.sent += [message.id for message in messages[:end]]
            raise TargetAway(AWAY, "they are away")
        self.sent += [message.id for message in messages]
        return [None] * len(messages)

    async def close(self) -> None:
        self.closed += 1


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WAITS_SEC", (0.01, 0.05))
    monkeypatch.setattr(module, "IDLE_SEC", 0.01)


# --- against brokers ---


@pytest.mark.parametrize("articles", [25, pytest.param(500, marks=pytest.mark.slow)])
def test_many_events_come_once_each_and_in_order_per_article(
    redis_client: redis.Redis, events: Events, kafka: Kafka, topics: dict[str, str], articles: int
) -> None:
    pages = [page(number, version) for version in range(20) for number in range(articles)]
    random.Random(7).shuffle(pages)
    publish(redis_client, events, pages)
    consumer = relay(events, Brokers(kafka.bootstrap), topics, worker="a")
    assert relaying(consumer)
    assert consumer.sent == len(pages)
    found = kafka.read([topics["webpage_fetched"]], len(pages))
    assert sorted(ids(found)) == sorted(event.id for event in pages)
    for number in range(articles):
        mine = [each for each in ids(found) if each.split(":")[1] == str(number)]
        assert mine == [event.id for event in pages if event.id.split(":")[1] == str(number)]
    assert backlog(events, GROUP).unacknowledged == backlog(events, GROUP).waiting == 0  # type: ignore[union-attr]


def test_each_topic_has_its_shape_and_key(
    redis_client: redis.Redis, events: Events, kafka: Kafka, topics: dict[str, str]
) -> None:
    publish(redis_client, events, [page(1), new_entry(2), Event("article_ready", "article_ready:x", "{}")])
    assert relaying(relay(events, Brokers(kafka.bootstrap), topics, worker="a"))
    log, entry = (kafka.read([topic], 1)[0] for topic in topics.values())
    assert WebpageEvent.model_validate_json(log.value()).url == "http://news.test/1"
    assert NewEntry.model_validate_json(entry.value()).entry_uid == "e2"
    assert [each.key() for each in (log, entry)] == [
        hashlib.sha256(url).hexdigest().encode() for url in (b"http://news.test/1", b"http://news.test/2")
    ]


def test_a_trace_goes_on_as_a_header(
    redis_client: redis.Redis, events: Events, kafka: Kafka, topics: dict[str, str]
) -> None:
    with redis_client.pipeline(transaction=False) as pipe:
        events.add(pipe, [page(1)], "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
        events.add(pipe, [page(2)])
        pipe.execute()
    assert relaying(relay(events, Brokers(kafka.bootstrap), topics, worker="a"))
    found = [dict(each.headers()) for each in kafka.read([topics["webpage_fetched"]], 2)]
    assert {each["id"]: each.get("traceparent") for each in found} == {
        b"webpage_fetched:1:0": b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        b"webpage_fetched:2:0": None,
    }


def test_a_message_that_is_too_large_is_kept_aside(
    redis_client: redis.Redis, events: Events, kafka: Kafka, topics: dict[str, str]
) -> None:
    publish(redis_client, events, [new_entry(1), new_entry(2, uid="x" * 2_000_000), new_entry(3)])
    consumer = relay(events, Brokers(kafka.bootstrap), topics, worker="a")
    assert relaying(consumer)
    assert (consumer.sent, consumer.refused) == (2, 1)
    assert set(ids(kafka.read([topics["new_entry"]], 2))) == {"new_entry:1", "new_entry:3"}
    ((_, refused),) = redis_client.xrange(keys.EVENTS_REFUSED)
    assert (refused["id"], refused["reason"], refused["group"]) == ("new_entry:2", "too_large", GROUP)


def test_brokers_that_are_not_there_are_waited_for(
    redis_client: redis.Redis, events: Events, topics: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    gone = Kafka()
    gone.close()
    publish(redis_client, events, [page(number) for number in range(20)])
    assert not relaying(relay(events, Brokers(gone.bootstrap), topics, worker="a"))
    assert [record.reason for record in caplog.records if record.msg == "relay_waits"] == ["brokers_away"]  # type: ignore[attr-defined]
    assert backlog(events, GROUP).unacknowledged == 20  # type: ignore[union-attr]
    there = Kafka()
    assert relaying(relay(events, Brokers(there.bootstrap), topics, worker="b"))
    assert len(there.read([topics["webpage_fetched"]], 20)) == 20
    there.close()


# --- against failures ---


@pytest.mark.parametrize("sent", [0, 3, 10])
def test_a_batch_that_failed_is_repeated_from_its_beginning(
    redis_client: redis.Redis, events: Events, sent: int, caplog: pytest.LogCaptureFixture
) -> None:
    pages = [page(number) for number in range(10)]
    publish(redis_client, events, pages)
    producer, stop = Flaky([sent, sent]), asyncio.Event()

    async def until_sent() -> bool:
        running = asyncio.ensure_future(relay(events, producer, TOPICS, worker="a").run(stop))
        while len(producer.sent) < 2 * sent + 10:
            await asyncio.sleep(0.01)
        stop.set()
        return await running

    with caplog.at_level(logging.WARNING):
        assert asyncio.run(until_sent())
    every = [event.id for event in pages]
    assert producer.sent == every[:sent] * 2 + every
    assert [record.msg for record in caplog.records] == ["relay_waits", "relay_back"]
    assert backlog(events, GROUP).unacknowledged == 0  # type: ignore[union-attr]


def test_unacknowledged_events_are_sent_again_by_the_next_relay(redis_client: redis.Redis, events: Events) -> None:
    pages = [page(number) for number in range(5)]
    publish(redis_client, events, pages)
    killed = Flaky()
    consumer = relay(events, killed, TOPICS, worker="a")
    consumer.source.finish = lambda *_: 1 / 0  # type: ignore[assignment,method-assign]
    with pytest.raises(ZeroDivisionError):
        asyncio.run(consumer.step())
    redis_client.delete(keys.leader(GROUP))  # its time is over
    publish(redis_client, events, [page(9)])
    after = Flaky()
    assert relaying(relay(events, after, TOPICS, worker="b"))
    assert killed.sent == [event.id for event in pages]
    assert after.sent == [*killed.sent, page(9).id]


def test_a_single_relay_leads_and_the_next_takes_its_place(redis_client: redis.Redis, events: Events) -> None:
    publish(redis_client, events, [page(1)])
    first, second = (relay(events, Flaky(), TOPICS, worker=name) for name in "ab")

    async def turns() -> list[int]:
        came = [await first.step(), await second.step()]
        publish(redis_client, events, [page(2)])
        came.append(await second.step())
        first.source.leave()
        return [*came, await second.step(), await first.step()]

    assert asyncio.run(turns()) == [1, 0, 0, 1, 0]


@pytest.mark.parametrize(
    "bad",
    [
        Event("webpage_fetched", "webpage_fetched:bad", "{"),
        Event("new_entry", "new_entry:bad", '{"entry_uid":1}'),
        Event("webpage_fetched", "", page(0).data),
    ],
)
def test_an_event_that_cannot_be_sent_stops_nothing(redis_client: redis.Redis, events: Events, bad: Event) -> None:
    publish(redis_client, events, [page(1), bad, page(2)])
    producer = Flaky()
    consumer = relay(events, producer, TOPICS, worker="a")
    assert relaying(consumer)
    assert producer.sent == [page(1).id, page(2).id]
    ((_, refused),) = redis_client.xrange(keys.EVENTS_REFUSED)
    assert (refused["id"], refused["data"]) == (bad.id, bad.data)
    assert refused["reason"] in {"bad_json", "bad_fields", "no_id"}
    assert consumer.refused == 1


def test_a_stream_that_was_emptied_is_begun_anew(redis_client: redis.Redis, events: Events) -> None:
    producer = Flaky()
    consumer = relay(events, producer, TOPICS, worker="a")

    async def turns() -> None:
        await consumer.step()
        redis_client.flushall()
        publish(redis_client, events, [page(1)])
        for _ in range(2):
            await consumer.step()

    asyncio.run(turns())
    assert producer.sent == [page(1).id]


def hanging() -> Callable[[], Awaitable[None]]:
    async def hang() -> None:
        await asyncio.sleep(60)

    return hang


def test_a_stopped_relay_ends_soon_and_keeps_unacknowledged_events(
    redis_client: redis.Redis, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "DRAIN_SEC", 0.1)
    publish(redis_client, events, [page(1)])
    producer, stop = Flaky([hanging()]), asyncio.Event()

    async def stopped() -> bool:
        asyncio.get_running_loop().call_later(0.3, stop.set)
        return await asyncio.wait_for(relay(events, producer, TOPICS, worker="a").run(stop), 5)

    assert asyncio.run(stopped())
    assert producer.closed == 1
    assert backlog(events, GROUP).unacknowledged == 1  # type: ignore[union-attr]
    assert not redis_client.exists(keys.leader(GROUP))


def test_a_server_without_a_relay_has_no_backlog(events: Events) -> None:
    assert backlog(events, GROUP) is None
