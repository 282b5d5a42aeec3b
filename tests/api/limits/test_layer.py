"""How much one caller may ask for; what is too much is refused before anybody works on it."""

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import redis
from callers import Callers, callers

from feedcrawl.api.limits import bodies, rates
from feedcrawl.api.problems import RetryLater

JSON = {"Content-Type": "application/json"}


@pytest.fixture
def public(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Callers]:
    with callers(redis_server, tmp_path, API_HOST="0.0.0.0", API_MAX_BODY_BYTES=100_000) as made:
        yield made


def code(answer: httpx.Response) -> tuple[int, str]:
    assert answer.headers["content-type"] == "application/problem+json"
    return answer.status_code, answer.json()["code"]


def sent(public: Callers, head: str, pieces: list[bytes] | None = None) -> tuple[bytes, int]:
    """What the server answers, and how many pieces it took before it hung up."""
    to = urlsplit(public.url)
    with socket.create_connection((to.hostname, to.port), timeout=60) as connection:
        connection.sendall(head.replace("\n", "\r\n").encode() + b"\r\n\r\n")
        taken = 0
        try:
            for piece in pieces or []:
                connection.sendall(piece)
                taken += 1
                time.sleep(0.002)
        except OSError:
            pass
        answer = b""
        try:
            while more := connection.recv(65_536):
                answer += more
        except OSError:
            pass
        return answer, taken


def test_a_body_with_a_too_large_content_length_is_not_read(public: Callers) -> None:
    head = (
        f"POST /feeds HTTP/1.1\nHost: a\nAuthorization: Bearer {public.token('write')}\nContent-Type: application/json"
    )
    answer, _ = sent(public, f"{head}\nContent-Length: 100000001")
    assert b" 413 " in answer
    assert b'"code":"too_large"' in answer


def test_a_body_in_pieces_is_not_read_past_the_limit(public: Callers) -> None:
    head = (
        f"POST /feeds HTTP/1.1\nHost: a\nAuthorization: Bearer {public.token('write')}\nContent-Type: application/json"
    )
    piece = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
    answer, taken = sent(public, f"{head}\nTransfer-Encoding: chunked", [piece] * 3000)  # 100 MB
    assert b" 413 " in answer or not answer  # a connection that is still sending may be reset
    assert taken < 300


def test_a_strangers_body_is_not_read(public: Callers) -> None:
    head = "POST /opml HTTP/1.1\nHost: a\nContent-Length: 70000"
    answer, _ = sent(public, head)  # without a byte of the body
    assert b" 401 " in answer
    assert b"connection: close" in answer.lower()
    login, _ = sent(public, "POST /login HTTP/1.1\nHost: a\nContent-Length: 70000")
    assert b" 413 " in login


def test_a_scope_is_checked_before_the_body_and_a_list_after_it(public: Callers) -> None:
    body = b"#" * 70_000
    assert code(public.having("read").post("/opml", content=body)) == (403, "scope_missing")
    assert code(public.having("write").post("/opml", content=body)) == (400, "empty_list")


def test_json_has_a_lower_limit_than_a_file(public: Callers) -> None:
    client, body = public.having("write"), json.dumps({"urls": ["https://a.example/"] * 10_000}).encode()
    assert code(client.post("/frontier/urls", content=body, headers=JSON)) == (413, "too_large")
    lines = b"https://a.example/\n" * 10_000
    assert client.post("/frontier/urls/file", content=lines).status_code == 202


BODIES: list[tuple[bytes, int, str]] = [
    (b"[" * 90_000, 400, "bad_json"),
    (b"{", 400, "bad_json"),
    (b"\xff\xfe\xfd", 400, "bad_json"),
    (b'{"url": NaN}', 400, "bad_json"),
    (b'{"url": "https://a.example/", "priority": -Infinity}', 400, "bad_json"),
    (b'{"url": "https://a.example/", "url": "https://b.example/"}', 400, "bad_json"),
    (b'{"url": "https://a.example/\\ud800"}', 400, "bad_json"),
    (b'{"url": "https://a.example/", "priority": ' + b"9" * 90_000 + b"}", 400, "bad_json"),
    (b'{"url": "https://a.example/", "priority": 1e999}', 422, "invalid_input"),
    (b'{"url": "https://a.example/", "fixed_interval_sec": 1e999}', 422, "invalid_input"),
    (b'{"url": "https://a.example/", "fixed_interval_sec": 0}', 422, "invalid_input"),
    (b'{"url": "https://a.example/", "min_interval_sec": -1}', 422, "invalid_input"),
    (b'{"url": "https://a.example/", "max_interval_sec": 1e18}', 422, "invalid_input"),
    (b'{"url": "https://a.example/", "priority": "7"}', 422, "invalid_input"),
    (b'{"url": "https://a.example/", "proxy": "http://10.0.0.1"}', 422, "invalid_input"),
    (b'{"url": ["https://a.example/"]}', 422, "invalid_input"),
    (b"[]", 422, "invalid_input"),
    (b"null", 422, "invalid_input"),
    (b"", 422, "invalid_input"),
]


