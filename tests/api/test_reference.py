from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from callers import Callers, callers

from feedcrawl.api.app import TAGS


@pytest.fixture
def public(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Callers]:
    with callers(redis_server, tmp_path, API_HOST="0.0.0.0") as made:
        yield made


def test_each_route_is_documented_under_a_tag_and_a_name_of_its_own(public: Callers) -> None:
    document = public.client().get("/openapi.json").json()
    operations = [each for methods in document["paths"].values() for each in methods.values()]
    names = [each["operationId"] for each in operations]
    assert len(names) == len(set(names)) > 40
    assert {tag for each in operations for tag in each["tags"]} == set(TAGS)
    assert not [name for name in names if name.endswith(("_get", "_post"))]  # made up by the framework
    assert all(each.get("description") for each in operations)


def test_the_reference_loads_nothing_from_other_servers(public: Callers) -> None:
    answer = public.client().get("/docs")
    assert answer.status_code == 200
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "<script" not in answer.text
    assert "//" not in answer.text.partition("</head>")[0]
    for path in ("POST /feeds", "GET /raw/{fetch_id}", "DELETE /sources/{name}"):
        assert f"<code>{path}</code>" in answer.text
    assert "https://news.example.com/feed.xml" in answer.text  # the example of a body
    assert "`" not in answer.text
    for record in ("Feed", "Article", "Problem", "Why"):
        assert f'id="record-{record}"' in answer.text
        assert f'<a href="#record-{record}">{record}</a>' in answer.text


def test_each_status_of_a_layer_is_documented(public: Callers) -> None:
    document = public.client().get("/openapi.json").json()
    subscribe = document["paths"]["/feeds"]["post"]
    assert {"201", "200", "400", "401", "403", "408", "409", "413", "414", "415", "422", "429", "503"} == set(
        subscribe["responses"]
    )
    assert [each["name"] for each in subscribe["parameters"]] == ["Idempotency-Key"]
    assert set(document["paths"]["/healthz"]["get"]["responses"]) == {"200"}
    assert set(document["paths"]["/readyz"]["get"]["responses"]) == {"200", "503"}
    assert document["components"]["schemas"]["Problem"]["required"] == ["type", "title", "status", "code", "detail"]
    assert "HTTPValidationError" not in document["components"]["schemas"]


def test_no_schema_is_left_open(public: Callers) -> None:
    document = public.client().get("/openapi.json").json()
    bare = {"type": "object"}
    open_ones = [
        (path, method, status)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        for status, each in operation["responses"].items()
        for content in each.get("content", {}).values()
        if content.get("schema", {}) in ({}, bare)
    ]
    assert not open_ones
