from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import redis
from callers import callers

from feedcrawl.api import etags
from feedcrawl.api.etags import is_known


@pytest.fixture
def client(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[httpx.Client]:
    with callers(redis_server, tmp_path) as local:
        yield local.client()


@pytest.mark.parametrize("path", ["/feeds", "/sources", "/frontier/urls", "/opml", "/entries", "/collections"])
def test_a_known_etag_gets_304_without_a_body(client: httpx.Client, path: str) -> None:
    first = client.get(path)
    assert first.headers["etag"].startswith('"')
    assert first.headers["cache-control"] == "private, no-cache"
    second = client.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (second.status_code, second.content) == (304, b"")
    assert second.headers["etag"] == first.headers["etag"]
    assert not {"content-type", "content-length"} & set(second.headers)


def test_a_changed_list_has_another_etag(client: httpx.Client) -> None:
    first = client.get("/feeds")
    client.post("/feeds", json={"url": "https://news.example/feed"})
    second = client.get("/feeds", headers={"If-None-Match": first.headers["etag"]})
    assert second.status_code == 200
    assert second.headers["etag"] != first.headers["etag"]


def test_problems_and_responses_to_writes_have_no_etag(client: httpx.Client) -> None:
    assert "etag" not in client.get("/feeds?limit=0").headers
    assert "etag" not in client.post("/feeds", json={"url": "https://news.example/feed"}).headers


@pytest.mark.parametrize(("over", "has_etag"), [(0, True), (1, False)])
def test_a_response_larger_than_the_limit_has_no_etag(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch, over: int, has_etag: bool
) -> None:
    monkeypatch.setattr(etags, "MAX_BYTES", len(client.get("/feeds").content) - over)
    found = client.get("/feeds", headers={"If-None-Match": "*"})
    assert ("etag" in found.headers, found.status_code) == (has_etag, 304 if has_etag else 200)


@pytest.mark.parametrize(
    ("header", "known"),
    [
        (None, False),
        ("", False),
        ('"a"', True),
        ('W/"a"', True),
        ('"b", "a"', True),
        ('"b",W/"a" ', True),
        ("*", True),
        ('"b"', False),
        ("a", False),
    ],
)
def test_if_none_match(header: str | None, known: bool) -> None:
    assert is_known('"a"', header) is known
