import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import redis
from documents import paragraphs
from stories import START, Reader, wired_to

from feedcrawl.domain.articles.media import IllegalTransition, media_id
from feedcrawl.domain.errors import InvalidUrl, Refusal
from feedcrawl.domain.urls import url_uid
from feedcrawl.services.articles.collections import UnknownCollection
from feedcrawl.services.articles.media import UnknownMedia

TEXT = "\n".join(paragraphs("story", count=5))
EDITED = "\n".join(paragraphs("edited", count=5))
A, B = "http://a.paper.test/1", "http://b.paper.test/1"
IDS = {url: media_id(url_uid(url)) for url in (A, B)}
ADA, BOB = "ada/default", "bob/default"


@pytest.fixture
def reader(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Reader]:
    with wired_to(redis_server, tmp_path) as wired:
        yield Reader(wired)


def shown(reader: Reader, url: str) -> dict[str, Any]:
    return reader.wired.media.get(IDS[url])


def texts(reader: Reader, url: str) -> list[str]:
    return [part["canonical_text"] for part in shown(reader, url)["fragments"]]


def test_a_submitted_page_becomes_readable(reader: Reader) -> None:
    media = reader.wired.media
    first = media.submit(A + "?utm_source=x#top", "ada", START)
    assert (first.media.media_id, first.media.processing_status) == (IDS[A], "pending")
    assert (first.duplicate, first.enqueued) == (False, True)
    assert media.submit(A, "bob", START).media == first.media
    assert reader.wired.frontier.counts()["pending:article"] == 1
    assert reader.wired.collections.holders(IDS[A]) == {ADA, BOB}

    lease = reader.lease(A)
    media.prepare([lease], START)
    assert (shown(reader, A)["processing_status"], shown(reader, A)["fragments"]) == ("extracting", [])
    item = reader.passed(reader.page(lease, TEXT))
    reader.wired.leases.done(item.lease, status="fetched")
    found = shown(reader, A)
    assert (found["processing_status"], found["processing_attempts"]) == ("ready_for_reading", 1)
    assert (found["canonical_url"], found["duplicate_of"]) == (A, None)
    assert found["fragments"] == [{"idx": 0, "html_sanitized": f"<p>{TEXT}</p>", "canonical_text": TEXT}]
    assert not media.submit(A, "eve", START).enqueued


@pytest.mark.parametrize("url", ["", "javascript:x", "http://user:pass@a.test/"])
def test_a_url_that_cannot_be_fetched_is_refused(reader: Reader, redis_client: redis.Redis, url: str) -> None:
    with pytest.raises(InvalidUrl):
        reader.wired.media.submit(url, "ada", START)
    assert redis_client.keys("fc:{0}:media:*") == []


def test_a_record_in_a_collection_outlives_its_article(reader: Reader, redis_client: redis.Redis) -> None:
    reader.wired.media.submit(A, "ada", START)
    reader.read(A, TEXT)
    reader.read(B, EDITED)
    for url in (A, B):
        redis_client.delete(f"rss:article_canonical:{url_uid(url)}")
    assert (texts(reader, A), texts(reader, B)) == ([TEXT], [])
    assert redis_client.ttl(f"fc:{{0}}:media:{IDS[A]}") == -1
    assert redis_client.ttl(f"fc:{{0}}:media:{IDS[B]}") > 0


def test_a_stored_article_is_kept_for_the_actor_that_submits_it(reader: Reader, redis_client: redis.Redis) -> None:
    reader.read(A, TEXT)
    found = reader.wired.media.submit(A, "ada", START)
    assert (found.media.processing_status, found.duplicate, found.enqueued) == ("ready_for_reading", False, False)
    redis_client.delete(f"rss:article_canonical:{url_uid(A)}")
    assert texts(reader, A) == [TEXT]


def test_a_merged_record_is_removed_after_its_collections_have_the_target(reader: Reader) -> None:
    reader.read(A, TEXT)
    reader.wired.media.submit(B, "ada", START)
    reader.read(B, TEXT)
    assert reader.wired.collections.members(ADA) == [IDS[A]]
    found = shown(reader, B)
    assert (found["processing_status"], found["duplicate_of"]) == ("duplicate", IDS[A])
    late = reader.wired.media.submit(B, "bob", START)
    assert (late.duplicate, late.media.media_id, late.enqueued) == (True, IDS[A], False)
    assert reader.wired.collections.members(BOB) == [IDS[A]]
    assert texts(reader, A) == [TEXT]


def test_the_merged_article_stays_readable_for_actors_that_requested_its_copy(
    reader: Reader, redis_client: redis.Redis
) -> None:
    reader.read(A, TEXT)
    reader.wired.media.submit(B, "ada", START)
    reader.read(B, TEXT)
    redis_client.delete(f"rss:article_canonical:{url_uid(A)}")
    assert texts(reader, A) == [TEXT]
    assert redis_client.ttl(f"fc:{{0}}:media:{IDS[A]}") == -1


