"""What a crawl has left, read over HTTP: a page that was subscribed, its feed, its entries, the bytes that came."""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import httpx
import pytest
from callers import callers
from documents import paragraphs
from jsonschema import Draft202012Validator
from origin import html
from world import World, entry, feed, good_page, world_in

from feedcrawl.api import schemas
from feedcrawl.domain.entries.records import EntryRecord
from feedcrawl.domain.subscriptions.published import JournalLineRecord

PAGE = (
    '<!DOCTYPE html><link rel="alternate" type="application/rss+xml" href="/feed">'
    '<link rel="alternate" type="application/rss+xml" title="Comments" href="/comments"><p>A site.'
)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory, redis_server: str) -> Iterator[tuple[World, httpx.Client]]:
    """Two feeds that were subscribed over HTTP, one by its page, and what two crawls made of them."""
    own = {"ALLOW_NETWORKS": "127.1.0.0/16", "SHARDS": "1"}
    with world_in(tmp_path_factory.mktemp("rest"), FEEDCRAWL_PARSER_PROCESSES="1") as world:
        site, other = world.origin.site("news.test"), world.origin.site("other.test")
        for name in ("a", "b", "c"):
            site.serve(f"/{name}", good_page(name))
        site.serve("/", html(PAGE))
        first = [entry(site, name) for name in ("a", "b")]
        site.serve(
            "/feed", feed(first), feed([*first, entry(site, "c", summary="\n".join(paragraphs("c", count=3)))], 2)
        )
        other.serve("/feed", feed([entry(site, "a", url=site.url("/a"))]))
        with callers(world.url, world.data, **own) as local:
            client = local.client()
            for url in (site.url("/"), other.url("/feed")):
                assert client.post("/feeds", json={"url": url, "categories": ["villages"]}).status_code == 201
            world.crawl("first")
            for each in client.get("/feeds").json()["feeds"]:
                client.post(f"/feeds/{each['id']}/refetch")
            world.crawl("second")
            yield world, client


@pytest.fixture
def client(crawled: tuple[World, httpx.Client]) -> httpx.Client:
    return crawled[1]


@pytest.fixture
def news(client: httpx.Client) -> str:
    """The path of the feed that was named by its page."""
    (found,) = [each for each in client.get("/feeds").json()["feeds"] if each["page"]]
    return f"/feeds/{found['id']}"


def test_a_page_is_replaced_by_its_feed(client: httpx.Client, news: str) -> None:
    feed = client.get(news).json()
    assert feed["url"].endswith("news.test/feed") or "/feed" in feed["url"]
    assert feed["page"].rstrip("/") + "/feed" == feed["url"]
    assert feed["stats"]["last_result"] == "fetched"
    assert feed["type"] == "rss"
    figures = feed["figures"]
    assert figures["fetch_count"] >= 2
    assert sum(figures["new_entries"]) == 3
    assert figures["bytes_in"] > 0
    assert figures["average_latency_sec"] > 0


def test_the_other_feeds_of_the_page_are_offered(client: httpx.Client, news: str) -> None:
    (line,) = [each for each in client.get(f"{news}/fetches").json()["fetches"] if "offered" in each]
    assert [url.rpartition("/")[2] for url in line["offered"]] == ["feed", "comments"]
    page = client.get(f"/dashboard{news}").text
    assert "Other feeds of the page" in page
    assert f'name="url" value="{line["offered"][1]}"' in page
    assert f'name="url" value="{line["offered"][0]}"' not in page


def test_a_journal_fits_its_published_schema(client: httpx.Client, news: str) -> None:
    lines = client.get(f"{news}/fetches").json()["fetches"]
    assert [line["new"] for line in lines if line.get("new")] == [1, 2]
    validator = Draft202012Validator(schemas.published(JournalLineRecord))
    assert not [error for line in lines for error in validator.iter_errors(line)]


def test_the_next_poll_of_a_feed_is_explained(client: httpx.Client, news: str) -> None:
    explanation = client.get(f"{news}/why").json()
    assert explanation["next_at"] > explanation["last_fetch_at"]
    assert explanation["interval_sec"] > 0
    assert explanation["because"]
    assert [each["rule"] for each in explanation["candidates"] if each["won"]]
    assert explanation["hub"] is None


def titles(answer: httpx.Response) -> list[str]:
    return [each["title"] for each in answer.json()["entries"]]


