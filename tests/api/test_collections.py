import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import feedparser
import httpx
import pytest
import redis
from api import free_port, serving
from documents import paragraphs
from jsonschema import Draft202012Validator
from lxml import etree
from stories import Reader, wired_to

from feedcrawl.api import schemas
from feedcrawl.api.routes.machine import collections as route
from feedcrawl.domain.feeds import parse
from feedcrawl.domain.urls import url_uid
from feedcrawl.services.operations import tokens

HUB = "https://hub.example/"


def fits(response: dict[str, Any], content: Any) -> bool:
    """Whether the content of a response is as the OpenAPI document describes it."""
    whole = {**response["content"]["application/json"]["schema"], "components": {"schemas": schemas.components()}}
    return not list(Draft202012Validator(whole).iter_errors(content))


def text(name: str) -> str:
    return "\n".join(paragraphs(name, count=5))


def url(number: int) -> str:
    return f"http://a.paper.test/{number}"


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def reader(redis_server: str, redis_client: redis.Redis, tmp_path: Path, port: int) -> Iterator[Reader]:
    own = {"FEEDCRAWL_HUB_URL": HUB, "FEEDCRAWL_PUBLIC_URL": f"http://127.0.0.1:{port}"}
    with wired_to(redis_server, tmp_path, **own) as wired:
        made = Reader(wired)
        made.now = wired.now()
        yield made


@pytest.fixture
def client(reader: Reader, port: int) -> Iterator[httpx.Client]:
    with serving(reader.wired, port) as served, httpx.Client(base_url=served, timeout=60) as made:
        yield made


def collect(reader: Reader, client: httpx.Client, *numbers: int, name: str = "default", **fields: Any) -> None:
    for n in numbers:
        reader.read(url(n), text(f"story {n}"), title=f"<b>Story</b> & {n}", **fields)
        assert client.put(f"/collections/{name}/articles/{url_uid(url(n))}").status_code == 204


