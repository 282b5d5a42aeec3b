import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from documents import paragraphs
from jsonschema import Draft202012Validator
from stories import Reader

from feedcrawl.api import schemas
from feedcrawl.api.routes.machine import articles as route
from feedcrawl.domain.urls import url_uid

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"


def text(name: str) -> str:
    return "\n".join(paragraphs(name, count=5))


@pytest.fixture
def client(client_of_reader: httpx.Client) -> httpx.Client:
    return client_of_reader


def read(reader: Reader, name: str, **details: Any) -> str:
    """The uid of an article that is stored."""
    known = {key: details.pop(key) for key in ("language", "title") if key in details}
    item = reader.passed(reader.page(reader.lease(f"http://{name}", **details), text(name), **known))
    reader.wired.leases.done(item.lease, status="fetched")
    return item.uid


def fits(content: Any, schema: dict[str, Any]) -> bool:
    whole = schema | {"components": {"schemas": schemas.components()}}
    return not list(Draft202012Validator(whole).iter_errors(content))


def test_an_article_is_returned_with_all_its_fields(reader: Reader, client: httpx.Client) -> None:
    uid = read(reader, "a.paper.test/1", category="c", title=HOSTILE)
    answer = client.get(f"/articles/{uid}")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    article = answer.json()
    assert (article["title"], article["clean_text"], article["categories"]) == (HOSTILE, text("a.paper.test/1"), ["c"])
    assert fits(article, route._ONE[200]["content"]["application/json"]["schema"])


def test_a_merged_article_leads_to_its_target(reader: Reader, client: httpx.Client) -> None:
    winner = reader.read("http://a.paper.test/1", text("a")).uid
    reader.read("http://b.paper.test/1", text("a"))
    answer = client.get(f"/articles/{url_uid('http://b.paper.test/1')}")
    assert (answer.status_code, answer.headers["location"]) == (308, f"/articles/{winner}")
    found = client.get(answer.headers["location"]).json()
    assert found["sightings"] == ["http://b.paper.test/1"]


def test_a_failed_or_unknown_article_is_not_found(reader: Reader, client: httpx.Client) -> None:
    reader.fail("http://a.paper.test/1")
    for uid, status, code in (
        (url_uid("http://a.paper.test/1"), 404, "article_failed"),
        ("0" * 16, 404, "article_unknown"),
    ):
        answer = client.get(f"/articles/{uid}")
        assert (answer.status_code, answer.json()["code"]) == (status, code)
        assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "uid", ["..%2f..%2fetc%2fpasswd", "A" * 16, "0" * 15, "0" * 17, "%00", "*", "0123456789abcdeg"]
)
def test_a_uid_has_a_fixed_form(client: httpx.Client, uid: str) -> None:
    assert client.get(f"/articles/{uid}").status_code in (404, 422)


def test_pages_lead_on_to_the_last(reader: Reader, client: httpx.Client) -> None:
    uids = [read(reader, f"a.paper.test/{n}", language="en") for n in range(5)]
    found, target = list[str](), "/articles?limit=2&language=en"
    while True:
        answer = client.get(target)
        assert fits(answer.json(), schemas.page_of("articles", route.LISTED))
        found += [each["uid"] for each in answer.json()["articles"]]
        cursor, link = answer.json()["next"], answer.links.get("next")
        assert (cursor is None) == (link is None)
        if link is None:
            break
        assert f"cursor={cursor}" in link["url"]
        assert "language=en" in link["url"]
        target = link["url"]
    assert found == uids[::-1]
    assert not {"clean_text", "content_html"} & set(answer.json()["articles"][0])


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("category=even", ["a.paper.test/2", "a.paper.test/0"]),
        ("feed=f1", ["b.paper.test/1"]),
        ("host=b.paper.test", ["b.paper.test/1"]),
        ("language=de", ["a.paper.test/0"]),
        ("language=en&category=even", ["a.paper.test/2"]),
        ("category=none", []),
        ("since=2000-01-01T00:00:00Z&category=even", ["a.paper.test/2", "a.paper.test/0"]),
        ("since=2100-01-01T00:00:00", []),
    ],
)
def test_filters(reader: Reader, client: httpx.Client, query: str, names: list[str]) -> None:
    for n, name in enumerate(("a.paper.test/0", "b.paper.test/1", "a.paper.test/2")):
        fields = {"category": "odd" if n % 2 else "even", "payload": {"feed_id": f"f{n}"}}
        read(reader, name, language="en-GB" if n else "de", **fields)
    found = client.get(f"/articles?{query}").json()["articles"]
    assert [each["uid"] for each in found] == [url_uid(f"http://{name}") for name in names]


@pytest.mark.parametrize(
    "cursor", ["", "x", "W10", "WzEsMl0", "WzEsImEiXQ==", "bnVsbA", "WzFlOTk5LCJhIl0", "WyJhIiwiYiJd", "%ff", "[" * 150]
)
def test_an_invented_cursor_is_refused(client: httpx.Client, cursor: str) -> None:
    answer = client.get("/articles", params={"cursor": cursor})
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_cursor")


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=-1", "limit=1000000000", "limit=nan", "since=nan",
     "since=1795825985", "since=2026-13-01T00:00:00Z", "since=yesterday", "since=1e999", "host=",
     "category=", "language=" + "e" * 36, "cursor=" + "a" * 201],
)  # fmt: skip
def test_a_bad_filter_of_articles_is_refused(client: httpx.Client, query: str) -> None:
    answer = client.get(f"/articles?{query}")
    assert answer.status_code == 422


def until(state: Callable[[], object]) -> None:
    end = time.monotonic() + 20
    while not state():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_articles_are_found_by_their_words(reader: Reader, client: httpx.Client) -> None:
    uids = {
        name: read(reader, f"{name}.paper.test/1", category=name, title=f"Zebras <i>{name}</i>", language="en-GB")
        for name in "abc"
    }
    until(lambda: client.get("/articles?q=zebras&limit=200").json().get("articles", [])[2:])
    first = client.get("/articles?q=zebras&limit=2&language=en")
    assert fits(first.json(), schemas.page_of("articles", route.LISTED))
    second = client.get(first.links["next"]["url"])
    assert second.json()["next"] is None
    assert {each["uid"] for page in (first, second) for each in page.json()["articles"]} == set(uids.values())
    assert first.json()["articles"][0]["highlights"]["title"].startswith("<mark>Zebras</mark> &lt;i&gt;")
    for query, names in (
        ("q=zebras&category=a", "a"),
        ("q=zebras&source=b.paper.test", "b"),
        ("q=zebras -a -b", "c"),
        ("q=zebras&language=de", ""),
        ('q="zebras i a"', "a"),
        ("q=zebras&since=2100-01-01T00:00:00Z", ""),
        ('q=") OR NEAR(zebras* "zebra', ""),
    ):
        answer = client.get(f"/articles?{query}")
        assert [each["uid"] for each in answer.json()["articles"]] == [uids[name] for name in names], query


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("q=", "search_empty"),
        ("q=-a", "search_empty"),
        (f"q={' '.join(map(str, range(40)))}", "search_too_long"),
        ("source=a", "search_empty"),
    ],
)
def test_a_search_that_cannot_be_made_is_refused_with_its_reason(client: httpx.Client, query: str, code: str) -> None:
    answer = client.get(f"/articles?{query}")
    assert (answer.status_code, answer.json()["code"]) == (400, code)