def test_entries_come_in_their_order_a_page_at_a_time(client: httpx.Client, news: str) -> None:
    whole = client.get(f"{news}/entries")
    assert (len(titles(whole)), whole.json()["next"]) == (3, None)
    found, cursor = [], None
    while True:
        page = client.get(f"{news}/entries", params={"limit": 1} | ({"cursor": cursor} if cursor else {}))
        found += titles(page)
        if (cursor := page.json()["next"]) is None:
            break
        assert len(titles(page)) == 1
    assert found == titles(whole)
    assert len(titles(client.get("/entries"))) == 4
    assert not list(Draft202012Validator(schemas.published(EntryRecord)).iter_errors(whole.json()["entries"][0]))


def test_entries_since_a_moment(client: httpx.Client, news: str) -> None:
    last = client.get(f"{news}/entries").json()["entries"][-1]["last_seen"]
    assert len(titles(client.get(f"{news}/entries", params={"since": last}))) == 1
    assert len(titles(client.get("/entries", params={"since": "2020-01-01T00:00:00Z"}))) == 4
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    assert titles(client.get("/entries", params={"since": later})) == []
    assert client.get("/entries", params={"since": "yesterday"}).status_code == 422


def test_an_entry_is_found_by_its_uid(client: httpx.Client, news: str) -> None:
    (shared, _, own) = client.get(f"{news}/entries").json()["entries"]
    path = f"/entries/{quote(own['entry_uid'], safe='')}"
    found = client.get(path).json()
    assert (found["title"], found["seen_count"]) == (own["title"], 1)
    several = client.get(f"/entries/{quote(shared['entry_uid'], safe='')}")
    assert several.status_code == 300
    assert len({each["feed_id"] for each in several.json()["choices"]}) == 2
    single = client.get(several.request.url.raw_path.decode(), params={"feed_id": news.removeprefix("/feeds/")})
    assert (single.status_code, single.json()["feed_id"]) == (200, news.removeprefix("/feeds/"))
    assert single.json()["seen_count"] == 2
    assert client.get("/entries/none%0A").json()["code"] == "entry_unknown"
    assert client.get(path, params={"feed_id": "0b5bca8e-6b5a-4b0e-9f4f-0d1a2b3c4d5e"}).status_code == 404


def test_the_archived_bytes_of_a_fetch_are_returned(
    crawled: tuple[World, httpx.Client], client: httpx.Client, news: str
) -> None:
    line = client.get(f"{news}/fetches").json()["fetches"][0]
    path = f"/raw/{line['fetch_id']}"
    record = client.get(path).json()
    assert (record["feed_id"], record["http_status"]) == (news.removeprefix("/feeds/"), 200)
    assert record["body_ref"]["storage"] == "localfs"
    body = client.get(path, params={"part": "body"})
    assert hashlib.sha256(body.content).hexdigest() == record["body_sha256"]
    assert b"<rss" in body.content
    assert body.headers["content-type"] == "application/octet-stream"
    assert body.headers["x-content-type-options"] == "nosniff"
    assert body.headers["content-disposition"] == f'attachment; filename="{line["fetch_id"]}.body"'
    request = client.get(path, params={"part": "request"}).content
    assert request.startswith(b"GET /feed HTTP/1.1\r\n")
    response = client.get(path, params={"part": "response"}).content
    assert response.startswith(b"HTTP/1.1 200")
    assert response.endswith(body.content)
    assert client.get(path, params={"part": "all"}).status_code == 422


def test_metrics_of_the_fleet(client: httpx.Client) -> None:
    text = client.get("/metrics").text
    assert "feedcrawl_feeds 2.0" in text
    assert "feedcrawl_store_up 1.0" in text


def test_an_exchange_archived_on_another_machine_is_refused_with_its_name(
    crawled: tuple[World, httpx.Client], client: httpx.Client, news: str
) -> None:
    world, _ = crawled
    fetch_id = client.get(f"{news}/fetches").json()["fetches"][0]["fetch_id"]
    files = list((world.data / "raw").rglob("*.warc.gz"))
    for each in files:
        each.rename(each.with_suffix(".away"))
    try:
        answer = client.get(f"/raw/{fetch_id}")
        assert (answer.status_code, answer.json()["code"]) == (404, "raw_elsewhere")
        assert "was written on" in answer.json()["detail"]
    finally:
        for each in files:
            each.with_suffix(".away").rename(each)
