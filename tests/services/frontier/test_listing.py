import time
from datetime import UTC, datetime, timedelta

import pytest
import redis

from feedcrawl.domain.dates import moment
from feedcrawl.domain.frontier.selection import TaskFilter
from feedcrawl.domain.frontier.tasks import Lease, Task
from feedcrawl.services.frontier import listing
from feedcrawl.store.articles.records import Articles, Lifetimes
from feedcrawl.store.frontier.interface import Frontier
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy
from feedcrawl.store.frontier.shards import Shards


@pytest.mark.parametrize("shards", [1, 4])
def test_parts_make_up_the_whole(redis_client: redis.Redis, shards: int) -> None:
    policy = FrontierPolicy()
    frontier = Shard(redis_client, policy) if shards == 1 else Shards(redis_client, policy, shards=shards)
    frontier.enqueue(Task(f"a{n}", "article", f"http://h{n % 40}.test/{n}", f"h{n % 40}.test") for n in range(2500))
    frontier.enqueue(Task(f"b{n}", "article", f"http://big.test/{n}", "big.test", source="s") for n in range(100))
    found, cursor, parts = set[str](), 0, 0
    while cursor or not parts:
        cursor, some = listing.urls(
            frontier, Articles(redis_client, Lifetimes()), TaskFilter(), cursor=cursor, limit=100
        )
        found |= {task.id for task, _ in some}
        parts += 1
    assert len(found) == 2600
    assert parts > 1
    cursor, some = listing.urls(frontier, Articles(redis_client, Lifetimes()), TaskFilter(source="s"), limit=1000)
    assert (cursor, len({task.id for task, _ in some})) == (0, 100)
    assert [number for _, number in listing.busiest(frontier, 22)] == [100, *[63] * 20, 62]


@pytest.mark.parametrize("shards", [1, 4])
def test_a_record_has_the_next_fetch_and_the_hash_of_the_text(redis_client: redis.Redis, shards: int) -> None:
    policy, articles = FrontierPolicy(host_delay_sec=0.01), Articles(redis_client, Lifetimes())
    frontier = Shard(redis_client, policy) if shards == 1 else Shards(redis_client, policy, shards=shards)
    tasks = [Task(f"a{n}", "article", f"http://h.test/{n}", "h.test", 5 + n) for n in range(3)]
    frontier.enqueue(tasks[:1], delay_sec=600)
    frontier.enqueue(tasks[1:])
    (lease,) = frontier.take(1).leases
    frontier.give_back(lease, reason="http_503", counted=True)
    (lease,) = _taken(frontier)
    frontier.done(lease)
    with redis_client.pipeline() as pipe:
        articles.write(pipe, lease.id, {"status": "success", "content_hash": "c" * 64})
        pipe.execute()
    _, found = listing.urls(frontier, articles, TaskFilter(), limit=9)
    records = {each["id"]: each for each in listing.task_records(frontier, articles, found)}
    now = datetime.now(UTC)
    due = {name: each["next_fetch_at"] for name, each in records.items()}
    delayed = moment(due["a0"]) or now
    assert 590 < (delayed - now).total_seconds() < 602
    assert abs(((moment(due["a1"]) or delayed) - now).total_seconds()) < 10
    assert due["a2"] is None
    assert (records["a2"]["content_hash"], records["a2"]["retry_count"]) == ("c" * 64, 1)
    assert (records["a2"]["fetch_count"], records["a2"]["last_error"]) == (1, "http_503")
    (only,) = listing.urls(frontier, articles, TaskFilter(content_hash="c" * 64), limit=9)[1]
    assert only[0].id == "a2"
    assert listing.urls(frontier, articles, TaskFilter(content_hash="d" * 64), limit=9)[1] == []
    soon = now + timedelta(seconds=60)
    for wanted, ids in ((TaskFilter(next_fetch_after=soon), ["a0"]), (TaskFilter(next_fetch_before=soon), ["a1"])):
        assert [task.id for task, _ in listing.urls(frontier, articles, wanted, limit=9)[1]] == ids


def _taken(frontier: Frontier) -> list[Lease]:
    """The next lease, once the host's turn has come."""
    while not (leases := frontier.take(1).leases):
        time.sleep(frontier.take(0).wait_sec or 0.01)
    return list(leases)


def test_a_partial_listing_returns_a_cursor(redis_client: redis.Redis) -> None:
    frontier = Shard(redis_client, FrontierPolicy())
    frontier.enqueue(Task(f"a{n}", "article", f"http://h.test/{n}", "h.test") for n in range(2500))
    wanted, cursor, found, calls = TaskFilter(text="/249"), 0, set[str](), 0
    while cursor or not calls:
        cursor, some = listing.urls(
            frontier, Articles(redis_client, Lifetimes()), wanted, cursor=cursor, limit=1000, parts=1, part=300
        )
        found |= {task.url.rpartition("/")[2] for task, _ in some}
        calls += 1
    assert found == {"249", *map(str, range(2490, 2500))}
    assert calls > 3
    assert listing.busiest(frontier, 5, parts=50) == [("h.test", 2500)]
