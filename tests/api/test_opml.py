"""Long lists: taken at once, gone through between other requests, and followed by whoever sent them."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis
from callers import Callers, callers

from feedcrawl.api.routes.machine import opml
from feedcrawl.services.operations import imports


@pytest.fixture
def local(
    redis_server: str, redis_client: redis.Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callers]:
    monkeypatch.setattr(opml, "AT_ONCE", 20)
    monkeypatch.setattr(imports, "BATCH", 10)
    with callers(redis_server, tmp_path) as made:
        yield made


def lines(count: int, *more: str) -> str:
    return "".join(f"http://{number % 9}.example/{number}\n" for number in range(count)) + "\n".join(more)


def followed(client: httpx.Client, path: str) -> list[dict[str, Any]]:
    """How far an import was, each time it was looked at, until it is over."""
    seen, end = list[dict[str, Any]](), time.monotonic() + 20
    while not seen or seen[-1]["status"] == "running":
        assert time.monotonic() < end
        seen.append(client.get(path).json())
    return seen


def test_a_short_list_is_answered_when_all_its_feeds_are_subscribed(local: Callers) -> None:
    came = local.client().post("/opml", content=lines(19, "http://127.1/"))
    assert came.status_code == 200
    assert (len(came.json()["ids"]), came.json()["refused"][0]["code"]) == (19, "address_refused")


def test_a_long_list_is_a_job_to_follow(local: Callers) -> None:
    client = local.client()
    came = client.post("/opml", content=lines(95, "http://127.1/", "http://0.example/00", "http://10.0.0.1/"))
    assert came.status_code == 202
    assert (came.json()["listed"], came.json()["left_out"]) == (98, 0)
    assert came.headers["location"] == f"/opml/imports/{came.json()['id']}"
    seen = followed(client, came.headers["location"])
    assert [each["done"] for each in seen] == sorted(each["done"] for each in seen)
    last = seen[-1]
    assert (last["status"], last["done"], last["refused_count"]) == ("done", 98, 2)
    assert [each["url"] for each in last["refused"]] == ["http://127.1/", "http://10.0.0.1/"]
    assert local.wired.registry.count() == 96
    assert len(client.get("/opml?format=text").text.splitlines()) == 96


def test_a_repetition_is_the_same_job(local: Callers) -> None:
    client = local.client(Idempotency_Key="list-1")
    first, again = (client.post("/opml", content=lines(95)) for _ in range(2))
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json()["id"] == again.json()["id"]
    followed(client, first.headers["location"])


def test_a_list_has_an_end(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> None:
    with callers(redis_server, tmp_path, MAX_FEEDS_PER_LIST=90) as local:
        came = local.client().post("/opml", content=lines(95)).json()
        assert (len(came["ids"]), came["left_out"]) == (90, 5)


def test_a_document_that_is_no_list_is_refused_at_once(local: Callers) -> None:
    answer = local.client().post("/opml", content=b"<opml></opml>")
    assert (answer.status_code, answer.json()["code"]) == (400, "empty_list")


def test_an_unknown_import_is_not_found(local: Callers) -> None:
    answer = local.client().get("/opml/imports/0b5bca8e-6b5a-4b0e-9f4f-0d1a2b3c4d5e")
    assert (answer.status_code, answer.json()["code"]) == (404, "import_unknown")


def test_each_export_has_the_feeds_of_the_moment_of_its_request(local: Callers) -> None:
    client = local.client()
    for number in range(5):
        client.post("/feeds", json={"url": f"http://a.example/{number}"})
        answer = client.get("/opml?format=text")
        assert len(answer.text.splitlines()) == number + 1
    again = client.get("/opml?format=text", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_large_export_comes_whole_and_is_known_again(local: Callers) -> None:
    local.client().post(
        "/feeds", json={"url": "http://a.example/", "categories": ["x" * 250 + str(n) for n in range(20)]}
    )
    for number in range(19):
        body = {"url": f"http://{number}.example/", "categories": [f"{number}-{n}" + "x" * 240 for n in range(20)]}
        assert local.client().post("/feeds", json=body).status_code == 201
    answer = local.client().get("/opml")
    assert len(answer.content) == int(answer.headers["content-length"]) > 65_536
    assert answer.content.endswith(b"</opml>\n")
    again = local.client().get("/opml", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