@pytest.mark.parametrize("started", [False, True])
def test_a_stored_article_is_not_fetched_for_its_page_record(
    reader: Reader, redis_client: redis.Redis, started: bool
) -> None:
    """A redirect led to an article that is stored, or the URL was brought by another task meanwhile."""
    reader.read(A, TEXT)
    for uid in (url_uid(A), url_uid(B)):
        redis_client.delete(f"fc:{{0}}:media:{media_id(uid)}")
        reader.wired.media.submit({url_uid(A): A, url_uid(B): B}[uid], "ada", START)
        if started:
            reader.wired.media.prepare(reader.wired.leases.take(9, ["page"]).leases, START)
        with redis_client.pipeline(transaction=False) as pipe:
            reader.wired.media.finish_unfetched(pipe, uid, url_uid(A), START)
            pipe.execute()
    assert (shown(reader, A)["processing_status"], texts(reader, A)) == ("ready_for_reading", [TEXT])
    assert (shown(reader, B)["processing_status"], shown(reader, B)["duplicate_of"]) == ("duplicate", IDS[A])
    assert reader.wired.collections.members(ADA) == [IDS[A]]
    redis_client.delete(f"rss:article_canonical:{url_uid(A)}")
    assert texts(reader, A) == [TEXT]


def test_a_merge_without_a_request_creates_no_page_record(reader: Reader, redis_client: redis.Redis) -> None:
    reader.read(A, TEXT)
    with redis_client.pipeline(transaction=False) as pipe:
        reader.wired.media.finish_unfetched(pipe, url_uid(B), url_uid(A), START)
        assert pipe.execute() == []


def test_a_holder_of_an_alias_has_the_article(reader: Reader) -> None:
    reader.wired.media.submit(B, "ada", START)
    reader.read(B, TEXT, canonical_url=A)
    assert reader.wired.collections.members(ADA) == [IDS[A]]
    assert (shown(reader, B)["duplicate_of"], shown(reader, A)["processing_status"]) == (IDS[A], "ready_for_reading")
    assert texts(reader, A) == [TEXT]


def test_a_failure_is_recorded_and_retried_on_request(reader: Reader) -> None:
    reader.wired.media.submit(A, "ada", START)
    reader.fail(A)
    found = shown(reader, A)
    assert (found["processing_status"], found["failure_stage"]) == ("failed", "extract")
    assert (found["last_error_code"], found["last_error_message"]) == ("E_INGEST_FAILED", "FAIL_HTTP http_404: no page")
    assert found["processing_completed_at"] is None
    assert reader.wired.media.retry(IDS[A], START).processing_status == "pending"
    assert reader.wired.frontier.counts()["pending:article"] == 1
    (lease,) = reader.wired.leases.take(9, ["page"]).leases
    reader.passed(reader.page(lease, TEXT))
    found = shown(reader, A)
    assert (found["processing_status"], found["last_error_code"], found["processing_attempts"]) == (
        "ready_for_reading",
        None,
        2,
    )
    with pytest.raises(IllegalTransition, match="media_ready_for_reading"):
        reader.wired.media.retry(IDS[A], START)


def test_failures_of_feeds_have_a_record_too(reader: Reader, redis_client: redis.Redis) -> None:
    reader.fail(A, code="FAIL_TIMEOUT", reason="total_timeout")
    assert shown(reader, A)["last_error_code"] == "E_INGEST_TIMEOUT"
    assert redis_client.hget(f"rss:article_canonical:{url_uid(A)}", "failure") == "FAIL_TIMEOUT"


def test_an_edit_that_fails_leaves_the_article(reader: Reader, redis_client: redis.Redis) -> None:
    reader.read(A, TEXT)
    reader.fail(A, again="edited")
    assert (shown(reader, A)["processing_status"], texts(reader, A)) == ("ready_for_reading", [TEXT])
    assert redis_client.hget(f"rss:article_canonical:{url_uid(A)}", "status") == "success"


def test_an_edit_is_a_version_of_its_own(reader: Reader, redis_client: redis.Redis) -> None:
    reader.wired.media.submit(A, "ada", START)
    first = reader.read(A, TEXT)
    second = reader.read(A, EDITED, again="edited")
    assert (first.updated, second.updated) == (False, True)
    hashes = [each["content_hash"] for each in shown(reader, A)["revisions"]]
    assert hashes == [second.content_hash, first.content_hash]
    fragments = redis_client.hgetall(f"fc:{{0}}:fragments:{IDS[A]}")
    assert json.loads(fragments.pop("article"))["content_hash"] == second.content_hash
    assert {digest: json.loads(parts)[0]["canonical_text"] for digest, parts in fragments.items()} == {
        first.content_hash: TEXT,
        second.content_hash: EDITED,
    }


def test_unknown_records_are_refused(reader: Reader) -> None:
    with pytest.raises(UnknownMedia):
        reader.wired.media.get("nobody")
    with pytest.raises(UnknownMedia):
        reader.wired.media.retry(IDS[A], START)