@pytest.mark.parametrize("kind", ["Application/JSON", "application/JSON; charset=utf-8", "text/Json"])
def test_a_json_body_is_parsed_whatever_the_spelling_of_its_type(public: Callers, kind: str) -> None:
    body = b'{"url": "https://a.example/", "url": "https://b.example/"}'
    answer = public.having("write").post("/feeds", content=body, headers={"Content-Type": kind})
    assert code(answer) == (400, "bad_json")


@pytest.mark.parametrize(("body", "status", "reason"), BODIES)
def test_a_body_that_cannot_be_valid_is_refused_fast(public: Callers, body: bytes, status: int, reason: str) -> None:
    client = public.having("write")
    client.get("/feeds")
    began = time.thread_time()
    answer = client.post("/feeds", content=body, headers=JSON)
    assert time.thread_time() - began < 1
    assert code(answer) == (status, reason)
    assert public.wired.registry.count() == 0


def test_a_problem_repeats_nothing_of_the_body(public: Callers) -> None:
    mark = "<script>alert(1)</script>"
    answer = public.having("write").post("/feeds", json={"url": "https://a.example/", "priority": mark})
    assert mark not in answer.text
    assert answer.json()["errors"][0]["where"] == "body.priority"


def test_an_encoded_body_is_not_decoded(public: Callers) -> None:
    answer = public.having("write").post("/feeds", content=b"\x1f\x8b", headers=JSON | {"Content-Encoding": "gzip"})
    assert code(answer) == (415, "bad_encoding")


@pytest.mark.parametrize("value", ["x", "-1", "1_0", "0x10"])
def test_a_content_length_must_be_a_number(public: Callers, value: str) -> None:
    answer, _ = sent(public, f"POST /feeds HTTP/1.1\nHost: a\nContent-Length: {value}")
    assert answer.startswith((b"HTTP/1.1 400", b"HTTP/1.1 413"))


def test_a_body_that_drips_is_let_go(public: Callers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "BODY_SEC", 0.2)
    head = f"POST /feeds HTTP/1.1\nHost: a\nAuthorization: Bearer {public.token('write')}\nContent-Length: 50"
    answer, _ = sent(public, head, [b"{"])
    assert b" 408 " in answer
    assert b'"code":"too_slow"' in answer


def test_a_query_has_a_largest_length(public: Callers) -> None:
    assert code(public.having("read").get("/feeds?category=" + "x" * 5000)) == (414, "query_too_long")


def flood(client: httpx.Client, count: int, method: str = "GET", **details: Any) -> list[httpx.Response]:
    return [client.request(method, "/feeds", **details) for _ in range(count)]


def test_a_refusal_for_the_rate_has_a_retry_after(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> None:
    with callers(redis_server, tmp_path, API_HOST="0.0.0.0", API_RATE=60) as public:
        answers = flood(public.having("read"), 30)
        assert answers[0].status_code == 200
        assert code(answers[-1]) == (429, "too_many_requests")
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
        assert len([each for each in answers if each.status_code == 200]) < 15
        assert public.client().get("/healthz").status_code == 200  # a supervisor is not meant


def test_writing_has_a_rate_of_its_own(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> None:
    with callers(redis_server, tmp_path, API_WRITE_RATE=60) as local:
        client = local.client()
        answers = flood(client, 20, "POST", json={"url": "https://a.example/feed"})
        assert {answer.status_code for answer in answers} == {201, 200, 429}
        assert {answer.status_code for answer in flood(client, 20)} == {200}
        assert local.wired.registry.count() == 1


def test_rates_are_each_callers_own_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "CALLERS", 10)
    counted = rates.Rates(60, 6)
    for _ in range(10):
        counted.count("a", "GET")
    with pytest.raises(RetryLater) as refused:
        counted.count("a", "GET")
    assert 0 < refused.value.retry_after_sec <= 1
    counted.count("b", "POST")
    with pytest.raises(RetryLater):
        counted.count("b", "POST")
    counted.count("b", "GET")
    for number in range(50):
        counted.count(str(number), "GET")
    assert len(counted._tats) == 10
    rates.Rates(0, 0).count("a", "POST")
