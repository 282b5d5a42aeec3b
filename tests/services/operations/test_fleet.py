from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import redis
from prometheus_client import CollectorRegistry
from redis_process import redis_of_its_own
from scrapy.settings import Settings

from feedcrawl.domain.frontier.tasks import Lease, Task
from feedcrawl.domain.operations.events import event
from feedcrawl.domain.search.documents import document_of
from feedcrawl.domain.subscriptions.specs import SubscriptionSpec
from feedcrawl.services.operations.fleet import Fleet
from feedcrawl.services.subscriptions.registering import subscribe_all
from feedcrawl.settings import from_environment
from feedcrawl.store.search.interface import Changes
from feedcrawl.telemetry.names import FLEET
from feedcrawl.wiring import Wiring

NOW = datetime(2026, 11, 28, tzinfo=UTC)
ARTICLE: Any = {"uid": f"{1:016x}", "canonical_url": "http://a.test/1", "clean_text": "tea", "fetched_ts": 1.0}


def wired_on(url: str, folder: Path, **more: Any) -> Wiring:
    given = {"REDIS_URL": url, "FEEDCRAWL_DATA_DIR": str(folder), "FEEDCRAWL_CIRCUIT_FAILURES": 1, **more}
    return Wiring(Settings(from_environment({}) | given))


@pytest.fixture(params=[1, 3])
def wired(redis_server: str, redis_client: redis.Redis, tmp_path: Path, request: Any) -> Iterator[Wiring]:
    wired = wired_on(redis_server, tmp_path, FEEDCRAWL_SHARDS=request.param)
    yield wired
    wired.close()


def scraped(wired: Wiring) -> dict[str, float]:
    registry = CollectorRegistry()
    registry.register(Fleet(wired.fleet_stores))
    found = (each for family in registry.collect() for each in family.samples)
    return {each.name + "".join(f" {value}" for value in each.labels.values()): each.value for each in found}


def taken(wired: Wiring, lane: str) -> Lease:
    """The next lease, of whichever shard has one."""
    return next(lease for _ in range(4) for lease in wired.frontier.take(1, lanes=(lane,)).leases)


def article(number: int) -> Task:
    url = f"http://h{number}.test/a"
    return Task(id=f"{number:016x}", kind="article", url=url, host=f"h{number}.test", priority=5, origin="feed")


def test_statistics_of_an_idle_server_are_zero(wired: Wiring) -> None:
    found = scraped(wired)
    assert found["feedcrawl_store_up"] == 1
    assert {value for name, value in found.items() if name != "feedcrawl_store_up"} == {0}


def test_every_figure_of_the_fleet_moves(wired: Wiring) -> None:
    subscribe_all(
        wired.registry,
        wired.frontier,
        [SubscriptionSpec("http://feed.test/feed"), SubscriptionSpec("http://late.test/feed")],
        NOW,
    )
    polled, _ = taken(wired, "poll"), taken(wired, "poll")
    wired.frontier.done(polled, status="pending", reason="fetched", delay_sec=900)
    wired.frontier.enqueue([article(number) for number in range(4)])
    ended, failing, _ = (taken(wired, "page") for _ in range(3))
    wired.frontier.done(ended, status="fetched", reason="stored")
    wired.frontier.release(failing, "site")
    wired.client.rpush("crawler_queue", "http://a.test/", "http://b.test/")
    wired.client.rpush("page_fetcher_dlq", "{}")
    with wired.client.pipeline(transaction=False) as pipe:
        wired.events.add(pipe, [event("new_entry", str(number), {}) for number in range(3)])
        pipe.execute()
    wired.events.open_group("them")
    wired.client.xreadgroup("them", "one", {"feedcrawl:events": ">"}, count=1)
    wired.events.count("them", "sent", 2)
    wired.events.count("webhook:0123", "failed")
    assert wired.embedded_index.lock()
    index = wired.embedded_index.building()
    index.apply(
        Changes([document_of(ARTICLE, source=None, categories=[])]), {"cursor": wired.events.after("0", 1)[0].at}
    )
    wired.embedded_index.complete(index)
    found = scraped(wired)
    assert {
        "feedcrawl_search_documents": 1,
        "feedcrawl_events_consumed_total them sent": 2,
        "feedcrawl_events_consumed_total them refused": 0,
        "feedcrawl_events_consumed_total search refused": 0,
        "feedcrawl_events_consumed_total webhook:0123 failed": 1,
        "feedcrawl_feeds": 2,
        "feedcrawl_feeds_due": 1,
        "feedcrawl_frontier_pending feed manual": 2,
        "feedcrawl_frontier_pending article feed": 3,
        "feedcrawl_frontier_ended_total fetched article": 1,
        "feedcrawl_frontier_leased": 3,
        "feedcrawl_frontier_hosts poll delayed": 1,
        "feedcrawl_lateness_seconds_count poll": 2,
        "feedcrawl_lateness_seconds_bucket poll +Inf": 2,
        "feedcrawl_input_queue_size": 2,
        "feedcrawl_dlq_size": 1,
        "feedcrawl_circuit_breaker_state open": 1,
        "feedcrawl_circuit_breaker_state half_open": 0,
        "feedcrawl_circuit_breaker_consecutive_failures": 1,
        "feedcrawl_events": 3,
        "feedcrawl_events_lag them": 2,
        "feedcrawl_events_pending them": 1,
    }.items() <= found.items(), found
    assert found["feedcrawl_circuit_breaker_current_backoff_seconds"] == 30  # as chosen, however much has passed
    assert 0 <= found["feedcrawl_events_behind_seconds them"] < 60
    assert 0 < found["feedcrawl_events_behind_seconds search"] < 60
    moved = {name.partition(" ")[0] for name, value in found.items() if value}
    assert {metric.full_name for metric in FLEET} <= moved | {
        "feedcrawl_lateness_seconds",
        "feedcrawl_events_behind_seconds",
    }


def test_an_unreachable_server_has_only_the_metric_store_up(tmp_path: Path) -> None:
    with redis_of_its_own() as server:
        wired = wired_on(server.url, tmp_path)
        assert scraped(wired)["feedcrawl_store_up"] == 1
        server.kill()
        assert scraped(wired) == {"feedcrawl_store_up": 0}
        wired.close()
