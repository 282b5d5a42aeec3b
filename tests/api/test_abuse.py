"""What hostile callers send, each with what must come of it; by the numbers of the list of abuses."""

import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import redis
from api import free_port, serving
from documents import paragraphs
from growth import assert_linear
from stories import Reader, wired_to

from feedcrawl.api.limits import bodies
from feedcrawl.domain.articles.media import media_id
from feedcrawl.domain.urls import url_uid
from feedcrawl.services.operations import tokens
from feedcrawl.wiring import Wiring

A = "http://a.paper.test/1"
HTML = "<script>alert(1)</script>"
PROBLEM = "application/problem+json"


@pytest.fixture
def wired(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Wiring]:
    """An API for others, which asks for tokens, and lets few requests through that write."""
    own = {"FEEDCRAWL_API_HOST": "0.0.0.0", "FEEDCRAWL_API_WRITE_RATE": "0"}
    with wired_to(redis_server, tmp_path, **own) as made:
        yield made


@pytest.fixture
def url(wired: Wiring) -> Iterator[str]:
    with serving(wired, free_port()) as served:
        yield served


def caller(wired: Wiring, url: str, actor: str = "ada", scope: str = "write") -> httpx.Client:
    token, _ = tokens.create(wired.tokens, actor, scope, wired.now())
    return httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=60)


def code(answer: httpx.Response) -> str:
    assert answer.headers["content-type"] == PROBLEM
    return str(answer.json()["code"])


ROUTES = [
    ("GET", "/articles"),
    ("GET", "/articles/" + "0" * 16),
    ("POST", "/media/from_url"),
    ("GET", f"/media/{media_id('x')}"),
    ("POST", f"/media/{media_id('x')}/retry"),
    ("GET", "/collections"),
    ("POST", "/collections"),
    ("GET", "/collections/default"),
    ("GET", "/collections/default.atom"),
    ("GET", "/collections/default.json"),
    ("DELETE", "/collections/default"),
    ("PUT", "/collections/default/articles/" + "0" * 16),
    ("DELETE", "/collections/default/articles/" + "0" * 16),
    ("GET", "/events"),
]


@pytest.mark.parametrize("shown", [None, "", "Bearer", "Bearer x", "Bearer " + "a" * 60, "Basic YTpi", "bearer \x7f"])
def test_b1_a_request_without_a_known_token_gets_401(wired: Wiring, url: str, shown: str | None) -> None:
    headers = {} if shown is None else {"Authorization": shown}
    for method, path in ROUTES:
        answer = httpx.request(method, url + path, headers=headers, timeout=60)
        assert (answer.status_code, answer.headers.get("www-authenticate")) == (401, "Bearer"), (method, path)
        assert code(answer) in ("token_missing", "token_unknown")


def test_b1_a_lesser_scope_is_not_enough(wired: Wiring, url: str) -> None:
    with caller(wired, url, scope="read") as client:
        for method, path in ROUTES:
            answer = client.request(method, path, json={"url": A, "name": "x"} if method == "POST" else None)
            assert (answer.status_code == 403) == (method != "GET"), (method, path)
    assert wired.frontier.counts().get("pending:article", 0) == 0


def test_b2_records_of_another_actor_are_not_found(wired: Wiring, url: str) -> None:
    with caller(wired, url) as ada, caller(wired, url, "bob") as bob:
        ada.post("/collections", json={"name": "own"})
        ada.post("/media/from_url", json={"url": A, "collection": "own"})
        missing = bob.get("/collections/none")
        for method, path in (
            ("GET", "/collections/own"),
            ("GET", "/collections/own.atom"),
            ("GET", "/collections/own.json"),
            ("DELETE", "/collections/own"),
            ("DELETE", f"/collections/own/articles/{url_uid(A)}"),
            ("GET", "/collections/ada%2Fown"),
            ("GET", "/collections/ada/own"),
        ):
            answer = bob.request(method, path)
            assert answer.status_code in (404, 422), path
        assert code(missing) == code(bob.get("/collections/own")) == "collection_unknown"
        assert [each["name"] for each in bob.get("/collections").json()["collections"]] == ["default"]
        assert bob.get("/collections/default").json()["held"] == []
        assert len(ada.get("/collections/own").json()["held"]) == 1


