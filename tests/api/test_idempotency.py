"""A request that is sent again has the answer that it had, and is done once."""

import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import redis
from callers import Callers, callers

from feedcrawl.api import idempotency
from feedcrawl.store.operations.cached_responses import CachedResponses

KEY = {"Idempotency-Key": "8c1e-first"}
FEED = {"url": "https://news.example/feed"}


@pytest.fixture
def public(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Callers]:
    with callers(redis_server, tmp_path, API_HOST="0.0.0.0") as made:
        yield made


def test_a_repeated_response_has_its_status_and_location(public: Callers) -> None:
    client = public.having("write")
    first = client.post("/feeds", json=FEED, headers=KEY)
    again = client.post("/feeds", json=FEED, headers=KEY)
    assert (first.status_code, again.status_code) == (201, 201)
    assert (again.content, again.headers["location"]) == (first.content, first.headers["location"])
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert first.headers["x-request-id"] != again.headers["x-request-id"]
    assert client.post("/feeds", json=FEED).status_code == 200  # without the key it is another request


def test_a_repeated_request_has_no_second_effect(public: Callers) -> None:
    client = public.having("write")
    answers = [client.post("/feeds", json=FEED, headers=KEY) for _ in range(2)]
    feed_id = answers[0].json()["id"]
    assert client.delete(f"/feeds/{feed_id}").status_code == 204
    assert client.post("/feeds", json=FEED, headers=KEY).json()["id"] == feed_id
    assert public.wired.registry.count() == 0


def test_a_key_with_another_body_is_a_mistake(public: Callers) -> None:
    client = public.having("write")
    client.post("/feeds", json=FEED, headers=KEY)
    answer = client.post("/feeds", json={"url": "https://other.example/feed"}, headers=KEY)
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_mismatch")


def test_a_key_is_of_its_caller_and_its_path(public: Callers) -> None:
    ada, eve = public.having("write"), public.having("write", "eve")
    ada.post("/collections", json={"name": "later"}, headers=KEY)
    other = eve.post("/collections", json={"name": "later"}, headers=KEY)
    assert (other.status_code, other.headers.get("idempotency-replayed")) == (201, None)
    assert ada.post("/feeds", json=FEED, headers=KEY).status_code == 201


def test_a_revoked_token_gets_no_cached_response(public: Callers) -> None:
    client = public.having("write")
    client.post("/feeds", json=FEED, headers=KEY)
    public.wired.tokens.drop(public.wired.tokens.all()[0].id)
    assert client.post("/feeds", json=FEED, headers=KEY).status_code == 401


def test_a_refusal_of_the_request_is_cached_and_a_temporary_refusal_is_not(public: Callers) -> None:
    client, reader = public.having("write"), public.having("read")
    bad = {"url": "http://127.0.0.1/"}
    assert [client.post("/feeds", json=bad, headers=KEY).status_code for _ in range(2)] == [422, 422]
    other = {"Idempotency-Key": "other"}
    assert reader.post("/feeds", json=FEED, headers=other).status_code == 403
    assert client.post("/feeds", json=FEED, headers=other).status_code == 201  # of the same actor


def test_a_request_whose_key_is_in_progress_is_not_begun_again(
    public: Callers, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_end = threading.Event(), threading.Event()
    store = CachedResponses.keep

    def slow(self: CachedResponses, name: str, answer: str) -> None:
        begun.set()
        assert may_end.wait(10)
        store(self, name, answer)

    monkeypatch.setattr(CachedResponses, "keep", slow)
    client, answers = public.having("write"), list[httpx.Response]()
    thread = threading.Thread(target=lambda: answers.append(client.post("/feeds", json=FEED, headers=KEY)))
    thread.start()
    assert begun.wait(10)
    meanwhile = public.having("write").post("/feeds", json=FEED, headers=KEY)
    may_end.set()
    thread.join(10)
    assert (meanwhile.status_code, meanwhile.json()["code"]) == (409, "idempotency_in_progress")
    assert meanwhile.headers["retry-after"] == "1"
    assert answers[0].status_code == 201
    assert client.post("/feeds", json=FEED, headers=KEY).headers["idempotency-replayed"] == "true"


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb"])
def test_a_key_is_visible_and_short(public: Callers, key: str) -> None:
    answer = public.having("write").post("/feeds", json=FEED, headers={"Idempotency-Key": key})
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_idempotency_key")


def test_keys_of_other_methods_are_ignored(public: Callers) -> None:
    client = public.having("write")
    assert client.get("/feeds", headers=KEY).status_code == 200
    assert not public.wired.client.keys("fc:*answer:*")


def test_a_large_response_is_not_cached(public: Callers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idempotency, "MAX_BYTES", 1000)
    client = public.having("write")
    for count, cached in ((20, None), (1, "true")):
        body = {"urls": [f"https://a.example/{number}" for number in range(count)]}
        headers = {"Idempotency-Key": f"of-{count}"}
        first, second = (client.post("/frontier/urls", json=body, headers=headers) for _ in range(2))
        assert (first.status_code, second.status_code, second.headers.get("idempotency-replayed")) == (202, 202, cached)
