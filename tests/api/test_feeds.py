"""Subscriptions over HTTP: the same that the commands make, and one however it is named."""

import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import redis
from callers import Callers, callers
from fleet import migrated
from jsonschema import Draft202012Validator

from feedcrawl.api import schemas
from feedcrawl.domain.articles.files import WantedFile, state
from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.subscriptions.lists import read_list
from feedcrawl.domain.subscriptions.published import FeedRecord

URL = "https://news.example/feed.xml"
UNKNOWN_ID = "0b5bca8e-6b5a-4b0e-9f4f-0d1a2b3c4d5e"


@pytest.fixture
def local(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Callers]:
    with callers(redis_server, tmp_path, SHARDS=3, API_MAX_FEEDS=400) as made:
        yield made


@pytest.fixture
def client(local: Callers) -> httpx.Client:
    return local.client()


def reason(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def test_a_feed_is_subscribed_and_due_at_once(local: Callers, client: httpx.Client) -> None:
    body = {"url": URL, "categories": ["villages", "a, b"], "title": "News", "priority": 9, "min_interval_sec": 600}
    answer = client.post("/feeds", json=body)
    feed = answer.json()
    assert (answer.status_code, answer.headers["location"]) == (201, f"/feeds/{feed['id']}")
    assert (feed["url"], feed["title"], feed["categories"]) == (URL, "News", ["villages", "a, b"])
    assert feed["schedule"]["min_interval_sec"] == 600
    assert not list(Draft202012Validator(schemas.published(FeedRecord)).iter_errors(feed))
    (lease,) = local.wired.frontier.take(9).leases
    assert (lease.id, lease.task.url, lease.task.priority) == (f"feed:{feed['id']}", URL, 10)
    assert client.get(answer.headers["location"]).json() == feed | {
        "figures": client.get(f"/feeds/{feed['id']}").json()["figures"]
    }


SPELLINGS = ["news.example/feed.xml", "http://NEWS.example:80/feed.xml", "feed://news.example/feed.xml", f"{URL}#top"]
SPELLINGS += ["https://news.example/./feed.xml", "https://news.example:443/feed.xml?utm_source=x", f" {URL}"]


@pytest.mark.parametrize("url", SPELLINGS)
def test_spellings_of_a_url_are_the_same_feed(client: httpx.Client, url: str) -> None:
    first = client.post("/feeds", json={"url": URL, "categories": ["a"]})
    again = client.post("/feeds", json={"url": url, "categories": ["b"]})
    assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])
    assert again.json()["categories"] == ["a", "b"]


def test_spellings_that_are_subscribed_at_once_are_the_same_feed(local: Callers, client: httpx.Client) -> None:
    ids: list[str] = []

    def subscribe() -> None:
        with httpx.Client(base_url=local.url, timeout=60) as own:
            ids.extend(own.post("/feeds", json={"url": url}).json()["id"] for url in (*SPELLINGS, URL))

    threads = [threading.Thread(target=subscribe) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(ids) == 64
    assert len(set(ids)) == local.wired.registry.count() == 1


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://127.0.0.1/feed", "address_refused"),
        ("http://2130706433/", "address_refused"),
        ("http://[::ffff:10.0.0.1]/", "address_refused"),
        ("ftp://news.example/feed", "url_scheme"),
        ("file:///etc/passwd", "url_scheme"),
        ("http://", "url_malformed"),
    ],
)
def test_an_unusable_url_is_refused_and_not_stored(local: Callers, client: httpx.Client, url: str, code: str) -> None:
    answer = client.post("/feeds", json={"url": url})
    assert answer.status_code in (400, 422)
    assert answer.json()["code"] == code or code == "url_malformed"
    assert local.wired.registry.count() == 0


