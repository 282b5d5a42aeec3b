import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from documents import paragraphs
from stories import START, Reader, wired_to

from feedcrawl.domain.articles.media import media_id
from feedcrawl.domain.urls import url_uid
from feedcrawl.services.articles.merges import UnknownMerge

TEXT = "\n".join(paragraphs("story", count=5))
A, B, AMP = "http://a.paper.test/1", "http://b.paper.test/1", "http://amp.paper.test/1"


@pytest.fixture
def reader(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Reader]:
    with wired_to(redis_server, tmp_path) as wired:
        yield Reader(wired)


def lines(reader: Reader) -> list[dict[str, Any]]:
    return list(reader.wired.article_lines.read(START.date()))


def events_of(client: redis.Redis) -> list[tuple[str, str]]:
    return [(fields["type"], fields["id"]) for _, fields in client.xrange("feedcrawl:events")]


def everything(client: redis.Redis) -> dict[str, Any]:
    """What others read of articles, whatever else is in the server."""
    stored: dict[str, Any] = {key: client.hgetall(key) for key in client.keys("rss:article_canonical:*")}
    stored |= {key: client.smembers(key) for key in client.keys("rss:articles_by_category:*")}
    return stored | {"index": client.zrange("rss:article_canonical_index", 0, -1, withscores=True)}


@pytest.mark.parametrize(("text", "why"), [(TEXT, "same_text"), (f"{TEXT}\nMore.", "near_text")])
def test_an_undone_merge_leaves_both_articles_unchanged(
    redis_server: str, redis_client: redis.Redis, tmp_path: Path, text: str, why: str
) -> None:
    left = []
    for scope in ("off", "site"):
        redis_client.flushall()
        with wired_to(redis_server, tmp_path / scope, FEEDCRAWL_JOIN_SCOPE=scope) as wired:
            reader = Reader(wired)
            reader.read(A, TEXT, category="x")
            reader.read(B, text, category="y")
            if scope == "site":
                assert wired.merges.last(9)[0]["why"] == why
                assert wired.merges.undo(B, START)[1] == "restored"
            left.append((everything(redis_client), lines(reader)))
    assert left[0] == left[1]
    kinds = [kind for kind, _ in events_of(redis_client)]
    assert kinds == ["article_ready", "article_merged", "article_unmerged", "article_ready"]


def test_an_undone_pair_is_never_merged_again(reader: Reader) -> None:
    reader.read(A, TEXT)
    reader.read(B, TEXT)
    reader.wired.merges.undo(url_uid(B), START)
    assert reader.read(B, TEXT, again="operator").merged_into is None
    reader.wired.client.delete(*(f"rss:article_canonical:{url_uid(url)}" for url in (A, B)))
    reader.wired.client.delete(*(f"fc:{{0}}:media:{media_id(url_uid(url))}" for url in (A, B)))
    assert reader.read(B, TEXT, again="operator").merged_into is None
    assert reader.read(A, TEXT, again="operator").merged_into is None


def test_a_third_copy_is_merged_into_the_first(reader: Reader) -> None:
    reader.read(A, TEXT)
    reader.read(B, TEXT)
    reader.wired.merges.undo(B, START)
    assert reader.read("http://c.paper.test/1", TEXT).merged_into == url_uid(A)


@pytest.mark.parametrize("cut", ["article_lines", "events"])
def test_an_interrupted_undo_is_completed_by_a_second_undo(
    reader: Reader, redis_client: redis.Redis, monkeypatch: pytest.MonkeyPatch, cut: str
) -> None:
    reader.read(A, TEXT)
    reader.read(B, TEXT)
    with monkeypatch.context() as patch:
        outlet = getattr(reader.wired, cut)
        patch.setattr(outlet, "append" if cut == "article_lines" else "add", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            reader.wired.merges.undo(B, START)
    reader.wired.merges.undo(B, START)
    assert redis_client.hget(f"rss:article_canonical:{url_uid(B)}", "clean_text") == TEXT
    assert {line["uid"] for line in lines(reader)} == {url_uid(A), url_uid(B)}


def test_a_category_that_both_articles_have_stays(reader: Reader, redis_client: redis.Redis) -> None:
    reader.read(A, TEXT, category="x")
    reader.read(B, TEXT, category="y")
    with redis_client.pipeline() as pipe:
        reader.wired.articles.request_categories(pipe, url_uid(A), ["y"])
        pipe.execute()
    reader.wired.merges.undo(B, START)
    assert redis_client.smembers("rss:articles_by_category:y") == {url_uid(A), url_uid(B)}


def test_actors_that_requested_the_merged_article_get_it_back(reader: Reader) -> None:
    reader.read(A, TEXT)
    reader.wired.media.submit(B, "ada", START)
    reader.read(B, TEXT)
    reader.wired.merges.undo(B, START)
    own = media_id(url_uid(B))
    assert set(reader.wired.collections.members("ada/default")) == {own, media_id(url_uid(A))}
    found = reader.wired.media.get(own)
    assert (found["processing_status"], found["duplicate_of"]) == ("ready_for_reading", None)
    assert [part["canonical_text"] for part in found["fragments"]] == [TEXT]
    assert reader.wired.media.submit(B, "bob", START).media.media_id == own


@pytest.mark.parametrize("why", ["canonical", "expired"])
def test_an_article_that_was_not_kept_is_fetched_again(reader: Reader, redis_client: redis.Redis, why: str) -> None:
    reader.read(A, TEXT)
    reader.read(AMP, TEXT, category="y", **({"canonical_url": A} if why == "canonical" else {}))
    if why == "expired":
        redis_client.delete(f"fc:{{0}}:joined_record:{url_uid(AMP)}")
    assert reader.wired.merges.undo(AMP, START)[1] == "queued"
    (lease,) = reader.wired.leases.take(9, ["page"]).leases
    assert (lease.id, lease.history.again, lease.task.category) == (url_uid(AMP), "operator", "y")
    assert url_uid(A) in reader.wired.media.prepare([lease], START).apart[url_uid(AMP)]
    assert reader.passed(reader.page(lease, TEXT)).merged_into is None
    ids = [name for _, name in events_of(redis_client)]
    assert ids[-2] == f"article_unmerged:{url_uid(AMP)}:{url_uid(A)}"
    assert json.loads(redis_client.xrevrange("feedcrawl:events", count=1)[0][1]["data"])["uid"] == url_uid(AMP)


def test_an_article_that_was_not_merged_cannot_be_undone(reader: Reader) -> None:
    reader.read(A, TEXT)
    for wanted in (A, url_uid(A), "no such"):
        with pytest.raises(UnknownMerge, match="no_merge"):
            reader.wired.merges.undo(wanted, START)
