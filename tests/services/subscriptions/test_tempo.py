from datetime import UTC, datetime, timedelta

import pytest
import redis

from feedcrawl.domain.cadence import CadencePolicy
from feedcrawl.services.subscriptions.tempo import Tempo
from feedcrawl.store.subscriptions.registry import Registry

NOW = datetime(2026, 11, 28, tzinfo=UTC)


def test_the_store_is_not_read_without_a_budget() -> None:
    policy = CadencePolicy()
    assert Tempo(None, policy, None).policy(NOW) is policy  # type: ignore[arg-type]


def test_the_tempo_follows_the_demand_of_all_feeds(redis_client: redis.Redis, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    registry = Registry(redis_client)
    tempo = Tempo(registry, CadencePolicy(fairness=0.5), 3600.0)
    assert tempo.policy(NOW) == CadencePolicy(fairness=0.5)
    registry.add_demand("f", 2.0)
    registry.add_demand("g", -0.5)
    assert tempo.policy(NOW + timedelta(seconds=59)).tempo == 1.0
    assert tempo.policy(NOW + timedelta(seconds=60)).tempo == 1.5
    registry.add_demand("f", 0.03)
    assert tempo.policy(NOW + timedelta(seconds=120)).tempo == pytest.approx(1.53)
    assert [record.message for record in caplog.records] == ["tempo_changed"]
