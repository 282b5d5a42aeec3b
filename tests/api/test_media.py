from typing import Any

import httpx
import pytest
from documents import paragraphs
from jsonschema import Draft202012Validator
from stories import Reader

from feedcrawl.api import schemas
from feedcrawl.api.routes.machine import media as route
from feedcrawl.domain.articles.media import media_id
from feedcrawl.domain.urls import url_uid

TEXT = "\n".join(paragraphs("story", count=5))
A, B = "http://a.paper.test/1", "http://b.paper.test/1"


@pytest.fixture
def client(client_of_reader: httpx.Client) -> httpx.Client:
    return client_of_reader


def submit(client: httpx.Client, url: str, **more: Any) -> dict[str, Any]:
    answer = client.post("/media/from_url", json={"url": url, **more})
    assert answer.status_code == 202, answer.text
    data: dict[str, Any] = answer.json()["data"]
    return data


def get(client: httpx.Client, url: str) -> dict[str, Any]:
    answer = client.get(f"/media/{media_id(url_uid(url))}")
    assert answer.status_code == 200
    schema = route._RECORD["content"]["application/json"]["schema"] | {"components": {"schemas": schemas.components()}}
    assert not list(Draft202012Validator(schema).iter_errors(answer.json()))
    data: dict[str, Any] = answer.json()["data"]
    return data


def test_a_page_from_its_url_to_its_text(reader: Reader, client: httpx.Client) -> None:
    assert submit(client, A) == {
        "media_id": media_id(url_uid(A)),
        "duplicate": False,
        "processing_status": "pending",
        "ingest_enqueued": True,
    }
    assert (get(client, A)["processing_status"], get(client, A)["capabilities"]["can_read"]) == ("pending", False)
    (lease,) = reader.wired.leases.take(9, ["page"]).leases
    reader.wired.media.prepare([lease], reader.now)
    assert get(client, A)["processing_status"] == "extracting"
    reader.passed(reader.page(lease, TEXT))
    found = get(client, A)
    assert found["processing_status"] == "ready_for_reading"
    assert found["fragments"] == [{"idx": 0, "html_sanitized": f"<p>{TEXT}</p>", "canonical_text": TEXT}]
    assert found["capabilities"] == {"can_read": True, "can_highlight": True, "can_quote": True}
    again = submit(client, A)
    assert (again["processing_status"], again["ingest_enqueued"]) == ("ready_for_reading", False)


def test_a_merged_page_record_names_the_record_of_its_article(reader: Reader, client: httpx.Client) -> None:
    reader.read(A, TEXT)
    submit(client, B)
    reader.read(B, TEXT)
    found = get(client, B)
    assert (found["duplicate"], found["duplicate_of"]) == (True, media_id(url_uid(A)))
    assert (found["processing_status"], found["capabilities"]["can_read"]) == ("duplicate", False)
    late = submit(client, B)
    assert (late["media_id"], late["duplicate"]) == (media_id(url_uid(A)), True)
    members = client.get("/collections/default").json()["held"]
    assert [each["media_id"] for each in members] == [media_id(url_uid(A))]


def test_a_failed_page_shows_its_reason_and_is_retried(reader: Reader, client: httpx.Client) -> None:
    submit(client, A)
    reader.fail(A)
    found = get(client, A)
    assert (found["processing_status"], found["failure_stage"]) == ("failed", "extract")
    assert (found["last_error_code"], found["last_error_message"]) == ("E_INGEST_FAILED", "FAIL_HTTP http_404: no page")
    retried = client.post(f"/media/{found['media_id']}/retry")
    assert (retried.status_code, retried.json()["data"]["processing_status"]) == (202, "pending")
    assert reader.wired.frontier.counts()["pending:article"] == 1
    reader.fail(A, again="retry")
    assert submit(client, A)["ingest_enqueued"]


@pytest.mark.parametrize("url", [A, B])
def test_a_ready_or_merged_page_cannot_be_retried(reader: Reader, client: httpx.Client, url: str) -> None:
    reader.read(A, TEXT)
    submit(client, B)
    reader.read(B, TEXT)
    answer = client.post(f"/media/{media_id(url_uid(url))}/retry")
    assert answer.status_code == 409
    assert answer.json()["code"] == {A: "media_ready_for_reading", B: "media_duplicate"}[url]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_unknown_record_is_not_found(client: httpx.Client, method: str) -> None:
    target = f"/media/{media_id('none')}{'/retry' if method == 'POST' else ''}"
    answer = client.request(method, target)
    assert (answer.status_code, answer.json()["code"]) == (404, "media_unknown")
    assert client.request(method, target.replace(media_id("none"), "..%2fx")).status_code in (404, 422)


def test_fifty_spellings_of_a_url_are_a_single_record(reader: Reader, client: httpx.Client) -> None:
    spellings = [f"HTTP://A.paper.TEST:80/./1?utm_source={n}#{n}" for n in range(50)]
    assert {submit(client, url)["media_id"] for url in spellings} == {media_id(url_uid(A))}
    assert reader.wired.frontier.counts()["pending:article"] == 1


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://127.0.0.1/", "address_refused"),
        ("http://[::1]/", "address_refused"),
        ("http://user@a.test/", "url_userinfo"),
        ("file:///etc/passwd", "url_scheme"),
        ("feed.xml", "url_malformed"),
        ("http://a.test:22/", "url_port"),
        ("http://a.test\r\nHost: b/", "url_ambiguous"),
    ],
)
def test_urls_that_are_not_fetched(reader: Reader, client: httpx.Client, url: str, code: str) -> None:
    answer = client.post("/media/from_url", json={"url": url})
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert reader.wired.client.keys("fc:{0}:media:*") == []


@pytest.mark.parametrize(
    "body",
    ["", "[]", "null", "{}", '{"url":1}', '{"url":null}', '{"url":""}', '{"url":["http://a.test/"]}', "{", "NaN",
     '{"url":"http://a.test/","collection":1}', '{"url":"http://a.test/","more":1}',
     '{"url":"http://a.test/' + "a" * 3000 + '"}'],
)  # fmt: skip
def test_an_invalid_body_is_refused(client: httpx.Client, body: str) -> None:
    answer = client.post("/media/from_url", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)


def test_an_unknown_collection_is_not_found(client: httpx.Client) -> None:
    answer = client.post("/media/from_url", json={"url": A, "collection": "later"})
    assert (answer.status_code, answer.json()["code"]) == (404, "collection_unknown")
