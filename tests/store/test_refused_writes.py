"""A server that refuses writes in the middle of its work: each step of the frontier is done whole, or not at all."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis

from feedcrawl.domain.frontier.tasks import Lease, Task
from feedcrawl.store.frontier.interface import Frontier
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy
from feedcrawl.store.redis.errors import StoreUnavailable

Step = Callable[[Frontier, Lease], Any]
STEPS: dict[str, Step] = {
    "enqueue": lambda frontier, _: frontier.enqueue([task(7), task(8)]),
    "again": lambda frontier, _: frontier.enqueue([task(1)], again="operator"),
    "take": lambda frontier, _: frontier.take(5),
    "done": lambda frontier, lease: frontier.done(lease, status="dead", reason="x", dead_letter=True, signal="site"),
    "reschedule": lambda frontier, lease: frontier.done(
        lease, status="pending", delay_sec=9, commit=[["SET", "fc:{0}:x", 1]]
    ),
    "give_back": lambda frontier, lease: frontier.give_back(lease, reason="x", counted=True, delay_sec=2),
    "strays": lambda frontier, _: frontier.return_strays([]),
    "release": lambda frontier, lease: frontier.release(lease, "ok"),
    "turn": lambda frontier, lease: frontier.turn(lease),
    "heartbeat": lambda frontier, lease: frontier.heartbeat([lease]),
    "pace": lambda frontier, _: frontier.pace("h1.test", delay_sec=3),
    "crawl_delay": lambda frontier, _: frontier.crawl_delay("http://h1.test", 3),
    "remove": lambda frontier, lease: frontier.remove(lease.id),
    "sweep": lambda frontier, _: frontier.sweep(["t0", "t1", "t9"]),
    "audit": lambda frontier, _: frontier.audit(),
}
REFUSALS = {"out_of_memory": ("maxmemory", "1", "0"), "replicas": ("min-replicas-to-write", "1", "0")}


def task(number: int) -> Task:
    return Task(f"t{number}", "article", f"http://h{number}.test/", f"h{number}.test")


@pytest.fixture
def lease(frontier: Frontier) -> Lease:
    frontier.enqueue([task(0), task(1), task(2)])
    return frontier.take(1).leases[0]


@pytest.fixture
def frontier(redis_client: redis.Redis) -> Frontier:
    return Shard(redis_client, FrontierPolicy(host_delay_sec=0))


@pytest.fixture(params=REFUSALS)
def refusing(redis_client: redis.Redis, lease: Lease, request: Any) -> Iterator[str]:
    setting, harm, mend = REFUSALS[request.param]
    redis_client.config_set(setting, harm)
    yield request.param
    redis_client.config_set(setting, mend)


def state(client: redis.Redis) -> dict[str, bytes]:
    return {name: client.dump(name) for name in client.keys("*") if not name.endswith(":clock")}


@pytest.mark.parametrize("step", STEPS)
def test_a_refused_write_is_whole_or_missing(
    frontier: Frontier, lease: Lease, redis_client: redis.Redis, refusing: str, step: str
) -> None:
    before, refused = state(redis_client), None
    try:
        STEPS[step](frontier, lease)
    except StoreUnavailable as error:
        refused = error.code
    assert refused is None or (refused, state(redis_client)) == (refusing, before)
    redis_client.config_set(*REFUSALS[refusing][::2])
    if step not in ("done", "reschedule", "remove") or refused:
        frontier.give_back(lease, reason="back")
    handed = {each.id for _ in range(5) for each in frontier.take(9).leases}
    assert refused is None or handed == {"t0", "t1", "t2"}
