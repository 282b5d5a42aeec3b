"""Sources over HTTP: those of the file are read-only, others can be set; and how a crawl follows them."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import redis
from callers import Callers, callers

from feedcrawl.domain.sites.owners import Sources
from feedcrawl.domain.sites.sources import Source
from feedcrawl.domain.urls import url_uid
from feedcrawl.services.sites import sources
from feedcrawl.services.sites.sources import SourceBook

NEWS = {"base_url": "https://news.example/", "feed_urls": ["https://news.example/feed"], "delay_sec": 5.0}


@pytest.fixture
def local(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Callers]:
    file = tmp_path / "sources.yaml"
    file.write_text("- {name: filed, base_url: 'https://filed.example/', priority: 7}\n")
    with callers(redis_server, tmp_path, SOURCES=file) as made:
        yield made


@pytest.fixture
def client(local: Callers) -> httpx.Client:
    return local.client()


def test_a_stored_source_is_in_effect_at_once(local: Callers, client: httpx.Client) -> None:
    answer = client.put("/sources/news", json=NEWS)
    assert (answer.status_code, answer.json()) == (201, {"name": "news", **NEWS, "in_file": False})
    assert client.put("/sources/news", json=NEWS).status_code == 200
    (feed,) = client.get("/feeds", params={"source": "news"}).json()["feeds"]
    assert feed["url"] == "https://news.example/feed"
    assert client.get("/frontier/hosts/news.example").json()["delay_sec"] == 5
    assert [each["name"] for each in client.get("/sources").json()["sources"]] == ["news", "filed"]


def test_a_source_is_forgotten_and_its_feeds_stay(client: httpx.Client) -> None:
    client.put("/sources/news", json=NEWS)
    assert client.delete("/sources/news").status_code == 204
    for answer in (client.get("/sources/news"), client.delete("/sources/news")):
        assert (answer.status_code, answer.json()["code"]) == (404, "no_such_source")
    assert len(client.get("/feeds").json()["feeds"]) == 1


def test_a_source_of_the_file_cannot_be_changed(client: httpx.Client) -> None:
    source = {"name": "filed", "base_url": "https://filed.example/", "priority": 7}
    assert client.get("/sources/filed").json() == {**source, "in_file": True, "search": None}
    for answer in (client.put("/sources/filed", json=NEWS), client.delete("/sources/filed")):
        assert (answer.status_code, answer.json()["code"]) == (409, "source_in_file")


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ({}, "bad_sources"),
        ({**NEWS, "colour": "red"}, "bad_sources"),
        ({**NEWS, "name": "other"}, "bad_sources"),
        ({**NEWS, "article_url_patterns": ["("]}, "bad_sources"),
        ({**NEWS, "feed_urls": [{"a": 1}]}, "bad_sources"),
        (
            {**NEWS, "proxy": "http://127.0.0.1:3128"},
            "bad_sources",
        ),  # dialled without the guard: the operator's file only
        ({**NEWS, "proxy_resolves": True}, "bad_sources"),
        ({**NEWS, "bind_address": "127.0.0.1"}, "bad_sources"),
        ({**NEWS, "feed_urls": ["http://127.0.0.1/feed"]}, "address_refused"),
        ({"base_url": "http://[::1]/"}, "address_refused"),
    ],
)
def test_an_invalid_source_is_refused_whole(
    local: Callers, client: httpx.Client, entry: dict[str, object], code: str
) -> None:
    answer = client.put("/sources/news", json=entry)
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert local.wired.stored_sources.all() == {}
    assert local.wired.registry.count() == 0


def test_a_crawl_follows_changes_of_stored_sources(
    local: Callers, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    wired = local.wired
    crawl = SourceBook(wired.config.sources, wired.stored_sources)
    monkeypatch.setattr(sources, "LOOK_SEC", 0)
    assert set(crawl.known) == {"filed"}

    def refresh() -> Sources:
        asyncio.run(crawl.sync(wired.source_stores))
        return crawl.known

    client.put("/sources/news", json=NEWS)
    assert refresh()["news"].delay_sec == 5
    client.put("/sources/news", json={**NEWS, "selectors": {"body": "div.story"}})
    assert refresh()["news"].selectors.body == ("div.story",)
    client.delete("/sources/news")
    assert set(refresh()) == {"filed"}


def test_urls_of_a_source_have_its_settings_wherever_they_come_from(local: Callers, client: httpx.Client) -> None:
    client.put("/sources/news", json={**NEWS, "category": "world", "priority": 8, "trailing_slash": "keep"})
    url = "https://www.news.example/a/"
    (result,) = client.post("/frontier/urls", json={"urls": [url]}).json()["urls"]
    media = client.post("/media/from_url", json={"url": "https://news.example/b/"}).json()["data"]
    tasks = {task.url: task for task, _ in local.wired.frontier.urls()[1] if task.kind == "article"}
    assert {(task.source, task.category, task.priority) for task in tasks.values()} == {("news", "world", 8)}
    assert result["uid"] == tasks[url].id == url_uid(url, keep_trailing_slash=True)
    assert client.get(f"/media/{media['media_id']}").json()["data"]["requested_url"] == "https://news.example/b/"


def test_a_source_that_another_version_stored_stops_no_crawl(local: Callers) -> None:
    local.wired.stored_sources.put("odd", {"name": "odd", "hue": 1})
    local.wired.stored_sources.put("good", {"name": "good", "base_url": "https://good.example/"})
    found = SourceBook(local.wired.config.sources, local.wired.stored_sources).known
    assert set(found) == {"filed", "good"}
    assert found["good"] == Source("good", "https://good.example/")
