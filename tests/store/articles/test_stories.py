import time
from collections.abc import Callable
from typing import Any

import pytest
import redis

from feedcrawl.store.articles import stories as module
from feedcrawl.store.articles.stories import MERGE_LIFE_SEC, Stories

TEXT, TITLE = ("text", "a" * 20), ("title", "b" * 20)
ANY = (0, 10**9)


@pytest.fixture
def stories(redis_client: redis.Redis) -> Stories:
    return Stories(redis_client, title_life_sec=700)


@pytest.fixture
def queue(redis_client: redis.Redis) -> Callable[..., list[Any]]:
    """Calls a method that queues on a pipeline, and sends the pipeline."""

    def call(method: Callable[..., None], *arguments: Any, **named: Any) -> list[Any]:
        with redis_client.pipeline() as pipe:
            method(pipe, *arguments, **named)
            return list(pipe.execute())

    return call


@pytest.fixture
def meet(stories: Stories, queue: Callable[..., list[Any]]) -> Callable[..., list[tuple[str, str]]]:
    def call(uid: str, left: str, bucket: tuple[str, str] = TITLE, lengths: tuple[int, int] = ANY) -> Any:
        return stories.earlier(queue(stories.enter, bucket, uid, left, lengths)[0])

    return call


def test_each_article_meets_the_earlier_articles_of_its_bucket(meet: Callable[..., Any]) -> None:
    assert meet("a", "1:500:") == []
    assert meet("b", "1:600:") == [("a", "1:500:")]
    assert meet("c", "1:700:") == [("a", "1:500:"), ("b", "1:600:")]
    assert meet("d", "1:500:", TEXT) == []


def test_a_new_version_keeps_its_place(meet: Callable[..., Any]) -> None:
    meet("a", "1:500:")
    meet("b", "1:600:")
    assert meet("a", "1:510:") == []
    assert meet("b", "1:600:") == [("a", "1:510:")]


def test_places_are_in_order_beyond_ten(meet: Callable[..., Any]) -> None:
    for number in range(12):
        assert [uid for uid, _ in meet(f"{number:x}", "1:500:")] == [f"{each:x}" for each in range(number)]


def test_lengths_that_cannot_be_alike_are_left_out(meet: Callable[..., Any]) -> None:
    for uid, left in (("a", "1:100:"), ("b", "1:500:"), ("c", "1:900:")):
        meet(uid, left)
    assert meet("d", "1:500:", lengths=(500, 500)) == [("b", "1:500:")]


def test_an_article_that_left_its_bucket_is_met_no_more(
    stories: Stories, queue: Callable[..., Any], meet: Callable[..., Any]
) -> None:
    for uid in ("a", "b"):
        meet(uid, "1:500:")
    queue(stories.leave, TITLE, "a")
    assert meet("c", "1:500:") == [("b", "1:500:")]
    assert [uid for uid, _ in meet("a", "1:500:")] == ["b", "c"]  # who comes again comes last


def test_a_full_bucket_compares_no_new_article(meet: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BUCKET_SIZE", 3)
    for uid in ("a", "b", "c"):
        meet(uid, "1:500:")
    assert meet("d", "1:500:") == []
    assert meet("d", "1:500:") == []
    assert [uid for uid, _ in meet("c", "1:500:")] == ["a", "b"]


def test_the_last_of_a_bucket_are_compared(meet: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COMPARED", 2)
    found = [meet(uid, "1:500:") for uid in "abcd"]
    assert [[uid for uid, _ in each] for each in found] == [[], ["a"], ["a", "b"], ["b", "c"]]


def test_buckets_live_for_their_time(meet: Callable[..., Any], redis_client: redis.Redis) -> None:
    meet("a", "1:500:", TEXT)
    meet("a", "1:500:", TITLE)
    assert MERGE_LIFE_SEC - 60 < redis_client.ttl(f"fc:{{0}}:same_text:{TEXT[1]}") <= MERGE_LIFE_SEC
    assert 640 < redis_client.ttl(f"fc:{{0}}:same_title:{TITLE[1]}") <= 700


def join(uid: str, at: float) -> dict[str, Any]:
    return {"uid": uid, "winner": "w", "at_ts": at, "why": "same_text"}


def test_merges_are_listed_newest_first_and_expire(
    stories: Stories, queue: Callable[..., Any], redis_client: redis.Redis
) -> None:
    now = time.time()
    queue(stories.merge, join("old", now - MERGE_LIFE_SEC - 1), life_sec=600, record=None)
    queue(stories.merge, join("a", now - 2), life_sec=600, record={"uid": "a", "title": "é"})
    queue(stories.merge, join("b", now - 1), life_sec=600, record=None)
    assert [each["uid"] for each in stories.merges(10)] == ["b", "a"]
    assert [each["uid"] for each in stories.merges(1)] == ["b"]
    assert stories.find("a") == join("a", now - 2)
    assert (stories.record("a"), stories.record("b")) == ({"uid": "a", "title": "é"}, None)
    assert 0 < redis_client.ttl("fc:{0}:joined_record:a") <= 600
    redis_client.delete("fc:{0}:join:b")  # its time is over before the list notices
    assert [each["uid"] for each in stories.merges(10)] == ["a"]
    queue(stories.undone, "a")
    assert (stories.find("a"), stories.record("a"), stories.merges(10)) == (None, None, [])


def test_a_pair_stays_apart_in_both_directions(stories: Stories, queue: Callable[..., Any]) -> None:
    queue(stories.part, "a", "b")
    queue(stories.part, "a", "c")
    assert [queue(stories.query_apart, uid)[0] for uid in "abcd"] == [{"b", "c"}, {"a"}, {"a"}, set()]
