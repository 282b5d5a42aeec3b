from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import redis

from feedcrawl.domain.entries.lineage import KnownEntry
from feedcrawl.store.subscriptions.entries import LIFE_SEC, Entries

SEEN = datetime(2026, 11, 27, 10, 0, tzinfo=UTC)
ENTRY = KnownEntry("u1", "id", "h" * 64, "t1", "i1", SEEN - timedelta(hours=1), SEEN, SEEN)


@pytest.fixture
def entries(redis_client: redis.Redis) -> Entries:
    return Entries(redis_client)


def save(entries: Entries, client: redis.Redis, feed: str, *known: KnownEntry, **keys: str) -> None:
    with client.pipeline() as pipe:
        entries.save(pipe, feed, {each.uid: each for each in known}, keys)
        pipe.execute()


def test_an_entry_is_met_again_under_each_of_its_keys(entries: Entries, redis_client: redis.Redis) -> None:
    second = replace(ENTRY, uid="u2", rung="link", id_key=None, published=None, revisions=2, revised_at=SEEN)
    save(entries, redis_client, "1", ENTRY, second, a="u1", b="u1", c="u2")
    assert entries.load("1", ["b", "nothing", "a"]) == ({"b": "u1", "a": "u1"}, {"u1": ENTRY})
    assert entries.load("1", ["c", "a"]) == ({"c": "u2", "a": "u1"}, {"u2": second, "u1": ENTRY})
    assert entries.count("1") == 2


def test_feeds_do_not_share_entries(entries: Entries, redis_client: redis.Redis) -> None:
    save(entries, redis_client, "1", ENTRY, a="u1")
    assert entries.load("2", ["a"]) == ({}, {})
    assert entries.count("2") == 0


def test_a_second_write_replaces_the_first(entries: Entries, redis_client: redis.Redis) -> None:
    later = ENTRY.seen(id_key="i2", published=None, now=SEEN + timedelta(hours=2))
    for known in (ENTRY, later, later):
        save(entries, redis_client, "1", known, a="u1")
    assert entries.load("1", ["a"]) == ({"a": "u1"}, {"u1": later})
    assert entries.count("1") == 1


def test_a_key_whose_entry_expired_leads_to_no_entry(entries: Entries, redis_client: redis.Redis) -> None:
    save(entries, redis_client, "1", ENTRY, a="u1", b="u9")
    assert entries.load("1", ["a", "b"]) == ({"a": "u1", "b": "u9"}, {"u1": ENTRY})


def test_a_lineage_outlives_its_entry(entries: Entries, redis_client: redis.Redis) -> None:
    save(entries, redis_client, "1", ENTRY, a="u1")
    lives = [redis_client.ttl(key) for key in redis_client.scan_iter()]
    assert len(lives) == 2
    assert all(LIFE_SEC - 60 < life <= LIFE_SEC for life in lives)


def test_an_empty_batch_sends_no_command(entries: Entries, redis_client: redis.Redis) -> None:
    with redis_client.pipeline() as pipe:
        entries.save(pipe, "1", {}, {})
        assert len(pipe) == 0
    assert Entries(None).load("1", []) == ({}, {})


def test_a_feed_is_forgotten(entries: Entries, redis_client: redis.Redis) -> None:
    save(entries, redis_client, "1", ENTRY, a="u1")
    save(entries, redis_client, "2", ENTRY, a="u1")
    entries.remove("1")
    assert entries.load("1", ["a"]) == ({}, {})
    assert entries.count("2") == 1
