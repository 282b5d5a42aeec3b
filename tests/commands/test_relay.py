import json
import signal
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import redis
from kafka_cluster import Kafka
from scrapy_process import Process, clean_environment

from feedcrawl.domain.operations.events import Event
from feedcrawl.services.operations.relay import GROUP
from feedcrawl.store.operations.streams import Events
from feedcrawl.store.redis import keys

Call = Callable[..., tuple[int, str, str]]
MANY = 10_000


@pytest.fixture
def kafka() -> Iterator[Kafka]:
    cluster = Kafka()
    yield cluster
    cluster.close()


def publish(client: redis.Redis, count: int) -> list[str]:
    data = {
        "type": "webpage_fetched",
        "cache_key": "",
        "status_code": 200,
        "content_type": None,
        "content_length": 1,
        "content_hash": "a" * 64,
        "fetched_at": "2026-11-28T00:33:05Z",
    }
    events = [
        Event(
            "webpage_fetched", f"webpage_fetched:{number}", json.dumps({**data, "url": f"http://a.test/{number % 50}"})
        )
        for number in range(count)
    ]
    with client.pipeline(transaction=False) as pipe:
        Events(client, ttl_sec=3600).add(pipe, events)
        pipe.execute()
    return [event.id for event in events]


def test_a_relay_without_brokers_names_the_setting(call: Call) -> None:
    code, _, err = call("relay")
    assert code == 2
    assert "FEEDCRAWL_KAFKA_BOOTSTRAP" in err


def test_half_a_login_stops_the_start_and_is_not_printed(call: Call) -> None:
    given = {"FEEDCRAWL_KAFKA_BOOTSTRAP": "127.0.0.1:1", "FEEDCRAWL_KAFKA_PASSWORD": "hunter2"}
    code, out, err = call("relay", **given)
    assert code == 2
    assert "FEEDCRAWL_KAFKA_SECURITY is plaintext" in err
    assert "hunter2" not in out + err


def test_a_relay_sends_all_events_and_reports_their_number(call: Call, redis_client: redis.Redis, kafka: Kafka) -> None:
    assert json.loads(call("relay", "--status")[1]) == {"unacknowledged": None, "waiting": None, "behind_sec": None}
    events = publish(redis_client, 3)
    settings = {"FEEDCRAWL_KAFKA_BOOTSTRAP": kafka.bootstrap, "FEEDCRAWL_KAFKA_WEBPAGE_TOPIC": "pages"}
    code, _, err = call("relay", "--once", **settings)
    assert (code, err) == (0, "scrapy relay: 3 events sent, 0 refused\n")
    assert {dict(each.headers())["id"].decode() for each in kafka.read(["pages"], 3)} == set(events)
    assert json.loads(call("relay", "--status")[1]) == {"unacknowledged": 0, "waiting": 0, "behind_sec": 0.0}
    publish(redis_client, 2)
    time.sleep(0.01)
    status = json.loads(call("relay", "--status")[1])
    assert (status["unacknowledged"], status["waiting"]) == (0, 2)
    assert 0 < status["behind_sec"] < 60


def test_a_relay_round_without_its_brokers_fails(call: Call, redis_client: redis.Redis, kafka: Kafka) -> None:
    publish(redis_client, 1)
    kafka.close()
    code, _, err = call("relay", "--once", FEEDCRAWL_KAFKA_BOOTSTRAP=kafka.bootstrap)
    assert code == 1
    assert "brokers_away" in err


def started(server: str, data_dir: Path, kafka: Kafka, *options: str) -> Process:
    own = {"FEEDCRAWL_DATA_DIR": str(data_dir), "REDIS_URL": server, "FEEDCRAWL_KAFKA_BOOTSTRAP": kafka.bootstrap}
    return Process(["-m", "scrapy", "relay", *options], clean_environment() | own)


def acknowledged(client: redis.Redis) -> bool:
    groups = client.xinfo_groups(keys.EVENTS) if client.exists(keys.EVENTS) else []
    return any(group["name"] == GROUP and group["last-delivered-id"] != "0-0" for group in groups)


def test_relays_that_are_killed_lose_no_event_and_keep_the_order(
    redis_server: str, redis_client: redis.Redis, kafka: Kafka, tmp_path: Path
) -> None:
    events = publish(redis_client, MANY)
    for number, end in enumerate((signal.SIGKILL, signal.SIGTERM)):
        process = started(redis_server, tmp_path, kafka)
        before = redis_client.xinfo_groups(keys.EVENTS)[0]["entries-read"] if number else 0
        while not acknowledged(redis_client) or redis_client.xinfo_groups(keys.EVENTS)[0]["entries-read"] <= before:
            time.sleep(0.005)
        process.send_signal(end)
        assert process.wait(20) == (0 if end == signal.SIGTERM else -signal.SIGKILL)
        if end == signal.SIGKILL:
            assert redis_client.delete(keys.leader(GROUP))  # its time is over
    assert redis_client.xinfo_groups(keys.EVENTS)[0]["entries-read"] < MANY, "nothing was interrupted"
    assert not redis_client.exists(keys.leader(GROUP))
    assert started(redis_server, tmp_path, kafka, "--once").wait(60) == 0
    found = [dict(each.headers())["id"].decode() for each in kafka.read(["webpage_log"], MANY)]
    assert set(found) == set(events)
    for article in range(50):
        mine = [int(each.split(":")[1]) for each in found if int(each.split(":")[1]) % 50 == article]
        steps = [later - earlier for earlier, later in pairwise(mine)]
        assert all(step == 50 or step <= 0 for step in steps), "a gap: something was sent before what came earlier"
    assert len(found) - MANY <= 500
