"""What is counted is found again by its time, whatever the shard, and leaves after its days."""

import redis

from feedcrawl.domain.operations.counters import LIFE_SEC, PART_SEC, SLOT_SEC, Increments
from feedcrawl.store.operations.series import Series

NOW = 1_795_845_600.0
SLOT = int(NOW) // SLOT_SEC


def test_counts_are_found_by_slot_in_all_shards(redis_client: redis.Redis) -> None:
    series = Series(redis_client, shards=3)
    for feed in range(6):
        series.add(series.of_feed(f"f{feed}", Increments({"poll:fetched": 1, "new": feed}, f"f{feed}"), NOW))
    series.add(series.of_page(2, Increments({"article:http_404": 1}, failed_host="a.example"), NOW - SLOT_SEC))
    series.add(series.of_page(1, Increments({"article:http_404": 1}, failed_host="a.example"), NOW - 86_400))
    found = series.slots(NOW - 3600, NOW)
    assert {slot: dict(counts) for slot, counts in found.items() if slot > SLOT - 4} == {
        SLOT: {"poll:fetched": 6, "new": 15},
        SLOT - 1: {"article:http_404": 1},
    }
    assert series.slots(NOW - 86_400, NOW)[SLOT - 96] == {"article:http_404": 1}
    assert series.most_news(NOW, NOW, 3) == [("f5", 5), ("f4", 4), ("f3", 3)]
    assert series.most_news(NOW - 3 * PART_SEC, NOW - PART_SEC, 3) == []
    assert series.most_failures(NOW - 86_400, NOW, 3) == [("a.example", 2)]


def test_every_key_has_an_end(redis_client: redis.Redis) -> None:
    series = Series(redis_client)
    series.add(series.of_feed("f", Increments({"poll:dns": 1, "new": 1}, "f", "a.example"), NOW))
    names = list(redis_client.keys("*"))
    assert len(names) == 3
    assert all(LIFE_SEC - 10 <= redis_client.ttl(name) <= LIFE_SEC for name in names)
