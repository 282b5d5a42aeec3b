from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl

import pytest
import redis

from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.services.push.publishing import Publisher, form_of
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy

HUB, BASE = "http://hub.test/", "https://news.test/base/"


class Clock:
    ms = 1_764_286_185_123

    def __call__(self) -> int:
        return self.ms


def article(*categories: str, source: str | None = None) -> Any:
    task = Task("u", "article", "http://a.test/1", "a.test", source=source)
    return SimpleNamespace(categories=list(categories), lease=SimpleNamespace(task=task))


def topics(frontier: Shard, clock: Clock) -> list[str]:
    found = []
    for _ in range(20):
        clock.ms += 2_000
        for lease in frontier.take(9).leases:
            found.append(lease.task.payload["topic"])
            frontier.done(lease, status="fetched")
    return sorted(found)


def test_the_hub_is_notified_of_each_feed_once_for_all_waiting_news(redis_client: redis.Redis) -> None:
    clock = Clock()
    frontier = Shard(redis_client, FrontierPolicy(host_delay_sec=0), clock=clock)
    publisher = Publisher(frontier, HUB, BASE)
    for _ in range(3):
        publisher.stored(article("two words", source="paper.test"))
    assert frontier.take(9).leases == ()  # they wait for further news
    expected = [
        f"https://news.test/base/{name}.{form}"
        for name in ("articles", "categories/two%20words", "sources/paper.test")
        for form in ("atom", "json")
    ]
    assert topics(frontier, clock) == expected
    publisher.collection_changed("default")
    publisher.stored(article("two words"))  # later news notify the hub again
    assert len(topics(frontier, clock)) == 6
    form = dict(parse_qsl(form_of(Task("x", "websub", HUB, "hub.test", payload={"topic": expected[0]})).decode()))
    assert form == {"hub.mode": "publish", "hub.url": expected[0], "hub.topic": expected[0]}


@pytest.mark.parametrize(("hub", "base"), [(None, BASE), (HUB, None)])
def test_no_hub_is_notified_without_a_configured_hub_or_address(redis_client: redis.Redis, hub: Any, base: Any) -> None:
    frontier = Shard(redis_client, FrontierPolicy())
    Publisher(frontier, hub, base).stored(article("c"))
    assert not redis_client.keys("fc:{0}:t:*")