def test_b3_floods_are_put_off(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> None:
    with (
        wired_to(redis_server, tmp_path, FEEDCRAWL_API_WRITE_RATE="30") as wired,
        serving(wired, free_port()) as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        answers = [client.post("/media/from_url", json={"url": f"{A}{n}"}) for n in range(80)]
    statuses = [each.status_code for each in answers]
    assert set(statuses) == {202, 429}
    late = answers[statuses.index(429)]
    assert code(late) == "too_many_requests"
    assert int(late.headers["retry-after"]) >= 1


def test_b5_a_url_submitted_many_times_at_once_is_a_single_record(wired: Wiring, url: str) -> None:
    spellings = [f"HTTP://A.paper.TEST:80/./1?utm_source={n}#{n}" for n in range(50)] * 4
    with caller(wired, url) as client, ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(lambda each: client.post("/media/from_url", json={"url": each}), spellings))
    assert {each.status_code for each in answers} == {202}
    assert {each.json()["data"]["media_id"] for each in answers} == {media_id(url_uid(A))}
    assert wired.frontier.counts()["pending:article"] == 1


def test_b6_a_repeated_key_returns_the_first_response(wired: Wiring, url: str) -> None:
    with caller(wired, url) as client:
        key = {"Idempotency-Key": "one"}
        first, second = (client.post("/collections", json={"name": "x"}, headers=key) for _ in range(2))
        assert (first.status_code, second.status_code, first.content) == (201, 201, second.content)
        assert second.headers["location"] == "/collections/x"
        other = client.post("/collections", json={"name": "y"}, headers=key)
        assert (other.status_code, code(other)) == (422, "idempotency_mismatch")


BODIES: list[tuple[Any, dict[str, str], int]] = [
    (b"[" * 200_000, {}, 400),
    (b'{"url":' * 100_000, {}, 400),
    (b'{"url":"http://a.test/","url":"http://b.test/"}', {}, 400),
    (b'{"url":NaN}', {}, 400),
    (b'{"url":' + b"9" * 100_000 + b"}", {}, 400),
    (b'{"url":1e999}', {}, 422),
    (b'{"url":"\\ud800"}', {}, 400),
    (b'\xff\xfe{"url":"http://a.test/"}', {}, 400),
    (b"\x1f\x8b" + b"0" * 100, {"Content-Encoding": "gzip"}, 415),
    (b"url=http://a.test/", {"Content-Type": "application/x-www-form-urlencoded"}, 422),
    (b'{"url":"http://a.test/","headers":{"Host":"x"}}', {}, 422),  # B10
    (b'{"url":"http://a.test/","proxy":"http://x"}', {}, 422),  # B11
    (b'{"url":"http://a.test/","callback":"http://127.0.0.1/"}', {}, 422),  # B16
    (b'{"url":"' + b"a" * (2 << 20) + b'"}', {}, 413),
]


@pytest.mark.parametrize(("body", "headers", "status"), BODIES, ids=range(len(BODIES)))
def test_b7_bodies(wired: Wiring, url: str, body: bytes, headers: dict[str, str], status: int) -> None:
    with caller(wired, url) as client:
        sent = {"Content-Type": "application/json"} | headers
        answer = client.post("/media/from_url", content=body, headers=sent)
        assert answer.status_code == status, answer.text[:200]
        code(answer)
    assert wired.frontier.counts().get("pending:article", 0) == 0


@pytest.mark.parametrize("body", [b"[", b'{"url":', b"9", b'{"url":"', b'{"a":0,"a":0},'])
def test_b7_bodies_are_refused_in_linear_time(wired: Wiring, url: str, body: bytes) -> None:
    with caller(wired, url) as client:

        def refused(times: int) -> None:
            sent = {"Content-Type": "application/json"}
            assert client.post("/media/from_url", content=body * times, headers=sent).status_code == 400

        assert_linear(refused, 8_000)


def chunked(url: str, token: str, pieces: Iterator[bytes]) -> bytes:
    """The beginning of the answer to a body that comes in chunks, without a length."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port or 80), timeout=60) as connection:
        head = f"POST /media/from_url HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\n"
        head += "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head.encode())
        try:
            for piece in pieces:
                connection.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
        except OSError:
            pass  # it has heard enough
        return connection.recv(4096)


def test_b7_a_body_with_a_too_large_content_length_is_not_read(wired: Wiring, url: str) -> None:
    with caller(wired, url) as client:
        token = client.headers["authorization"]
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port or 80), timeout=60) as connection:
        head = (
            f"POST /media/from_url HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\nContent-Type: application/json\r\n"
        )
        connection.sendall(f"{head}Content-Length: 100000000\r\n\r\n".encode())
        assert b" 413 " in connection.recv(4096).partition(b"\r\n")[0]


def test_b7_a_body_without_a_length_ends_at_the_limit(wired: Wiring, url: str) -> None:
    with caller(wired, url) as client:
        token = client.headers["authorization"]
    assert b" 413 " in chunked(url, token, (b" " * 65_536 for _ in range(1600))).partition(b"\r\n")[0]


def test_b23_a_body_that_drips_is_not_waited_for(wired: Wiring, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "BODY_SEC", 0.3)
    with caller(wired, url) as client:
        token, began = client.headers["authorization"], time.monotonic()

        def drip() -> Iterator[bytes]:
            for _ in range(10):
                yield b" "
                time.sleep(0.1)

        assert b" 408 " in chunked(url, token, drip()).partition(b"\r\n")[0]
        assert time.monotonic() - began < 5
        assert client.get("/collections").status_code == 200


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/articles?limit=1000000000", 422),
        ("/articles?limit=-1", 422),
        ("/articles?cursor=..%2F", 400),
        ("/articles?cursor=WzEsImEiXQ%00", 400),
        ("/collections/default?cursor=AAAA", 400),
        ("/articles?category=" + "a" * 5000, 414),
        ("/articles/..%2f..%2f..%2fetc%2fpasswd", 404),  # B13
        ("/articles/%2e%2e%2f", 404),
        ("/articles/0000000000000000%00", 422),
        ("/media/..%2f..%2fx", 404),
        ("/collections/..%2f..%2fx", 404),
        ("/collections/%2a", 422),
    ],
)
def test_b12_b13_unknown_places_are_not_found(wired: Wiring, url: str, path: str, status: int) -> None:
    with caller(wired, url) as client:
        answer = client.get(path)
    assert answer.status_code == status
    code(answer)


def test_b14_b15_a_refused_address_does_not_show_whether_its_port_is_open(wired: Wiring, url: str) -> None:
    """An open port, a closed one and an address that is nobody's are refused alike, and at once."""
    open_port = urlsplit(url).port
    with caller(wired, url) as client:
        targets = (f"127.0.0.1:{open_port}", "127.0.0.1:1025", "10.255.255.1", "169.254.169.254", "[::1]")
        answered = [client.post("/media/from_url", json={"url": f"http://{each}/secret"}) for each in targets]
    assert {each.status_code for each in answered} == {422}
    assert len({each.content for each in answered}) == 1
    assert max(each.elapsed.total_seconds() for each in answered) < 8  # a dial would wait for 10 s at least


def test_b15_a_failure_repeats_no_text_of_the_page(wired: Wiring, url: str) -> None:
    reader = Reader(wired)
    reader.now = wired.now()
    reader.fail(A)
    with caller(wired, url) as client:
        record = client.get(f"/media/{media_id(url_uid(A))}").json()["data"]
        assert (record["fragments"], record["last_error_message"]) == ([], "FAIL_HTTP http_404: no page")
        assert code(client.get(f"/articles/{url_uid(A)}")) == "article_failed"


@pytest.mark.parametrize(
    "path", ["//evil.example/", "/\\evil.example", "//evil.example/%2f..", "/articles/", "/media/"]
)
def test_b17_no_redirect_leads_to_another_host(wired: Wiring, url: str, path: str) -> None:
    with caller(wired, url) as client:
        answer = client.get(httpx.URL(url).copy_with(raw_path=path.encode()))
    where = answer.headers.get("location", "")
    assert urlsplit(where).netloc in ("", urlsplit(url).netloc)
    assert "evil" not in urlsplit(where).netloc


def test_b18_no_other_origin_may_read(wired: Wiring, url: str) -> None:
    preflight = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    with caller(wired, url) as client:
        for method in ("GET", "OPTIONS"):
            answer = client.request(method, "/articles", headers=preflight)
            assert not [name for name in answer.headers if name.startswith("access-control-")]


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}]
)
def test_b19_other_sites_change_nothing(
    redis_server: str, redis_client: redis.Redis, tmp_path: Path, headers: dict[str, str]
) -> None:
    """Not even where a machine's own callers need no token, and whatever type a form may send."""
    with wired_to(redis_server, tmp_path) as wired, serving(wired, free_port()) as url:
        for kind in ("application/json", "text/plain"):
            sent = headers | {"Content-Type": kind}
            answer = httpx.post(f"{url}/media/from_url", content=json.dumps({"url": A}), headers=sent, timeout=60)
            assert (answer.status_code, code(answer)) == (403, "cross_site")
        assert wired.frontier.counts().get("pending:article", 0) == 0


