from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import redis

from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.subscriptions.records import PollRecord, dump
from feedcrawl.domain.subscriptions.specs import SubscriptionSpec
from feedcrawl.services.subscriptions import catch_up, registering
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy
from feedcrawl.store.subscriptions.registry import Registry

NOW = datetime(2026, 11, 28, tzinfo=UTC)


def overdue_by_hours(registry: Registry, frontier: Shard, client: redis.Redis, count: int) -> None:
    """Subscribes feeds that were polled, and are overdue by five hours."""
    record = PollRecord(next_at=rfc3339(NOW - timedelta(hours=5)), interval_sec=7200.0, last_fetch_at=rfc3339(NOW))
    for number in range(count):
        spec = SubscriptionSpec(f"http://site-{number}.test/feed")
        feed_id, _ = registering.subscribe(registry, frontier, spec, NOW)
        client.set(f"fc:{{0}}:polls:{feed_id}", dump(record))


def test_overdue_feeds_are_spread_in_pages_and_once_in_ten_minutes(
    redis_client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catch_up, "SAMPLE", 10)
    monkeypatch.setattr(catch_up, "PAGE", 7)
    registry = Registry(redis_client)
    frontier = Shard(redis_client, FrontierPolicy(), clock=lambda: round(NOW.timestamp() * 1000))
    overdue_by_hours(registry, frontier, redis_client, 40)
    assert registry.may_spread(600)
    assert catch_up.spread_overdue(registry, frontier, NOW) == 0
    redis_client.delete("fc:{0}:spread")
    assert catch_up.spread_overdue(registry, frontier, NOW) == 40
    first, *_ = frontier.take(64).leases
    assert first.task.id.startswith("feed:")


@pytest.mark.parametrize(("overdue", "moved"), [(0, 0), (3, 0), (40, 40)])
def test_many_overdue_feeds_are_spread_once(redis_client: redis.Redis, overdue: int, moved: int) -> None:
    registry = Registry(redis_client)
    frontier = Shard(redis_client, FrontierPolicy(), clock=lambda: round(NOW.timestamp() * 1000))
    for number in range(40):
        spec = SubscriptionSpec(f"http://site-{number}.test/feed")
        feed_id, _ = registering.subscribe(registry, frontier, spec, NOW)
        due = NOW - timedelta(hours=5) if number < overdue else NOW + timedelta(hours=1)
        record = PollRecord(next_at=rfc3339(due), interval_sec=7200.0, last_fetch_at=rfc3339(NOW))
        redis_client.set(f"fc:{{0}}:polls:{feed_id}", dump(replace(record, reason="rate")))
    assert catch_up.spread_overdue(registry, frontier, NOW) == moved
    assert catch_up.spread_overdue(registry, frontier, NOW) == 0
    if moved:
        taken = frontier.take(64)
        assert len(taken.leases) == 1
        assert taken.wait_sec == pytest.approx(180, abs=1)  # 40 feeds at an interval of two hours
