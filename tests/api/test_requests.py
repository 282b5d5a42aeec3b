import logging
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from callers import Callers, callers

from feedcrawl.api.requests import WithRequestId


@pytest.fixture
def local(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Callers]:
    with callers(redis_server, tmp_path) as made:
        yield made


@pytest.mark.parametrize("path", ["/feeds", "/none", "/feeds?limit=0", "/healthz"])
def test_a_request_keeps_its_name(local: Callers, path: str) -> None:
    answer = local.client().get(path, headers={"X-Request-ID": "mine-1.a_B"})
    assert answer.headers["x-request-id"] == "mine-1.a_B"


@pytest.mark.parametrize("given", ["", "x" * 65, "a b", "a\tb", "<b>", "a;b"])
def test_an_unusable_request_id_is_replaced(local: Callers, given: str) -> None:
    client = local.client()
    names = [client.get("/feeds", headers={"X-Request-ID": given}).headers["x-request-id"] for _ in range(2)]
    assert len(set(names)) == 2
    assert all(len(name) == 32 and name.isalnum() for name in names)


def test_records_of_a_request_have_its_request_id(local: Callers) -> None:
    client = local.client(X_Request_ID="import-7")
    feed = client.post("/feeds", json={"url": "https://news.example/feed"}).json()
    assert feed["request_id"] == "import-7"
    client.post("/feeds", json={"url": "https://news.example/feed"}, headers={"X-Request-ID": "later"})
    assert client.get(f"/feeds/{feed['id']}").json()["request_id"] == "import-7"
    (other,) = client.post("/opml", content="https://other.example/feed\n").json()["ids"]
    assert client.get(f"/feeds/{other}").json()["request_id"] == "import-7"
    media = client.post("/media/from_url", json={"url": "https://news.example/a"}).json()["data"]["media_id"]
    record = local.wired.media_records.get(media)
    assert record is not None
    assert record.request_id == "import-7"


def test_each_request_is_logged_with_its_route_and_actor(local: Callers, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "feedcrawl.api.requests")
    client = local.having("read", "ada")
    client.get("/feeds/0b5bca8e-6b5a-4b0e-9f4f-0d1a2b3c4d5e?token=secret", headers={"X-Request-ID": "one"})
    local.client().get("/websub/SECRET")
    end = time.monotonic() + 5
    while len(lines := [vars(record) for record in caplog.records if record.message == "request"]) < 2:
        assert time.monotonic() < end  # a line is written when the answer is out
        time.sleep(0.01)
    first, second = ({name: line[name] for name in ("method", "route", "http_status", "actor")} for line in lines)
    assert first == {"method": "GET", "route": "/feeds/{feed_id}", "http_status": 422, "actor": "ada"}
    assert second == {"method": "GET", "route": "/websub/{token}", "http_status": 404, "actor": None}
    assert "secret" not in str(lines).lower()


def test_log_lines_of_a_request_have_its_request_id(
    local: Callers, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.handler.addFilter(WithRequestId())
    caplog.set_level(logging.INFO)
    client = local.client(X_Request_ID="mover")
    feed = client.post("/feeds", json={"url": "https://news.example/feed"}).json()
    client.patch(f"/feeds/{feed['id']}", json={"url": "https://news.example/other"})
    (moved,) = (record for record in caplog.records if record.message == "feed_moved")
    assert vars(moved)["request_id"] == "mover"


def test_an_internal_error_is_a_problem_without_details(local: Callers, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError("secret of ours")

    monkeypatch.setattr(local.wired.frontier, "statistics", broken)
    answer = local.client(X_Request_ID="one").get("/frontier")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-request-id"] == "one"
    assert "secret" not in answer.text


@pytest.mark.parametrize("path", ["/", "/healthz", "/feeds", "/articles/0", "/events", "/opml", "/openapi.json"])
def test_head_is_get_without_the_content(local: Callers, path: str) -> None:
    client = local.client()
    got, head = client.get(path), client.head(path)
    assert (head.status_code, head.content) == (got.status_code, b"")
    if path != "/":  # its figures are of now
        assert head.headers.get("etag") == got.headers.get("etag")
        assert head.headers["content-length"] == got.headers["content-length"]
    assert client.get("/healthz").json() == {"status": "ok"}  # by the same connection


def test_head_of_a_stream_ends_it(local: Callers) -> None:
    client = local.client()
    for _ in range(3):
        answer = client.head("/events", headers={"Accept": "text/event-stream"})
        assert (answer.status_code, answer.content) == (200, b"")
    assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/feeds", "GET, HEAD, POST"),
        ("FOO", "/feeds/0b5bca8e-6b5a-4b0e-9f4f-0d1a2b3c4d5e", "DELETE, GET, HEAD, PATCH"),
        ("GET", "/dlq/replay", "POST"),
        ("POST", "/", "GET, HEAD"),
    ],
)
def test_a_wrong_method_gets_405_with_the_allowed_methods(local: Callers, method: str, path: str, allowed: str) -> None:
    answer = local.client().request(method, path)
    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)


@pytest.mark.parametrize("path", ["/articles/0000000000000000", "/none", "/feeds?limit=0"])
def test_a_refusal_is_not_stored_by_caches(local: Callers, path: str) -> None:
    assert local.client().get(path).headers["cache-control"] == "no-store"