def test_a_page_whose_task_ended_without_a_record_is_fetched_again(reader: Reader) -> None:
    """The frontier remembers a URL that nobody kept a record of."""
    lease = reader.lease(A)
    reader.wired.leases.done(lease, status="fetched")
    assert reader.wired.media.submit(A, "ada", START).enqueued
    assert reader.wired.frontier.counts()["pending:article"] == 1


def test_a_submission_repairs_a_record_whose_workers_died(reader: Reader) -> None:
    reader.wired.media.submit(A, "ada", START)
    lease = reader.lease(A)
    reader.wired.media.prepare([lease], START)
    before = reader.wired.frontier.counts()
    assert reader.wired.media.submit(A, "bob", START).enqueued  # whoever has it goes on
    assert reader.wired.frontier.counts() == before
    reader.wired.leases.done(lease, status="dead", reason="lease_expired")
    assert shown(reader, A)["processing_status"] == "extracting"
    assert reader.wired.frontier.counts()["pending:article"] == 0
    assert reader.wired.media.submit(A, "ada", START).enqueued
    assert reader.wired.frontier.counts()["pending:article"] == 1


def test_a_task_that_only_lacks_its_end_is_not_fetched_again(reader: Reader) -> None:
    lease = reader.lease(A)
    reader.now = reader.wired.now() + timedelta(seconds=1)  # the frontier's clock is the server's
    reader.passed(reader.page(lease, TEXT))
    assert list(reader.wired.media.prepare([lease], START).done) == [url_uid(A)]
    reader.wired.leases.done(lease, status="fetched")
    again = reader.lease(A, again="edited")
    assert reader.wired.media.prepare([again], START).done == {}


def test_a_submission_retries_a_failed_page(reader: Reader) -> None:
    reader.fail(A)
    found = reader.wired.media.submit(A, "ada", START)
    assert (found.media.processing_status, found.enqueued) == ("pending", True)
    assert reader.wired.frontier.counts()["pending:article"] == 1
    assert reader.wired.media.submit(A, "ada", START).enqueued  # waiting


def test_a_submission_fetches_an_expired_article_anew(reader: Reader, redis_client: redis.Redis) -> None:
    reader.read(A, TEXT)
    redis_client.delete(f"rss:article_canonical:{url_uid(A)}")
    found = reader.wired.media.submit(A, "ada", START)
    assert (found.media.processing_status, found.enqueued) == ("ready_for_reading", True)
    (lease,) = reader.wired.leases.take(9, ["page"]).leases
    assert reader.wired.media.prepare([lease], START).done == {}
    reader.passed(reader.page(lease, TEXT))
    assert texts(reader, A) == [TEXT]
    redis_client.delete(f"rss:article_canonical:{url_uid(A)}")
    assert texts(reader, A) == [TEXT]


def test_a_request_is_known_by_its_id(reader: Reader) -> None:
    for request_id in ("first", "second"):
        reader.wired.media.submit(A, "ada", START, request_id=request_id)
    reader.read(A, TEXT)
    assert shown(reader, A)["request_id"] == "first"


def test_a_collection_must_be_there(reader: Reader, redis_client: redis.Redis) -> None:
    with pytest.raises(UnknownCollection):
        reader.wired.media.submit(A, "ada", START, collection="later")
    assert redis_client.keys("fc:{0}:media:*") == []
    reader.wired.collection_service.make("ada", "later", START)
    reader.wired.media.submit(A, "ada", START, collection="later")
    assert reader.wired.collections.holders(IDS[A]) == {"ada/later"}
    with pytest.raises(UnknownCollection):
        reader.wired.media.submit(A, "bob", START, collection="later")


def test_a_stored_article_is_put_into_a_collection_under_any_of_its_uids(reader: Reader) -> None:
    reader.read(A, TEXT)
    reader.read(B, TEXT)
    for uid in (url_uid(A), url_uid(B)):
        assert reader.wired.media.hold(uid, "ada", "default", START).media_id == IDS[A]
    assert reader.wired.collections.members(ADA) == [IDS[A]]
    reader.fail("http://a.paper.test/none")
    for uid in (url_uid("http://a.paper.test/none"), "0" * 16):
        with pytest.raises(Refusal, match="article_unknown"):
            reader.wired.media.hold(uid, "ada", "default", START)


def test_the_last_target_of_repeated_merges_is_found(reader: Reader, redis_client: redis.Redis) -> None:
    last = reader.read(A, TEXT)
    with redis_client.pipeline() as pipe:
        reader.wired.articles.merge(pipe, url_uid(B), "1" * 16)
        reader.wired.articles.merge(pipe, "1" * 16, last.uid)
        reader.wired.articles.merge(pipe, "2" * 16, "3" * 16)
        reader.wired.articles.merge(pipe, "3" * 16, "2" * 16)
        pipe.execute()
    found = reader.wired.media.submit(B, "ada", START)
    assert (found.media.media_id, found.duplicate, found.enqueued) == (IDS[A], True, False)
    with pytest.raises(Refusal, match="article_unknown"):  # a ring ends
        reader.wired.media.hold("2" * 16, "ada", "default", START)
