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


def test_people_read_it_without_anything_from_elsewhere(public: Callers) -> None:
    answer = public.client().get("/docs")
    assert answer.status_code == 200
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "<script" not in answer.text
    assert "//" not in answer.text.partition("</head>")[0]
    for path in ("POST /feeds", "GET /raw/{fetch_id}", "DELETE /sources/{name}"):
        assert f"<code>{path}</code>" in answer.text
    assert "https://news.example.com/feed.xml" in answer.text  # the example of a body