def test_the_number_of_feeds_is_limited(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> None:
    with callers(redis_server, tmp_path, API_MAX_FEEDS=2) as local:
        client = local.client()
        assert client.post("/opml", content="http://a.example/1\nhttp://a.example/2\n").status_code == 200
        assert reason(client.post("/feeds", json={"url": URL})) == (409, "too_many_feeds")
        assert reason(client.post("/opml", content=URL)) == (409, "too_many_feeds")
        assert local.wired.registry.count() == 2


def test_only_the_named_fields_of_a_feed_change(local: Callers, client: httpx.Client) -> None:
    feed = client.post("/feeds", json={"url": URL, "categories": ["a"], "title": "News", "priority": 9}).json()
    path = f"/feeds/{feed['id']}"
    changed = client.patch(path, json={"fixed_interval_sec": 3600, "push_only": True}).json()
    assert (changed["schedule"]["fixed_interval_sec"], changed["schedule"]["push_only"]) == (3600, True)
    assert (changed["title"], changed["categories"]) == ("News", ["a"])
    changed = client.patch(path, json={"fixed_interval_sec": None, "title": None, "priority": None}).json()
    assert (changed["schedule"]["fixed_interval_sec"], changed["title"]) == (None, None)
    assert local.wired.registry.load([feed["id"]])[feed["id"]].subscription.priority == 5
    assert client.patch(path, json={"categories": []}).json()["categories"] == []
    assert client.patch(path, json={}).status_code == 200


def test_settings_of_a_feed(local: Callers, client: httpx.Client) -> None:
    fields = {"paused": True, "entries_only": True, "user_agent": "Reader/1.0", "keep_rules": "title=a\nurl=b"}
    feed = client.post("/feeds", json={"url": URL, **fields}).json()
    assert {name: feed[name] for name in fields} == fields
    assert (feed["drop_rules"], feed["private"], feed["schedule"]["reason"]) == ("", [], "paused")
    path = f"/feeds/{feed['id']}"
    why = client.get(f"{path}/why").json()
    assert (why["next_at"], why["reason"], why["because"]) == (
        None,
        "paused",
        "it is paused: not polled until it is resumed",
    )
    assert reason(client.post(f"{path}/refetch")) == (409, "paused")
    changed = client.patch(path, json=dict.fromkeys(fields)).json()
    assert client.post(f"{path}/refetch").status_code == 202
    assert [changed[name] for name in fields] == [False, False, None, ""]
    for body in ({"keep_rules": "title"}, {"drop_rules": "title=("}, {"user_agent": "a\nb"}, {"user_agent": ""}):
        assert client.patch(path, json=body).status_code == 422


def test_no_response_shows_the_headers_of_a_private_feed(local: Callers, client: httpx.Client) -> None:
    headers = {"X-Token": "t0p5ecret", "Cookie": "a=t0p5ecret"}
    url = URL.replace("://", "://ann:t0p5ecret@")
    added = client.post("/feeds", json={"url": url, "headers": headers}, headers={"Idempotency-Key": "one"})
    feed = added.json()
    assert (added.status_code, feed["url"]) == (201, URL)
    assert sorted(feed["private"]) == ["authorization", "cookie", "x-token"]
    path = f"/feeds/{feed['id']}"
    bad = client.patch(path, json={"headers": {"X-Token": "t0p5ecret\nX: y"}})
    assert reason(bad) == (400, "bad_header")
    wrong = client.patch(path, json={"headers": {"X-Token": ["t0p5ecret"]}})
    shown = [added, bad, wrong, client.get(path), client.get("/feeds"), client.get("/opml"), client.get(f"{path}/why")]
    assert [each.request.url for each in shown if "t0p5ecret" in each.text] == []
    (stored,) = local.wired.registry.accesses(local.wired.registry.all()).values()
    assert dict(stored.headers)["X-Token"] == "t0p5ecret"
    assert client.patch(path, json={"headers": {"Cookie": "b=1"}}).json()["private"] == ["cookie"]
    assert client.patch(path, json={"headers": None}).json()["private"] == []
    assert local.wired.registry.accesses(local.wired.registry.all()) == {}


def test_a_feed_moves(client: httpx.Client) -> None:
    feed, other = (client.post("/feeds", json={"url": url}).json() for url in (URL, "https://other.example/feed"))
    path = f"/feeds/{feed['id']}"
    assert reason(client.patch(path, json={"url": other["url"]})) == (409, "subscribed_already")
    assert reason(client.patch(path, json={"url": "http://10.0.0.1/"})) == (422, "address_refused")
    moved = client.patch(path, json={"url": "https://new.example/feed", "title": "Moved"}).json()
    assert (moved["url"], moved["formerly"], moved["title"]) == ("https://new.example/feed", [URL], "Moved")
    assert client.post("/feeds", json={"url": URL}).json()["id"] == feed["id"]


def test_a_requested_poll_makes_the_feed_due(local: Callers, client: httpx.Client) -> None:
    feed = client.post("/feeds", json={"url": URL}).json()
    (lease,) = local.wired.frontier.take(9).leases
    polls = local.wired.registry.load([feed["id"]])[feed["id"]].polls
    moved = local.wired.registry.commit(
        feed["id"], polls.__class__(last_fetch_at="2026-11-28T00:00:00Z"), {"poll_id": "1"}
    )
    local.wired.frontier.done(lease, status="pending", reason="fetched", delay_sec=9000, commit=moved)
    assert not local.wired.frontier.take(9).leases
    before = rfc3339(local.wired.now())
    taken = client.post(f"/feeds/{feed['id']}/refetch")
    assert (taken.status_code, taken.json()["id"]) == (202, feed["id"])
    assert before <= taken.json()["next_at"] <= rfc3339(local.wired.now())
    found = local.wired.frontier.find(f"feed:{feed['id']}")
    assert found is not None
    assert found[1].again == "operator"


def test_a_migration_is_undone(local: Callers, client: httpx.Client) -> None:
    feed = client.post("/feeds", json={"url": URL}).json()
    path = f"/feeds/{feed['id']}/undo-migration"
    assert reason(client.post(path)) == (409, "never_migrated")
    migrated(local.wired, feed["id"])
    answer = client.post(path)
    assert (answer.status_code, answer.json()["id"]) == (202, feed["id"])
    assert local.wired.entries.load(feed["id"], ["id:new"]) == ({}, {})
    assert client.get(f"/feeds/{feed['id']}/fetches").json()["fetches"][0]["result"] == "migration_undone"
    assert reason(client.post(path)) == (409, "never_migrated")


def test_a_feed_is_forgotten(local: Callers, client: httpx.Client) -> None:
    feed = client.post("/feeds", json={"url": URL}).json()
    assert client.delete(f"/feeds/{feed['id']}").status_code == 204
    for method, path in (
        ("GET", ""),
        ("DELETE", ""),
        ("PATCH", ""),
        ("POST", "/refetch"),
        ("POST", "/undo-migration"),
        ("GET", "/why"),
    ):
        answer = client.request(method, f"/feeds/{feed['id']}{path}", json={} if method == "PATCH" else None)
        assert reason(answer) == (404, "not_subscribed")
    for path in ("/entries", "/fetches"):
        assert reason(client.get(f"/feeds/{UNKNOWN_ID}{path}")) == (404, "not_subscribed")
    assert local.wired.frontier.find(f"feed:{feed['id']}") is None


@pytest.mark.parametrize("name", ["x", "..%2f..%2fetc", "feed:1", "*", f"{UNKNOWN_ID}%00"])
def test_an_id_is_a_uuid(client: httpx.Client, name: str) -> None:
    assert client.get(f"/feeds/{name}").status_code in (404, 422)
    assert client.get(f"/raw/{name}").status_code in (404, 422)


# --- lists ---


def walked(client: httpx.Client, **query: object) -> list[str]:
    found: list[str] = []
    cursor: str | None = None
    while True:
        page = client.get("/feeds", params={**query, **({"cursor": cursor} if cursor else {})}).json()
        assert len(page["feeds"]) <= int(str(query.get("limit", 50)))
        found += [feed["url"] for feed in page["feeds"]]
        cursor = page["next"]
        if cursor is None:
            return found


@pytest.mark.parametrize("limit", [1, 7, 50, 200])
def test_all_feeds_come_a_page_at_a_time(client: httpx.Client, limit: int) -> None:
    urls = [f"http://{number % 5}.example/{number}" for number in range(330)]
    assert client.post("/opml", content="\n".join(urls)).status_code == 200
    found = walked(client, limit=limit)
    assert sorted(set(found)) == sorted(urls)
    assert len(found) < 1.2 * len(urls)  # few come twice


def test_feeds_are_filtered(local: Callers, client: httpx.Client) -> None:
    for url, category in (("http://a.example/1", "x"), ("http://a.example/2", "y"), ("http://b.example/1", "y")):
        client.post("/feeds", json={"url": url, "categories": [category]})
    assert sorted(walked(client, category="y")) == ["http://a.example/2", "http://b.example/1"]
    assert sorted(walked(client, host="A.example")) == ["http://a.example/1", "http://a.example/2"]
    assert walked(client, category="y", host="b.example") == ["http://b.example/1"]
    assert walked(client, failing=True) == walked(client, source="none") == []
    assert len(walked(client, failing=False)) == 3


@pytest.mark.parametrize("query", ["cursor=x", "cursor=WzAsIngiXQ", "cursor=Wzk5LCIwOiJd", "cursor=" + "A" * 200])
def test_a_foreign_cursor_is_refused(client: httpx.Client, query: str) -> None:
    assert reason(client.get(f"/feeds?{query}")) == (400, "bad_cursor")


@pytest.mark.parametrize("limit", ["0", "-1", "1e9", "1000000000", "x", ""])
def test_a_limit_is_a_small_number(client: httpx.Client, limit: str) -> None:
    assert reason(client.get(f"/feeds?limit={limit}")) == (422, "invalid_input")


@pytest.mark.parametrize(
    ("form", "kind"), [("opml", "text/x-opml"), ("text", "text/plain"), ("json", "application/json")]
)
def test_subscriptions_go_out_and_come_back_in(client: httpx.Client, form: str, kind: str) -> None:
    urls = {"http://a.example/1", "http://b.example/2"}
    for url in urls:
        client.post("/feeds", json={"url": url, "categories": ["x"]})
    out = client.get("/opml", params={"format": form})
    assert out.headers["content-type"].startswith(kind)
    assert {feed.url for feed in read_list(out.content).feeds} == urls
    for feed in client.get("/feeds").json()["feeds"]:
        client.delete(f"/feeds/{feed['id']}")
    came = client.post("/opml", content=out.content, params={"category": "import"}).json()
    assert (len(came["ids"]), came["refused"], came["left_out"]) == (2, [], 0)
    feeds = client.get("/feeds").json()["feeds"]
    assert {tuple(feed["categories"]) for feed in feeds} == {("import", "x")}


def test_a_list_of_a_caller_sets_no_overrides(local: Callers, client: httpx.Client) -> None:
    listed = """<opml xmlns:f="https://feedcrawl.readthedocs.io/opml"><body>
      <outline xmlUrl="http://a.example/1" f:fixedIntervalSec="1" f:priority="10"/>
      <outline xmlUrl="http://169.254.169.254/latest"/><outline xmlUrl="javascript:alert(1)"/></body></opml>"""
    came = client.post("/opml", content=listed).json()
    (feed_id,) = came["ids"]
    subscription = local.wired.registry.load([feed_id])[feed_id].subscription
    assert (subscription.fixed_interval_sec, subscription.priority) == (None, 5)
    assert [each["code"] for each in came["refused"]] == ["address_refused", "url_malformed"]


HOSTILE = {
    "entity": b'<!DOCTYPE opml [<!ENTITY x SYSTEM "file:///etc/passwd">]><opml><body>&x;</body></opml>',
    "laughs": b'<!DOCTYPE o [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><opml><body>' + b"&b;" * 999,
    "deep": b"<opml><body>" + b"<outline>" * 60_000,
    "page": b"<html><body><p>no list</html>",
    "nothing": b"",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_document_that_is_no_list_is_refused(client: httpx.Client, name: str) -> None:
    answer = client.post("/opml", content=HOSTILE[name])
    assert answer.status_code == 400
    assert answer.json()["code"] in ("not_a_list", "empty_list")
    assert "root:" not in answer.text


def test_entries_show_the_states_of_their_files(local: Callers, client: httpx.Client) -> None:
    url, feed_id = "http://files.example/a.mp3", client.post("/feeds", json={"url": URL}).json()["id"]
    link = {"url": url, "role": "enclosure", **state("pending")}
    at = local.wired.now()
    line = {"type": "entry", "feed_id": feed_id, "entry_uid": "e1", "last_seen": rfc3339(at), "files": [link]}
    local.wired.entry_lines.append(at.date(), line)
    local.wired.files.end(WantedFile(url, "enclosure").task(), state("failed", reason="http_404"), at)
    pages = [client.get(path).json()["entries"] for path in ("/entries", f"/feeds/{feed_id}/entries")]
    for record in (*pages, [client.get("/entries/e1").json()]):
        assert record[0]["files"] == [{**link, **state("failed", reason="http_404")}]
