"""A task whose article is stored already ends without a request."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from documents import paragraphs
from stories import Reader, reading

from feedcrawl.domain.urls import url_uid
from feedcrawl.store.redis import keys

TEXT = "\n".join(paragraphs("story", count=5))
A, B = "http://a.paper.test/1", "http://b.paper.test/1"


@pytest.fixture
def reader(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Reader]:
    with reading(redis_server, tmp_path) as made:
        made.read(A, TEXT, category="x")
        yield made


def merged(client: redis.Redis) -> list[str]:
    return [fields["id"] for _, fields in client.xrange("feedcrawl:events") if fields["type"] == "article_merged"]


def test_the_article_gets_the_categories_and_is_found_by_the_uid(reader: Reader, redis_client: redis.Redis) -> None:
    wired, lease = reader.wired, reader.lease(B, category="y")
    with redis_client.pipeline() as pipe:
        wired.articles.request_categories(pipe, lease.id, ["z"])
        pipe.execute()
    wired.unfetched.merge(lease, url_uid(A), reader.now)
    assert {name for name in "xyz" if redis_client.sismember(keys.articles_by_category(name), url_uid(A))} == set("xyz")
    assert wired.articles.target_of(url_uid(B)) == url_uid(A)
    assert B in wired.articles.other_urls(url_uid(A))
    assert redis_client.sismember(keys.CANONICAL_ATTEMPTED, url_uid(B))
    assert merged(redis_client) == [f"article_merged:{url_uid(B)}:{url_uid(A)}"]


def test_the_task_ends_as_fetched_together_with_its_lease(reader: Reader) -> None:
    lease = reader.lease(B)
    reader.wired.unfetched.merge(lease, url_uid(A), reader.now)
    _, history = reader.wired.frontier.find(lease.id) or pytest.fail("the frontier has forgotten the task")
    assert (history.status, history.reason) == ("fetched", "already_stored")
    assert not reader.wired.leases.holds(lease)


def test_a_task_of_the_article_itself_is_merged_into_nothing(reader: Reader, redis_client: redis.Redis) -> None:
    reader.wired.unfetched.merge(reader.lease(A, category="y", again="queue_again"), url_uid(A), reader.now)
    assert redis_client.sismember(keys.articles_by_category("y"), url_uid(A))
    assert (reader.wired.articles.target_of(url_uid(A)), merged(redis_client)) == (None, [])


def test_whoever_queued_the_url_gets_the_article_announced_again(reader: Reader, redis_client: redis.Redis) -> None:
    def published() -> list[tuple[str, str | None]]:
        found = [(fields["type"], json.loads(fields["data"])) for _, fields in redis_client.xrange("feedcrawl:events")]
        return [(kind, data.get("reason")) for kind, data in found if data.get("uid") in {url_uid(A), url_uid(B)}]

    before = len(published())
    reader.wired.unfetched.merge(reader.lease(B, origin="feed"), url_uid(A), reader.now)
    assert published()[before:] == [("article_merged", None)]
    before = len(published())
    reader.wired.unfetched.merge(reader.lease(B, origin="queue", again="queue_again"), url_uid(A), reader.now)
    assert published()[before:] == [
        ("article_merged", None),
        ("url_known", "already_stored"),
        ("article_ready", None),
    ]
