"""The frontier over HTTP: figures, tasks, hosts, and pages that are brought by hand; and its dead letters."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import redis
from callers import Callers, callers

from feedcrawl.domain.urls import url_uid
from feedcrawl.store.redis.keys import DEAD_LETTERS

A, B = "https://a.example/1", "https://b.example/2"


@pytest.fixture
def local(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Callers]:
    with callers(redis_server, tmp_path) as made:
        yield made


@pytest.fixture
def client(local: Callers) -> httpx.Client:
    return local.client()


def test_pages_are_queued_as_articles_each_by_itself(local: Callers, client: httpx.Client) -> None:
    urls = [A, "http://192.168.1.1/", f"{A}#part", "no url at all", B]
    answer = client.post("/frontier/urls", json={"urls": urls, "category": "c", "priority": 8})
    results = answer.json()["urls"]
    assert answer.status_code == 202
    assert [each["url"] for each in results] == urls
    assert [each["answer"] for each in results] == ["queued", "refused", "queued", "refused", "queued"]
    assert [each.get("code") for each in results][:2] == [None, "address_refused"]
    assert results[0]["uid"] == results[2]["uid"] == url_uid(A)
    task, _ = local.wired.frontier.find(url_uid(A)) or pytest.fail("no task")
    assert (task.kind, task.origin, task.category, task.priority) == ("article", "manual", "c", 8)


def test_a_known_url_is_reported_and_queued_again_on_request(local: Callers, client: httpx.Client) -> None:
    assert client.post("/frontier/urls", json={"urls": [A]}).json()["urls"][0]["answer"] == "queued"
    assert client.post("/frontier/urls", json={"urls": [A]}).json()["urls"][0]["answer"] == "pending"
    assert client.post("/frontier/urls", json={"urls": [A], "priority": 9}).json()["urls"][0]["answer"] == "raised"
    (lease,) = local.wired.frontier.take(9).leases
    assert client.post("/frontier/urls", json={"urls": [A]}).json()["urls"][0]["answer"] == "leased"
    local.wired.frontier.done(lease, status="fetched")
    assert client.post("/frontier/urls", json={"urls": [A]}).json()["urls"][0]["answer"] == "known"
    types = [fields["type"] for _, fields in local.wired.client.xrange("feedcrawl:events")]
    assert types == ["url_known"]
    again = client.post("/frontier/urls", json={"urls": [A], "again": True})
    assert again.json()["urls"][0]["answer"] == "again"


def test_a_file_of_urls(local: Callers, client: httpx.Client) -> None:
    text = f"\ufeff# pages of today\r\n{A}\r\n\r\n  {B} # the second\r\nhttp://[::1]/\r\n"
    answer = client.post("/frontier/urls/file", params={"category": "c"}, content=text.encode())
    assert [(each["url"], each["answer"]) for each in answer.json()["urls"]] == [
        (A, "queued"),
        (B, "queued"),
        ("http://[::1]/", "refused"),
    ]


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [("", 400, "no_urls"), ("# none\n", 400, "no_urls"), ("http://a.example/\n" * 10_001, 422, "too_many_urls")],
)
def test_a_file_has_some_urls(client: httpx.Client, content: str, status: int, code: str) -> None:
    answer = client.post("/frontier/urls/file", content=content)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_figures(client: httpx.Client) -> None:
    client.post("/frontier/urls", json={"urls": [A, B]})
    client.post("/feeds", json={"url": "https://c.example/feed"})
    statistics = client.get("/frontier").json()
    counts = {(each["status"], each["kind"], each["origin"]): each["tasks"] for each in statistics["tasks"]}
    assert counts == {("pending", "article", "manual"): 2, ("pending", "feed", "manual"): 1}
    assert (statistics["leased"], statistics["due"]) == (0, 1)


def test_tasks_are_filtered(local: Callers, client: httpx.Client) -> None:
    client.post("/frontier/urls", json={"urls": [A, B]})
    client.post("/feeds", json={"url": "https://a.example/feed"})
    (lease,) = [each for each in local.wired.frontier.take(9, lanes=["page"]).leases if each.task.url == B]
    local.wired.frontier.done(lease, status="dead", reason="http_404")

    def found(**query: str) -> set[str]:
        return {each["url"] for each in client.get("/frontier/urls", params=query).json()["urls"]}

    assert found() == {A, B, "https://a.example/feed"}
    assert found(host="A.example") == {A, "https://a.example/feed"}
    assert found(kind="feed") == found(text="/feed") == {"https://a.example/feed"}
    assert found(status="dead") == {B}
    assert found(status="fetching") == {A}
    assert client.get("/frontier/urls?status=lost").status_code == 422


def test_all_tasks_come_a_page_at_a_time(client: httpx.Client) -> None:
    urls = [f"https://{number % 9}.example/{number}" for number in range(3000)]
    client.post("/frontier/urls", json={"urls": urls})
    found, cursor, pages = set[str](), None, 0
    while True:
        page = client.get("/frontier/urls", params={"cursor": cursor} if cursor else {}).json()
        found |= {each["url"] for each in page["urls"]}
        pages += 1
        if (cursor := page["next"]) is None:
            break
    assert found == set(urls)
    assert pages > 5


@pytest.mark.parametrize("cursor", ["x", "WzAsIi0xIl0", "WzAsIngiXQ"])
def test_a_foreign_cursor_is_refused(client: httpx.Client, cursor: str) -> None:
    answer = client.get("/frontier/urls", params={"cursor": cursor})
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_cursor")
    assert client.get("/entries", params={"cursor": cursor}).json()["code"] == "bad_cursor"


def test_a_host_shows_the_reason_why_its_tasks_wait(local: Callers, client: httpx.Client) -> None:
    client.post("/frontier/urls", json={"urls": [A]})
    assert local.wired.frontier.take(1).leases
    host = client.get("/frontier/hosts/A.example").json()
    assert (host["name"], host["busy"], host["waits_for"]) == ("a.example", 1, "answer_awaited")
    assert host["because"] == "a response is being read, or the host's probe is under way"


# --- dead letters ---


@pytest.fixture
def letters(redis_client: redis.Redis) -> list[dict[str, object]]:
    now = time.time()
    found: list[dict[str, object]] = [
        {"url": A, "uid": url_uid(A), "kind": "article", "reason": "http_404", "at": now - 90_000},
        {"url": B, "uid": url_uid(B), "kind": "article", "reason": "http_410", "at": now - 60},
    ]
    redis_client.rpush(DEAD_LETTERS, *map(json.dumps, found), "no letter")
    return found


def test_the_newest_dead_letters_come_first(client: httpx.Client, letters: list[dict[str, object]]) -> None:
    page = client.get("/dlq").json()
    assert page == {"letters": [{"item": "no letter"}, *reversed(letters)], "count": 3, "next": None}
    for query, expected in (
        ("reason=http_404", letters[:1]),
        ("host=B.example", letters[1:]),
        ("older_than=1d", letters[:1]),
    ):
        found = client.get(f"/dlq?{query}").json()["letters"]
        assert [each for each in found if "url" in each] == expected
    assert client.get("/dlq?older_than=soon").status_code == 422


def test_dead_letters_come_a_page_at_a_time(client: httpx.Client, redis_client: redis.Redis) -> None:
    redis_client.rpush(DEAD_LETTERS, *(json.dumps({"url": f"http://a.example/{n}", "at": n}) for n in range(120)))
    found: list[int] = []
    cursor = None
    while True:
        page = client.get("/dlq", params={"cursor": cursor} if cursor else {}).json()
        found += [each["at"] for each in page["letters"]]
        if (cursor := page["next"]) is None:
            break
    assert found == list(range(119, -1, -1))


def test_dead_letters_are_replayed_or_dropped(
    local: Callers, client: httpx.Client, letters: list[dict[str, object]]
) -> None:
    assert client.post("/dlq/replay", json={}).json()["code"] == "say_which"
    assert client.post("/dlq/drop", json={"names": []}).json()["code"] == "say_which"
    assert client.post("/dlq/replay", json={"older_than": "x"}).json()["code"] == "bad_age"
    assert client.post("/dlq/replay", json={"names": [A]}).json() == {"replayed": 1, "refused": 0}
    assert local.wired.frontier.find(url_uid(A)) is not None
    assert client.post("/dlq/drop", json={"reason": "http_410", "limit": 1}).json() == {"dropped": 1}
    assert client.post("/dlq/drop", json={"all": True}).json() == {"dropped": 1}
    assert client.get("/dlq").json()["count"] == 0