def test_b20_errors_are_problems_and_no_pages(wired: Wiring, url: str) -> None:
    reader = Reader(wired)
    reader.now = wired.now()
    reader.read(A, "\n".join(paragraphs("a", count=5)), title=HTML)
    with caller(wired, url) as client:
        answers = [
            client.get(f"/articles/{HTML}"),
            client.get("/articles", params={"cursor": HTML}),
            client.post("/collections", json={"name": HTML}),
            client.post("/media/from_url", json={"url": HTML}),
            client.get(f"/articles/{url_uid(A)}"),
            client.get(f"/collections/{HTML}.atom"),
        ]
    for answer in answers:
        assert answer.headers["content-type"].partition(";")[0] in (PROBLEM, "application/json")
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_b21_open_pages_show_no_secret(wired: Wiring, url: str) -> None:
    with caller(wired, url) as client:
        token = client.headers["authorization"].split()[1]
        client.post("/media/from_url", json={"url": f"{A}?token=secret"})
        for path in ("/healthz", "/readyz", "/openapi.json", "/docs"):
            body = httpx.get(url + path, timeout=60).text
            assert token not in body
            assert "secret" not in body
        listed = client.get("/collections").text
    assert token not in listed


@pytest.mark.parametrize("host", ["evil.example", 'x"><script>', "a.test/../", "127.0.0.1@evil.example"])
def test_b24_a_foreign_host_header_is_refused(
    redis_server: str, redis_client: redis.Redis, tmp_path: Path, host: str
) -> None:
    """A name of the web that leads to this machine (DNS rebinding) is no caller of this machine."""
    with wired_to(redis_server, tmp_path) as wired, serving(wired, free_port()) as url:
        answer = httpx.get(f"{url}/collections/default.atom", headers={"Host": host}, timeout=60)
        assert answer.status_code in (400, 401)
        token, _ = tokens.create(wired.tokens, "ada", "read", wired.now())
        headers = {"Host": host, "Authorization": f"Bearer {token}"}
        answer = httpx.get(f"{url}/collections/default.atom", headers=headers, timeout=60)
        assert b"<script>" not in answer.content
        assert '"><' not in answer.headers.get("link", "")
