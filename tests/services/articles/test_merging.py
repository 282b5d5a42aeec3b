import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from documents import paragraphs
from redis.connection import AbstractConnection
from stories import Reader, wired_to

from feedcrawl.domain.urls import url_uid

TEXT = "\n".join(paragraphs("story", count=5))
OTHER = "\n".join(paragraphs("other", count=5))
A, B, C = (f"http://{name}.paper.test/1" for name in "abc")


@pytest.fixture
def reader(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Reader]:
    with wired_to(redis_server, tmp_path) as wired:
        yield Reader(wired)


def events_of(client: redis.Redis, kind: str) -> list[dict[str, Any]]:
    found = [fields for _, fields in client.xrange("feedcrawl:events")]
    return [json.loads(fields["data"]) for fields in found if fields["type"] == kind]


def status(client: redis.Redis, url: str) -> str | None:
    return client.hget(f"rss:article_canonical:{url_uid(url)}", "status")


def test_the_first_article_is_the_target(reader: Reader, redis_client: redis.Redis) -> None:
    first, second = reader.read(A, TEXT, category="x"), reader.read(B, TEXT, category="y")
    assert (first.merged_into, second.merged_into) == (None, url_uid(A))
    assert (status(redis_client, A), status(redis_client, B)) == ("success", None)
    assert reader.wired.articles.target_of(url_uid(B)) == url_uid(A)
    assert reader.wired.articles.other_urls(url_uid(A)) == {B}
    assert redis_client.smembers("rss:articles_by_category:y") == {url_uid(A)}
    assert redis_client.sismember("rss:canonical_attempted", url_uid(B))
    (event,) = events_of(redis_client, "article_merged")
    assert event == {
        "uid": url_uid(B),
        "winner": url_uid(A),
        "url": B,
        "canonical_url": A,
        "why": "same_text",
        "similarity": 1.0,
    }
    (join,) = reader.wired.stories.merges(9)
    assert (join["lacked"], join["categories"], join["winner_url"]) == (["y"], ["y"], A)
    record = reader.wired.stories.record(url_uid(B))
    assert record is not None
    assert (record["uid"], record["clean_text"]) == (url_uid(B), TEXT)


def test_reading_a_merged_page_again_changes_nothing(reader: Reader, redis_client: redis.Redis) -> None:
    reader.read(A, TEXT)
    for _ in range(2):
        assert reader.read(B, TEXT, again="operator").merged_into == url_uid(A)
        assert reader.read(A, TEXT, again="operator").merged_into is None
    assert {event["uid"] for event in events_of(redis_client, "article_merged")} == {url_uid(B)}
    assert len(reader.wired.stories.merges(9)) == 1


def test_two_workers_that_read_a_story_at_once_store_it_once(reader: Reader) -> None:
    leases = {url: reader.lease(url) for url in (A, B)}
    items = {url: reader.passed(reader.page(lease, TEXT), last=2) for url, lease in leases.items()}
    assert [item.merged_into for item in items.values()] == [None, url_uid(A)]


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("dies", [A, B])
def test_a_worker_that_dies_between_two_steps_costs_nothing(
    reader: Reader, redis_client: redis.Redis, steps: int, dies: str
) -> None:
    for url in (A, B):
        lease = reader.lease(url, category=url)
        if url == dies:
            reader.passed(reader.page(lease, TEXT), last=steps)
        item = reader.passed(reader.page(lease, TEXT))  # by whoever has the task next
        reader.wired.leases.done(lease, status="fetched")
        assert item.merged_into == (None if url == A else url_uid(A))
    assert (status(redis_client, A), status(redis_client, B)) == ("success", None)
    assert redis_client.smembers(f"rss:articles_by_category:{B}") == {url_uid(A)}
    kinds = {fields["id"] for _, fields in redis_client.xrange("feedcrawl:events")}
    assert {kind.partition(":")[0] for kind in kinds} == {"article_ready", "article_merged"}
    assert len(kinds) == 2
    assert {line["uid"] for line in reader.wired.article_lines.read(reader.now.date())} == {url_uid(A)}
    assert len(reader.wired.stories.merges(9)) == 1


@pytest.mark.parametrize("gone", ["ended", "expired"])
def test_an_owner_without_an_article_is_no_target(reader: Reader, redis_client: redis.Redis, gone: str) -> None:
    if gone == "ended":
        item = reader.passed(reader.page(reader.lease(A), TEXT), last=2)
        reader.wired.leases.done(item.lease, status="dead")
    else:
        reader.read(A, TEXT)
        redis_client.delete(f"rss:article_canonical:{url_uid(A)}")
    assert reader.read(B, TEXT).merged_into is None
    assert reader.read(C, TEXT).merged_into == url_uid(B)


def test_a_stored_article_is_never_merged(reader: Reader, redis_client: redis.Redis) -> None:
    reader.read(A, TEXT)
    reader.read(B, OTHER)
    edited = reader.read(B, TEXT, again="edited")
    assert (edited.merged_into, edited.updated, status(redis_client, B)) == (None, True, "success")
    redis_client.delete(f"rss:article_canonical:{url_uid(B)}")
    assert reader.read(B, TEXT, again="edited").merged_into is None


