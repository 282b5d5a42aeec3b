"""The index of a search server follows the events of the stream, against a server of the tests."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import redis
from search_server import SearchServer, search_server
from searching import article, found
from stories import Reader, wired_to

from feedcrawl.domain.search.documents import Filters
from feedcrawl.services.operations.consumer import Consumer, backlog
from feedcrawl.services.search import server
from feedcrawl.store.redis import keys
from feedcrawl.store.search.interface import IndexUnavailable
from feedcrawl.wiring import Wiring


@pytest.fixture
def there() -> Iterator[SearchServer]:
    with search_server() as made:
        yield made


@pytest.fixture
def reader(there: SearchServer, redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Reader]:
    with wired_to(redis_server, tmp_path, FEEDCRAWL_SEARCH_URL=there.url) as wired:
        made = Reader(wired)
        made.now = wired.now()
        yield made


def consumer(wired: Wiring, worker: str = "a") -> Consumer:
    assert wired.indexer() is None, "a crawl keeps no index of a server"
    return server.indexer(wired.server_indexing, worker=worker)


def indexed(wired: Wiring) -> Consumer:
    made = consumer(wired)
    assert asyncio.run(made.run(asyncio.Event(), once=True))
    return made


def test_the_same_is_found_as_with_the_embedded_index(reader: Reader, there: SearchServer) -> None:
    article(reader, "http://a.test/1", "Zebras drink at the lake", category="animals", language="en-GB")
    article(reader, "http://b.test/1", "Wasser für Zebras", category="tiere", language="de")
    article(reader, "http://c.test/1", "東京都に行く")
    wired = reader.wired
    indexed(wired)
    for query, urls in (
        ("zebras", {"a", "b"}),
        ("fur", {"b"}),
        ('"drink at" -wasser', {"a"}),
        ("zeb* wass*", {"b"}),
        ("京都", {"c"}),
        ("都", {"c"}),
        ("東京", {"c"}),
        ("京東", set()),
        ('(zebras:* "', {"a", "b"}),
    ):
        assert {url[7] for url in found(wired, query)} == urls, query
    for filters, urls in (
        (Filters(category="animals"), {"a"}),
        (Filters(source="b.test"), {"b"}),
        (Filters(language="en"), {"a"}),
        (Filters(since=reader.now.timestamp() + 60), set()),
    ):
        assert {url[7] for url in found(wired, "zebras", filters)} == urls, filters
    assert wired.search.count() == 3
    assert there.aliases == {"raw_content": "raw_content-000001"}
    assert list(there.templates) == ["raw_content"]


def test_a_change_replaces_and_a_merge_removes(reader: Reader) -> None:
    article(reader, "http://a.test/1", "The old words")
    article(reader, "http://b.test/1", "One story")
    indexed(reader.wired)
    article(reader, "http://a.test/1", "Some newer words")
    article(reader, "http://b.test/2", "One story")
    indexed(reader.wired)
    assert found(reader.wired, "old") == []
    assert found(reader.wired, "newer") == ["http://a.test/1"]
    assert found(reader.wired, "story") == ["http://b.test/1"]


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_gets_smaller_requests_and_loses_nothing(
    reader: Reader, there: SearchServer, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(30):
        article(reader, f"http://a.test/{number}", f"Words {number} of many")
    there.fail = [status] * 7
    made = consumer(reader.wired)
    assert not asyncio.run(made.run(asyncio.Event(), once=True))
    assert backlog(reader.wired.events, server.GROUP).unacknowledged  # type: ignore[union-attr]
    stop = asyncio.Event()

    async def until_all() -> None:
        running = asyncio.ensure_future(consumer(reader.wired, "a").run(stop))
        while sum(map(len, there.indexes.values())) < 30:
            await asyncio.sleep(0.01)
        stop.set()
        assert await running

    asyncio.run(until_all())
    assert len(found(reader.wired, "words")) == 30
    assert min(there.bulks) < there.bulks[0], "a part of the first request"
    assert {record.reason for record in caplog.records if record.msg == "index_waits"} == {"search_server_busy"}  # type: ignore[attr-defined]


def test_a_rejected_document_is_written_again(reader: Reader, there: SearchServer) -> None:
    article(reader, "http://a.test/1", "Some words")
    indexed(reader.wired)
    there.busy = set(there.indexes["raw_content-000001"])
    article(reader, "http://a.test/1", "Other words")
    assert not asyncio.run(consumer(reader.wired).run(asyncio.Event(), once=True))
    indexed(reader.wired)
    assert found(reader.wired, "other") == ["http://a.test/1"]


def test_a_refused_document_is_kept_aside_and_the_rest_goes_on(
    reader: Reader, there: SearchServer, redis_client: redis.Redis
) -> None:
    article(reader, "http://a.test/1", "Some words")
    article(reader, "http://a.test/2", "Bad words")
    article(reader, "http://a.test/3", "More words")
    (bad,) = [
        key for key in redis_client.keys("rss:article_canonical:*") if "Bad" in (redis_client.hget(key, "title") or "")
    ]
    redis_client.hset(bad, "published", "yesterday")
    made = indexed(reader.wired)
    assert (made.sent, made.refused) == (2, 1)
    assert set(found(reader.wired, "words")) == {"http://a.test/1", "http://a.test/3"}
    ((_, letter),) = redis_client.xrange(keys.EVENTS_REFUSED)
    assert (letter["group"], letter["reason"], letter["type"]) == ("search", "document_refused", "article_ready")
    assert "mapper_parsing_exception" in letter["detail"]
    assert bad.endswith(letter["id"].split(":")[1])


@pytest.mark.parametrize(
    ("status", "kind"),
    [(403, "cluster_block_exception"), (400, "index_closed_exception"), (403, "security_exception")],
)
def test_an_index_that_takes_no_writes_is_waited_for(
    reader: Reader, there: SearchServer, redis_client: redis.Redis, status: int, kind: str
) -> None:
    article(reader, "http://a.test/1", "Some words")
    there.block = (status, kind)
    assert not asyncio.run(consumer(reader.wired).run(asyncio.Event(), once=True))
    there.block = None
    assert (indexed(reader.wired).refused, redis_client.xlen(keys.EVENTS_REFUSED)) == (0, 0)
    assert found(reader.wired, "words") == ["http://a.test/1"]


def test_a_beginning_stands_for_more_words_than_the_server_expands(reader: Reader) -> None:
    article(reader, "http://a.test/1", " ".join(f"zq{number:03}" for number in range(60)))
    article(reader, "http://a.test/2", "zqz of the east")
    article(reader, "http://a.test/3", "東" + "東".join(map(chr, range(0x4E00, 0x4E40))))
    article(reader, "http://a.test/4", "東龍")
    indexed(reader.wired)
    assert set(found(reader.wired, "zq*")) == {"http://a.test/1", "http://a.test/2"}
    assert set(found(reader.wired, "東")) == {"http://a.test/3", "http://a.test/4"}


def test_a_word_that_is_too_long_is_cut(reader: Reader) -> None:
    article(reader, "http://a.test/1", "Some " + "a" * 40_000 + " words")
    assert indexed(reader.wired).refused == 0
    assert found(reader.wired, "words") == ["http://a.test/1"]


def test_an_index_with_the_name_of_the_alias_leaves_no_others(reader: Reader, there: SearchServer) -> None:
    article(reader, "http://a.test/1", "Some words")
    there.indexes["raw_content"] = {}
    for _ in range(3):
        assert not asyncio.run(consumer(reader.wired).run(asyncio.Event(), once=True))
    assert list(there.indexes) == ["raw_content"]


def test_requests_are_halved_until_the_server_takes_them(reader: Reader, there: SearchServer) -> None:
    for number in range(8):
        article(reader, f"http://a.test/{number}", f"Words {number} of many")
    there.max_bytes = 9000
    assert indexed(reader.wired).refused == 0
    assert len(found(reader.wired, "words")) == 8
    there.max_bytes = 100
    article(reader, "http://a.test/0", "Other words")
    assert indexed(reader.wired).refused == 1


def test_a_deleted_index_is_created_again(reader: Reader, there: SearchServer) -> None:
    article(reader, "http://a.test/1", "Some words")
    indexed(reader.wired)
    there.indexes.clear()
    there.aliases.clear()
    with pytest.raises(IndexUnavailable, match="index_missing"):
        reader.wired.search.find("words", Filters())
    article(reader, "http://a.test/2", "Other words")
    assert not asyncio.run(consumer(reader.wired).run(asyncio.Event(), once=True))
    indexed(reader.wired)
    assert found(reader.wired, "words") == ["http://a.test/2"]


def test_a_rebuild_switches_the_alias_at_its_end(
    reader: Reader, there: SearchServer, redis_client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "PART_BYTES", 9000)
    for number in range(9):
        article(reader, f"http://a.test/{number}", f"Words {number} of the archive")
    redis_client.delete(keys.EVENTS)
    reader.wired.server_index.prepare()
    assert reader.wired.search.count() == 0
    complete = reader.wired.server_index.complete

    def late(built: str) -> None:
        assert there.aliases == {"raw_content": "raw_content-000001"}, "the old index answers until then"
        complete(built)
        article(reader, "http://a.test/late", "Late words of the archive")

    monkeypatch.setattr(reader.wired.server_index, "complete", late)
    assert server.rebuild(reader.wired.server_indexing) == 9
    assert there.aliases == {"raw_content": "raw_content-000002"}
    assert list(there.indexes) == ["raw_content-000002"]
    assert len(found(reader.wired, "archive")) == 10


@pytest.mark.parametrize(("status", "code"), [(401, "search_server_refuses"), (500, "search_server_away")])
def test_a_server_that_fails_is_waited_for(
    reader: Reader, there: SearchServer, status: int, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    article(reader, "http://a.test/1", "Some words")
    there.fail = [status]
    assert not asyncio.run(consumer(reader.wired).run(asyncio.Event(), once=True))
    assert [record.reason for record in caplog.records if record.msg == "index_waits"] == [code]  # type: ignore[attr-defined]
    indexed(reader.wired)
    assert found(reader.wired, "words") == ["http://a.test/1"]


def test_an_unreachable_search_server_is_an_error(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> None:
    away = pytest.raises(IndexUnavailable, match="search_server_away")
    with wired_to(redis_server, tmp_path, FEEDCRAWL_SEARCH_URL="http://127.0.0.1:9") as wired, away:
        wired.search.find("words", Filters())


def test_documents_of_articles_that_are_too_old_are_removed(
    reader: Reader, there: SearchServer, redis_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "FORGET", 2)
    today = reader.now
    for days_ago in (40, 33, 32, 31, 30, 0):
        reader.now = today - timedelta(days=days_ago)
        article(reader, f"http://a.test/{days_ago}", f"Words {days_ago} of the day")
    indexed(reader.wired)
    assert reader.wired.search.count() == 6, "kept for ever"
    with wired_to(redis_server, tmp_path, FEEDCRAWL_SEARCH_URL=there.url, FEEDCRAWL_KEEP_ARTICLES_DAYS="30") as wired:
        monkeypatch.setattr(wired, "now", lambda: today)
        indexed(wired)
        assert set(found(wired, "words")) == {"http://a.test/30", "http://a.test/0"}
    assert sum(path.endswith("/_delete_by_query") for _, path in there.requests) == 3, (
        "two at a time, until none is left"
    )
