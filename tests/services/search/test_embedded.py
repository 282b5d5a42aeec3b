"""The embedded index follows the events of the stream."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
import redis
from searching import EVERY, article, found
from stories import Reader, reading, wired_to

from feedcrawl.domain.operations.events import event
from feedcrawl.domain.search.documents import Filters
from feedcrawl.services.operations.consumer import Consumer
from feedcrawl.store.redis import keys
from feedcrawl.store.search.interface import IndexUnavailable
from feedcrawl.wiring import Wiring


@pytest.fixture
def reader(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Reader]:
    with reading(redis_server, tmp_path) as made:
        yield made


def consumer(wired: Wiring) -> Consumer:
    made = wired.indexer()
    assert made is not None
    return made


def indexed(wired: Wiring) -> Consumer:
    """Indexes all that is stored."""
    made = consumer(wired)
    assert asyncio.run(made.run(asyncio.Event(), once=True))
    return made


def settled(tmp_path: Path) -> Path:
    """The file of a closed index, with all that its log has."""
    (file,) = (tmp_path / "data/search").glob("index-*.sqlite")
    with closing(sqlite3.connect(file)) as opened:
        opened.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert not file.with_name(f"{file.name}-wal").exists()
    return file


def test_stored_articles_are_found_by_their_words(reader: Reader) -> None:
    article(reader, "http://a.test/1", "Zebras drink at the lake", category="animals", language="en-GB")
    article(reader, "http://b.test/1", "Wasser für Zebras", category="tiere", language="de")
    wired = reader.wired
    indexed(wired)
    assert set(found(wired, "zebras")) == {"http://a.test/1", "http://b.test/1"}
    assert found(wired, "fur") == ["http://b.test/1"]
    assert found(wired, '"drink at" -wasser') == ["http://a.test/1"]
    for filters, urls in (
        (Filters(category="animals"), ["http://a.test/1"]),
        (Filters(source="b.test"), ["http://b.test/1"]),
        (Filters(language="en"), ["http://a.test/1"]),
        (Filters(since=reader.now.timestamp() + 60), []),
        (Filters(since=reader.now.timestamp() - 60, language="de"), ["http://b.test/1"]),
    ):
        assert found(wired, "zebras", filters) == urls, filters


def test_a_changed_article_is_indexed_anew_and_an_unchanged_article_is_skipped(reader: Reader) -> None:
    article(reader, "http://a.test/1", "The old words")
    indexed(reader.wired)
    article(reader, "http://a.test/1", "Some newer words")
    assert indexed(reader.wired).sent == 1
    assert found(reader.wired, "old") == []
    assert found(reader.wired, "newer") == ["http://a.test/1"]
    article(reader, "http://a.test/1", "Some newer words")
    indexed(reader.wired)
    assert reader.wired.search.count() == 1


def test_a_merged_article_is_found_once_and_in_the_categories_of_both(reader: Reader) -> None:
    article(reader, "http://a.test/1", "One story", category="first")
    indexed(reader.wired)
    article(reader, "http://a.test/2", "One story", category="second")
    indexed(reader.wired)
    for filters in (EVERY, Filters(category="first")):
        assert found(reader.wired, "story", filters) == ["http://a.test/1"]


def test_a_withdrawn_article_is_removed_and_stays_out_of_a_rebuild(reader: Reader) -> None:
    wired = reader.wired
    for number in (1, 2):
        article(reader, f"http://a.test/{number}", f"Words {number}")
    indexed(wired)
    gone = wired.search.find("words", EVERY).hits[0].document
    with wired.client.pipeline(transaction=False) as pipe:
        wired.articles.mark_deleted(pipe, gone["uid"], "2026-11-28T12:00:00Z", "gone")
        wired.events.add(pipe, [event("article_deleted", gone["uid"], {"uid": gone["uid"]})])
        pipe.execute()
    for rebuilt in (False, True):
        if rebuilt:
            wired.embedded_index.request_rebuild()
        indexed(wired)
        assert len(found(wired, "words")) == 1
        assert gone["canonical_url"] not in found(wired, "words")


def test_repeated_events_change_nothing(reader: Reader, redis_client: redis.Redis) -> None:
    article(reader, "http://a.test/1", "Some words")
    indexed(reader.wired)
    for _, fields in redis_client.xrange(keys.EVENTS):
        redis_client.xadd(keys.EVENTS, fields)
    indexed(reader.wired)
    assert reader.wired.search.count() == 1
    assert found(reader.wired, "words") == ["http://a.test/1"]


def test_an_event_that_cannot_be_read_is_kept_aside(reader: Reader, redis_client: redis.Redis) -> None:
    redis_client.xadd(keys.EVENTS, {"type": "article_ready", "id": "bad", "data": "{"})
    redis_client.xadd(keys.EVENTS, {"type": "article_ready", "id": "worse", "data": '{"uid": "x"}'})
    article(reader, "http://a.test/1", "Some words")
    assert indexed(reader.wired).refused == 2
    refused = [(each["id"], each["group"], each["reason"]) for _, each in redis_client.xrange(keys.EVENTS_REFUSED)]
    assert refused == [("bad", "search", "bad_json"), ("worse", "search", "bad_fields")]
    assert found(reader.wired, "words") == ["http://a.test/1"]


def test_a_single_process_writes_the_index_and_the_next_takes_its_place(
    reader: Reader, redis_server: str, tmp_path: Path
) -> None:
    article(reader, "http://a.test/1", "Some words")
    with wired_to(redis_server, tmp_path) as other:
        first, second = consumer(reader.wired).source, consumer(other).source
        first.take()
        second.take()
        assert (first.leads, second.leads) == (True, False)
        first.leave()
        indexed(other)
        assert found(reader.wired, "words") == found(other, "words") == ["http://a.test/1"]


def test_a_missing_index_is_built_from_the_archive(reader: Reader, redis_client: redis.Redis) -> None:
    for number in range(3):
        article(reader, f"http://a.test/{number}", f"Words {number} in the archive")
    article(reader, "http://a.test/0", "Changed in the archive")
    with pytest.raises(IndexUnavailable, match="index_missing"):
        reader.wired.search.find("archive", EVERY)
    redis_client.delete(keys.EVENTS, *redis_client.keys("rss:article_canonical:*"))
    indexed(reader.wired)
    assert len(found(reader.wired, "archive")) == 3
    assert found(reader.wired, "changed") == ["http://a.test/0"]


@pytest.mark.parametrize("damage", ["cut", "other", "empty", "gone", "zeroed"])
def test_a_damaged_index_is_built_anew(reader: Reader, redis_server: str, tmp_path: Path, damage: str) -> None:
    for number in range(40):
        article(reader, f"http://a.test/{number}", f"Words {number} of the archive")
    indexed(reader.wired)
    reader.wired.embedded_index.close()
    file = settled(tmp_path)
    whole = file.read_bytes()
    if damage == "gone":
        file.unlink()
    else:
        changed = {"cut": whole[: len(whole) // 2], "other": b"<html>" * 999, "empty": b""}
        file.write_bytes(changed.get(damage, whole[:8192] + bytes(len(whole) - 8192)))
    with wired_to(redis_server, tmp_path) as wired:
        with pytest.raises(IndexUnavailable) as raised:
            wired.search.find("archive", EVERY, limit=100)
        assert raised.value.code == ("index_missing" if damage == "gone" else "index_damaged")
        indexed(wired)
        assert len(found(wired, "archive")) == 40


def test_an_index_damaged_during_a_write_is_built_anew(reader: Reader, tmp_path: Path) -> None:
    article(reader, "http://a.test/1", "Some words")
    indexed(reader.wired)
    reader.wired.embedded_index.close()
    file = settled(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(whole[: 3 * 8192] + bytes(len(whole) - 3 * 8192))
    article(reader, "http://a.test/2", "Other words")
    made = consumer(reader.wired)
    running = made.run(asyncio.Event(), once=True)
    asyncio.run(running)  # ends after the failure
    indexed(reader.wired)
    assert len(found(reader.wired, "words")) == 2


def test_an_index_that_stood_still_for_longer_than_events_are_kept_is_built_anew(
    reader: Reader, redis_server: str, redis_client: redis.Redis, tmp_path: Path
) -> None:
    article(reader, "http://a.test/1", "Some words")
    indexed(reader.wired)
    article(reader, "http://a.test/2", "Other words")
    redis_client.xtrim(keys.EVENTS, maxlen=0)
    reader.wired.embedded_index.close()
    with wired_to(redis_server, tmp_path, FEEDCRAWL_EVENTS_TTL_SEC="0") as wired:
        indexed(wired)
        assert len(found(wired, "words")) == 2


def test_a_rebuild_that_was_interrupted_goes_on(
    reader: Reader, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("feedcrawl.services.search.embedded.PART_BYTES", 9000)
    for number in range(20):
        article(reader, f"http://a.test/{number}", f"Words {number} of the archive")
    indexed(reader.wired)
    reader.wired.embedded_index.request_rebuild()
    source = consumer(reader.wired).source
    for _ in range(3):
        source.take()
    assert source.is_busy
    assert len(found(reader.wired, "archive")) == 20, "the old index answers"
    assert len(list((tmp_path / "data/search").glob("index-*.sqlite"))) == 2
    reader.wired.embedded_index.close()
    indexed(reader.wired)
    assert len(found(reader.wired, "archive")) == 20
    assert len(list((tmp_path / "data/search").glob("index-*.sqlite"))) == 1


def test_documents_of_articles_that_are_too_old_are_removed_once_a_day(
    reader: Reader, redis_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("feedcrawl.services.search.embedded.FORGET", 2)
    today = reader.now
    for days_ago in (40, 33, 32, 31, 30, 0):
        reader.now = today - timedelta(days=days_ago)
        article(reader, f"http://a.test/{days_ago}", f"Words {days_ago} of the day")
    with wired_to(redis_server, tmp_path) as wired:
        indexed(wired)
        assert wired.search.count() == 6, "kept for ever"
    with wired_to(redis_server, tmp_path, FEEDCRAWL_KEEP_ARTICLES_DAYS="30") as wired:
        monkeypatch.setattr(wired, "now", lambda: today)
        indexed(wired)
        assert set(found(wired, "words")) == {"http://a.test/30", "http://a.test/0"}
        monkeypatch.setattr(wired, "now", lambda: today + timedelta(days=1))
        indexed(wired)
        assert found(wired, "words") == ["http://a.test/0"]
