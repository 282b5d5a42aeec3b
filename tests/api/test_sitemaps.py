"""Watched sitemaps over HTTP: listed, explained, polled at once and dropped, by programs and by people."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
import redis
from callers import Callers, callers

from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.sitemaps.state import Sitemap, SitemapRecord
from feedcrawl.services.subscriptions.finding import url_key

INDEX = Sitemap("00000000-0000-4000-8000-000000000001", "https://news.example/sitemap.xml", ("world",), "news", 7)
PART = replace(
    INDEX,
    id="00000000-0000-4000-8000-000000000002",
    url="https://news.example/part.xml",
    root=INDEX.id,
    root_url=INDEX.url,
    depth=1,
)
POLLED = SitemapRecord(
    etag='"1"',
    kind="index",
    urls=1,
    interval_sec=21_600.0,
    next_at="2026-11-28T18:00:00Z",
    reason="floor",
    candidates=(("ewma", 4000.0), ("floor", 21_600.0)),
    last_fetch_at="2026-11-28T12:00:00Z",
    last_success_at="2026-11-28T12:00:00Z",
    last_status=200,
    last_result="fetched",
)
LINE = {
    "poll_id": f"{INDEX.id}@x",
    "at": "2026-11-28T12:00:00Z",
    "http_status": 200,
    "result": "fetched",
    "kind": "index",
    "urls": 1,
    "reason": "floor",
    "interval_after_sec": 21_600.0,
    "next_at": "2026-11-28T18:00:00Z",
}


@pytest.fixture
def local(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Callers]:
    with callers(redis_server, tmp_path) as made:
        store = made.wired.sitemaps
        for each in (INDEX, PART):
            store.add([(each, url_key(each.url))])
        for command in store.commit(INDEX.id, POLLED, LINE):
            redis_client.execute_command(*command)
        yield made


@pytest.fixture
def client(local: Callers) -> httpx.Client:
    return local.client()


def test_sitemaps_are_filtered(client: httpx.Client) -> None:
    def found(**query: str) -> set[str]:
        return {each["id"] for each in client.get("/sitemaps", params=query).json()["sitemaps"]}

    assert found() == found(source="news") == found(category="world", host="NEWS.example") == {INDEX.id, PART.id}
    assert found(parts="false") == {INDEX.id}
    assert found(root=INDEX.id) == {PART.id}
    assert found(failing="true") == found(source="other") == found(host="other.example") == set()
    assert client.get("/sitemaps?bogus=1").json()["code"] == "unknown_parameter"


def test_a_sitemap_its_reason_and_its_journal(client: httpx.Client) -> None:
    record = client.get(f"/sitemaps/{INDEX.id}").json()
    assert (record["url"], record["kind"], record["source"], record["priority"]) == (INDEX.url, "index", "news", 7)
    assert record["schedule"]["min_interval_sec"] == 21_600
    assert (record["stats"]["last_item_count"], record["stats"]["last_result"]) == (1, "fetched")
    why = client.get(f"/sitemaps/{INDEX.id}/why").json()
    assert [each["rule"] for each in why["candidates"] if each["won"]] == ["floor"]
    assert (why["next_at"], why["interval_sec"], why["last_status"]) == (POLLED.next_at, 21_600.0, 200)
    assert client.get(f"/sitemaps/{INDEX.id}/fetches").json() == {"fetches": [LINE]}
    unknown = "/sitemaps/00000000-0000-4000-8000-00000000000f"
    for path in (unknown, f"{unknown}/why", f"{unknown}/fetches"):
        assert (client.get(path).status_code, client.get(path).json()["code"]) == (404, "not_watched")


def test_a_sitemap_is_watched_polled_and_dropped(local: Callers, client: httpx.Client) -> None:
    made = client.post("/sitemaps", json={"url": "https://other.example/s.xml", "categories": ["c"]})
    assert (made.status_code, made.json()["categories"]) == (201, ["c"])
    assert client.post("/sitemaps", json={"url": "https://other.example/s.xml"}).status_code == 200
    refused = client.post("/sitemaps", json={"url": "http://127.0.0.1/s.xml"}).json()
    assert refused["code"] == "address_refused"
    local.wired.frontier.pace("other.example", delay_sec=0)
    (lease,) = local.wired.frontier.take(1, lanes=["poll"]).leases
    local.wired.frontier.done(lease, status="pending", delay_sec=9999)
    taken = client.post(made.headers["location"] + "/refetch")
    assert (taken.status_code, taken.json()["next_at"] <= rfc3339(local.wired.now())) == (202, True)
    (lease,) = local.wired.frontier.take(1, lanes=["poll"]).leases
    assert (lease.task.url, lease.history.again) == ("https://other.example/s.xml", "operator")
    assert client.delete(f"/sitemaps/{INDEX.id}").status_code == 204
    assert [each["url"] for each in client.get("/sitemaps").json()["sitemaps"]] == ["https://other.example/s.xml"]


def test_people_see_poll_and_drop_a_sitemap(local: Callers, client: httpx.Client) -> None:
    page = client.get("/dashboard/sitemaps").text
    assert f'href="/dashboard/sitemaps/{INDEX.id}"' in page
    assert PART.id not in page
    assert f'href="/dashboard/sitemaps/{PART.id}"' in client.get(f"/dashboard/sitemaps?root={INDEX.id}").text
    own = client.get(f"/dashboard/sitemaps/{INDEX.id}").text
    assert re.search(r"decided</span>.*6 h", own)
    assert f'href="/dashboard/sitemaps?root={INDEX.id}"' in own
    assert ">Poll now<" in own
    headers = {"Origin": str(client.base_url).rstrip("/")}
    polled = client.post(f"/dashboard/sitemaps/{INDEX.id}/refetch", headers=headers)
    assert (polled.status_code, polled.headers["location"]) == (303, f"/dashboard/sitemaps/{INDEX.id}?done=refetch")
    assert "due now" in client.get(polled.headers["location"]).text
    assert "Stop watching this sitemap?" in client.get(f"/dashboard/sitemaps/{INDEX.id}/drop").text
    assert client.post(f"/dashboard/sitemaps/{INDEX.id}/drop", headers=headers).status_code == 303
    assert local.wired.sitemaps.count() == 0
    assert client.get(f"/dashboard/sitemaps/{INDEX.id}").status_code == 404