def test_a_merged_page_with_another_story_becomes_an_article(reader: Reader, redis_client: redis.Redis) -> None:
    reader.read(A, TEXT)
    reader.read(B, TEXT)
    assert reader.read(B, OTHER, again="edited").merged_into is None
    assert (status(redis_client, B), reader.wired.articles.target_of(url_uid(B))) == ("success", None)
    assert [event["winner"] for event in events_of(redis_client, "article_unmerged")] == [url_uid(A)]
    assert reader.wired.stories.merges(9) == []


@pytest.mark.parametrize(
    ("settings", "second", "text", "joins"),
    [
        ({}, "http://elsewhere.test/1", TEXT, False),
        ({"FEEDCRAWL_JOIN_SCOPE": "all"}, "http://elsewhere.test/1", TEXT, True),
        ({"FEEDCRAWL_JOIN_SCOPE": "all"}, "http://elsewhere.test/1", f"{TEXT}\nMore.", True),
        ({"FEEDCRAWL_JOIN_SCOPE": "off"}, B, TEXT, False),
        ({"FEEDCRAWL_JOIN_MIN_CHARS": "9999"}, B, TEXT, False),
        ({}, B, f"{TEXT}\n{OTHER[:600]}", False),
        ({"FEEDCRAWL_JOIN_SIMILARITY": "0.6"}, B, f"{TEXT}\n{OTHER[:600]}", True),
    ],
)
def test_the_settings_decide_where_and_how_articles_are_merged(
    redis_server: str,
    redis_client: redis.Redis,
    tmp_path: Path,
    settings: dict[str, str],
    second: str,
    text: str,
    joins: bool,
) -> None:
    with wired_to(redis_server, tmp_path, **settings) as wired:
        reader = Reader(wired)
        reader.read(A, TEXT)
        assert (reader.read(second, text).merged_into == url_uid(A)) is joins


@pytest.mark.parametrize(("title", "text"), [(None, TEXT), ("A title", TEXT * 20)])
def test_a_text_without_near_copies_is_stored_in_no_bucket(
    reader: Reader, redis_client: redis.Redis, title: str | None, text: str
) -> None:
    reader.read(A, text, title=title)
    assert redis_client.keys("fc:{0}:same_title:*") == []
    assert reader.read(B, text, title=title).merged_into == url_uid(A)
    assert reader.read(C, f"{text}\nMore.", title=title).merged_into is None


def test_a_merged_article_is_not_compared_with(reader: Reader) -> None:
    """Else a story would drift: each like the last, and the last like nothing of the first."""
    texts = [TEXT]
    for number in range(3):
        texts.append(f"{texts[-1]}\n{paragraphs(f'more {number}', count=1, words=20)[0]}")
    found = [reader.read(f"http://paper.test/{number}", text) for number, text in enumerate(texts)]
    uids = [url_uid(f"http://paper.test/{number}") for number in range(4)]
    assert [item.merged_into for item in found[:2]] == [None, uids[0]]
    assert all(item.merged_into in (None, uids[0], uids[2]) for item in found[2:])
    assert found[3].merged_into != uids[1]


def test_a_page_with_another_canonical_url_is_merged_into_its_article(
    reader: Reader, redis_client: redis.Redis
) -> None:
    amp, story = "http://amp.paper.test/1", "http://paper.test/1"
    first = reader.read(amp, TEXT, canonical_url=story, category="x")
    assert (first.uid, first.merged_into) == (url_uid(story), None)
    assert [(join["uid"], join["winner"], join["why"]) for join in reader.wired.stories.merges(9)] == [
        (url_uid(amp), url_uid(story), "canonical")
    ]
    mobile = reader.read("http://m.paper.test/1", TEXT, canonical_url=story, category="y")
    assert mobile.merged_into == url_uid(story)
    assert {event["why"] for event in events_of(redis_client, "article_merged")} == {"canonical"}
    assert redis_client.smembers("rss:articles_by_category:y") == {url_uid(story)}


def test_a_redirect_is_an_event_and_cannot_be_undone(reader: Reader, redis_client: redis.Redis) -> None:
    reader.read("http://short.test/x", TEXT, final_url=A)
    (event,) = events_of(redis_client, "article_merged")
    assert (event["uid"], event["winner"], event["why"]) == (url_uid("http://short.test/x"), url_uid(A), "redirect")
    assert reader.wired.stories.merges(9) == []


def test_a_copy_behind_a_redirect_is_merged_into_the_last_target(reader: Reader, redis_client: redis.Redis) -> None:
    reader.read(A, TEXT)
    reader.read("http://short.test/x", TEXT, final_url=B)
    losers = {event["uid"]: event["winner"] for event in events_of(redis_client, "article_merged")}
    assert losers == dict.fromkeys((url_uid("http://short.test/x"), url_uid(B)), url_uid(A))


def test_an_ordinary_article_costs_a_single_round_trip(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(reader.wired.client, redis.RedisCluster):
        pytest.skip("each node of a cluster is asked, side by side")
    item = reader.passed(reader.page(reader.lease(A), TEXT), last=1)
    sent, send = [], AbstractConnection.send_packed_command

    def counted(self: AbstractConnection, command: Any, **how: Any) -> None:
        sent.append(command)
        send(self, command, **how)

    monkeypatch.setattr(AbstractConnection, "send_packed_command", counted)
    reader.wired.merging.settle(item)
    assert len(sent) == 1