def test_collections_are_made_listed_and_dropped(reader: Reader, client: httpx.Client) -> None:
    made = client.post("/collections", json={"name": "later"})
    assert (made.status_code, made.headers["location"]) == (201, "/collections/later")
    assert client.post("/collections", json={"name": "later"}).json()["code"] == "collection_exists"
    collect(reader, client, 1, name="later")
    listed = client.get("/collections").json()
    assert [(each["name"], each["articles"]) for each in listed["collections"]] == [("default", 0), ("later", 1)]
    assert fits(route._ALL, listed)
    assert client.delete("/collections/later").status_code == 204
    for answer, status, code in (
        (client.get("/collections/later"), 404, "collection_unknown"),
        (client.delete("/collections/later"), 404, "collection_unknown"),
        (client.delete("/collections/default"), 409, "collection_is_default"),
        (client.put("/collections/later/articles/" + url_uid(url(1))), 404, "collection_unknown"),
        (client.put("/collections/default/articles/" + "0" * 16), 404, "article_unknown"),
        (client.delete("/collections/default/articles/" + "0" * 16), 404, "article_not_held"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (status, code)


@pytest.mark.parametrize("name", ["", "a.b", "A", "../x", "a" * 65, 1, None])
def test_an_invalid_name_is_refused(client: httpx.Client, name: Any) -> None:
    assert client.post("/collections", json={"name": name}).status_code == 422


def test_a_collection_shows_pending_pages_too(reader: Reader, client: httpx.Client) -> None:
    collect(reader, client, 1)
    client.post("/media/from_url", json={"url": url(2)})
    answer = client.get("/collections/default").json()
    assert fits(route._PAGE, answer)
    waiting, ready = answer["held"]
    assert (waiting["processing_status"], waiting["article"]) == ("pending", None)
    assert (ready["processing_status"], ready["article"]["title"]) == ("ready_for_reading", "<b>Story</b> & 1")
    assert client.delete(f"/collections/default/articles/{url_uid(url(2))}").status_code == 204
    assert len(client.get("/collections/default").json()["held"]) == 1


@pytest.mark.parametrize(
    ("form", "kind", "media_type"),
    [("atom", "atom1.0", "application/atom+xml"), ("json", "json1.1", "application/feed+json")],
)
def test_a_collection_is_a_feed_that_reads_back(
    reader: Reader, client: httpx.Client, form: str, kind: str, media_type: str
) -> None:
    fields = {"authors": ("Ada Writer",), "category": "c"}
    for n in range(5):
        collect(reader, client, n, authors=fields["authors"], category=fields["category"])
    client.post("/media/from_url", json={"url": url(9)})  # not read yet
    entries, target, pages = list[Any](), f"/collections/default.{form}?limit=2", 0
    while target:
        answer = client.get(target)
        assert answer.headers["content-type"].startswith(media_type)
        found = parse(answer.content, url=str(answer.url), content_type=answer.headers["content-type"])
        assert (found.format, found.title, found.notes, found.hubs) == (kind, "default", (), ())
        assert (found.self_url, found.paging.next) == (str(answer.url), answer.links.get("next", {}).get("url"))
        assert {name: link["url"] for name, link in answer.links.items() if name != "next"} == {"self": str(answer.url)}
        entries += found.entries
        target, pages = found.paging.next, pages + 1
    assert pages == 3
    assert [entry.link for entry in entries] == [url(n) for n in (4, 3, 2, 1, 0)]
    for n, entry in zip((4, 3, 2, 1, 0), entries, strict=True):
        stored = client.get(f"/articles/{url_uid(url(n))}").json()
        assert entry.native_id == f"urn:feedcrawl:article:{stored['uid']}"
        assert (entry.title, entry.content) == (stored["title"], stored["content_html"])
        assert ([each.name for each in entry.authors], entry.categories) == (["Ada Writer"], ("c",))


def test_feedparser_reads_the_feed_of_a_collection(reader: Reader, client: httpx.Client) -> None:
    collect(reader, client, 1, 2)
    answer = client.get("/collections/default.atom")
    found = feedparser.parse(io.BytesIO(answer.content), response_headers={"content-type": "application/atom+xml"})
    assert not found.bozo
    assert [entry.link for entry in found.entries] == [url(2), url(1)]
    assert found.entries[0].content[0].value == f"<p>{text('story 2')}</p>"
    document = json.loads(client.get("/collections/default.json").content)
    assert document["version"] == "https://jsonfeed.org/version/1.1"
    assert [item["url"] for item in document["items"]] == [url(2), url(1)]


def test_a_feed_has_its_articles_when_their_own_time_is_over(
    reader: Reader, client: httpx.Client, redis_client: redis.Redis
) -> None:
    collect(reader, client, 1)
    before = client.get("/collections/default.atom").content
    redis_client.delete(f"rss:article_canonical:{url_uid(url(1))}")
    assert client.get(f"/articles/{url_uid(url(1))}").status_code == 404
    assert client.get("/collections/default.atom").content == before


@pytest.mark.parametrize("form", ["", ".atom", ".json"])
def test_an_empty_collection_is_an_empty_feed(client: httpx.Client, form: str) -> None:
    answer = client.get(f"/collections/default{form}")
    assert answer.status_code == 200
    assert client.get(f"/collections/none{form}").json()["code"] == "collection_unknown"
    if form:
        assert parse(answer.content, url=str(answer.url)).entries == ()


def test_a_hostile_query_is_refused_or_escaped(client: httpx.Client) -> None:
    hostile = 'x="><script>&limit=2&y=>; rel="evil"'
    refused = client.get(f"/collections/default.atom?{hostile}")
    assert (refused.status_code, refused.json()["code"]) == (422, "unknown_parameter")
    assert (refused.headers["content-type"], b"<script" in refused.content) == ("application/problem+json", False)
    answer = client.get("/collections/default.atom?%6cimit=%32")
    assert set(answer.links) == {"self"}
    assert b"<script" not in answer.content
    assert parse(answer.content, url=str(answer.url)).self_url == answer.links["self"]["url"]


def test_pages_of_a_collection_have_the_feed_id_of_their_actor(reader: Reader, client: httpx.Client) -> None:
    token, _ = tokens.create(reader.wired.tokens, "bob", "read", reader.wired.now())
    own, page, bobs = (
        client.get(f"/collections/default.atom{query}", headers=headers)
        for query, headers in (("", {}), ("?limit=1", {}), ("", {"Authorization": f"Bearer {token}"}))
    )
    ids = [etree.fromstring(each.content).findtext("{*}id") for each in (own, page, bobs)]
    assert ids[0] == ids[1] == f"{client.base_url}/collections/default.atom#local"
    assert ids[2] == f"{client.base_url}/collections/default.atom#bob"


def test_links_of_a_collection_start_at_the_public_url(
    redis_server: str, redis_client: redis.Redis, tmp_path: Path
) -> None:
    with wired_to(redis_server, tmp_path, FEEDCRAWL_PUBLIC_URL="https://crawl.example/base/") as wired:
        with serving(wired, free_port()) as served:
            answer = httpx.get(f"{served}/collections/default.atom", timeout=60)
        assert answer.links["self"]["url"] == "https://crawl.example/base/collections/default.atom"


@pytest.mark.parametrize("form", ["atom", "json"])
def test_a_feed_without_a_public_address_names_no_hub(
    redis_server: str, redis_client: redis.Redis, tmp_path: Path, form: str
) -> None:
    with (
        wired_to(redis_server, tmp_path, FEEDCRAWL_HUB_URL=HUB) as wired,
        serving(wired, free_port()) as served,
        httpx.Client(base_url=served, timeout=60) as made,
    ):
        answer = made.get(f"/articles.{form}")
        found = parse(answer.content, url=str(answer.url), content_type=answer.headers["content-type"])
    assert (answer.status_code, found.hubs, "hub" in answer.links) == (200, (), False)


@pytest.mark.parametrize("form", ["atom", "json"])
def test_categories_sources_and_sets_of_feeds_are_feeds(reader: Reader, client: httpx.Client, form: str) -> None:
    for n in range(3):
        reader.read(url(n), text(f"story {n}"), title=f"Story {n}", category="c")
    reader.read("http://other.test/9", text("other"), title="Other", category="d")
    client.put("/sources/paper.one", json={"base_url": "http://a.paper.test/"}).raise_for_status()
    stories = [url(n) for n in (2, 1, 0)]
    expected = {
        f"/categories/c.{form}": stories,
        f"/categories/none.{form}": [],
        f"/sources/paper.one.{form}": stories,
        f"/articles.{form}": ["http://other.test/9", *stories],
        f"/articles.{form}?category=d": ["http://other.test/9"],
        f"/articles.{form}?feeds=00000000-0000-0000-0000-000000000000": [],
    }
    for target, links in expected.items():
        answer = client.get(target)
        assert answer.status_code == 200, answer.text
        found = parse(answer.content, url=str(answer.url), content_type=answer.headers["content-type"])
        hubs = () if "?" in target else (HUB,)
        assert ([entry.link for entry in found.entries], found.notes, found.hubs) == (links, (), hubs), target
        assert answer.links["self"]["url"] == found.self_url == str(answer.url)
        assert all(entry.content for entry in found.entries)
    first, following = client.get(f"/categories/c.{form}?limit=2"), client.get(f"/categories/c.{form}?limit=2")
    assert first.headers["etag"] == following.headers["etag"]
    rest = client.get(first.links["next"]["url"])
    assert [entry.link for entry in parse(rest.content, url=str(rest.url)).entries] == [url(0)]
    assert client.get(f"/sources/none.{form}").json()["code"] == "no_such_source"
    assert client.get("/sources/paper.one").json()["base_url"] == "http://a.paper.test/"
