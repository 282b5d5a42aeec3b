import pytest
import redis

from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.services.frontier import listing
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy
from feedcrawl.store.frontier.shards import Shards


@pytest.mark.parametrize("shards", [1, 4])
def test_parts_make_up_the_whole(redis_client: redis.Redis, shards: int) -> None:
    policy = FrontierPolicy()
    frontier = Shard(redis_client, policy) if shards == 1 else Shards(redis_client, policy, shards=shards)
    frontier.push(Task(f"a{n}", "article", f"http://h{n % 40}.test/{n}", f"h{n % 40}.test") for n in range(2500))
    frontier.push(Task(f"b{n}", "article", f"http://big.test/{n}", "big.test", source="s") for n in range(100))
    found, cursor, parts = set[str](), 0, 0
    while cursor or not parts:
        cursor, some = listing.urls(frontier, listing.Wanted(), cursor=cursor, limit=100)
        found |= {task.id for task, _ in some}
        parts += 1
    assert len(found) == 2600
    assert parts > 1
    cursor, some = listing.urls(frontier, listing.Wanted(source="s"), limit=1000)
    assert (cursor, len({task.id for task, _ in some})) == (0, 100)
    assert [number for _, number in listing.busiest(frontier, 22)] == [100, *[63] * 20, 62]


def test_what_looks_at_a_part_alone_says_where_to_go_on(redis_client: redis.Redis) -> None:
    frontier = Shard(redis_client, FrontierPolicy())
    frontier.push(Task(f"a{n}", "article", f"http://h.test/{n}", "h.test") for n in range(2500))
    wanted, cursor, found, calls = listing.Wanted(text="/249"), 0, set[str](), 0
    while cursor or not calls:
        cursor, some = listing.urls(frontier, wanted, cursor=cursor, limit=1000, parts=1, part=300)
        found |= {task.url.rpartition("/")[2] for task, _ in some}
        calls += 1
    assert found == {"249", *map(str, range(2490, 2500))}
    assert calls > 3
    assert listing.busiest(frontier, 5, parts=50) == [("h.test", 2500)]
