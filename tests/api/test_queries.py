"""A query with a name that its route does not take is no query for everything."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from callers import Callers, callers

from feedcrawl.api.queries import unknown


@pytest.fixture
def local(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Callers]:
    with callers(redis_server, tmp_path) as made:
        yield made


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/feeds?bogus=1", "bogus"),
        ("/feeds?categry=a&limit=5", "'categry'; did you mean 'category'?"),
        ("/feeds/0b5bca8e-6b5a-4b0e-9f4f-0d1a2b3c4d5e?limit=1", "(it takes none)"),
        ("/articles?Limit=5", "'Limit'; did you mean 'limit'?"),
        ("/entries?sinc=2026-11-28T12:00:00Z", "did you mean 'since'?"),
        ("/events?type=new_entry", "did you mean 'types'?"),
        ("/frontier?host=a.example", "(it takes none)"),
        ("/frontier/urls?hosts=a.example", "did you mean 'host'?"),
        ("/frontier/urls?next_fetch=2026-11-28T12:00:00Z", "did you mean 'next_fetch_after'?"),
        ("/frontier/hosts/a.example?x", "(it takes none)"),
        ("/dlq?older=1h", "did you mean 'older_than'?"),
        ("/opml?form=csv", "did you mean 'format'?"),
        ("/opml?=csv", "no parameter ''"),
        ("/collections?limit=1", "(it takes none)"),
        ("/collections/default.atom?offset=1", "no parameter 'offset'"),
        ("/sources?limit=1", "(it takes none)"),
        ("/metrics?match=x", "(it takes none)"),
        ("/raw/0b5bca8e-6b5a-4b0e-9f4f-0d1a2b3c4d5e?parts=body", "did you mean 'part'?"),
    ],
)
def test_an_unknown_name_is_a_problem_that_names_the_nearest(local: Callers, path: str, named: str) -> None:
    answer = local.client().get(path)
    assert (answer.status_code, answer.json()["code"]) == (422, "unknown_parameter")
    assert named in answer.json()["detail"]


@pytest.mark.parametrize("path", ["/feeds", "/opml?categories=a", "/dlq/replay?all=1"])
def test_an_unknown_parameter_of_a_write_changes_nothing(local: Callers, path: str) -> None:
    path = path if "?" in path else f"{path}?url=http://a.example/"
    answer = local.client().post(path, json={"url": "http://a.example/", "all": True})
    assert (answer.status_code, answer.json()["code"]) == (422, "unknown_parameter")
    assert local.wired.registry.count() == 0


def test_the_token_is_checked_before_the_query(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> None:
    with callers(redis_server, tmp_path, API_HOST="0.0.0.0") as public:
        assert public.client().get("/feeds?bogus=1").status_code == 401
        assert public.having("read").get("/feeds?bogus=1").status_code == 422


def test_a_name_given_twice_is_a_problem(local: Callers) -> None:
    answer = local.client().get("/feeds?limit=1&limit=2")
    assert (answer.status_code, answer.json()["code"]) == (422, "repeated_parameter")


@pytest.mark.parametrize("path", ["/", "/dashboard/feeds", "/dashboard/frontier/urls", "/login", "/docs"])
def test_an_unknown_parameter_of_a_page_is_refused_in_a_page(local: Callers, path: str) -> None:
    answer = local.client().get(f"{path}?bogus=<b>")
    assert (answer.status_code, "unknown_parameter" in answer.text) == (422, True)
    assert "<b>" not in answer.text


@pytest.mark.parametrize(
    "path",
    ["/feeds?category=a&failing=true&limit=1", "/opml?format=csv", "/dashboard/feeds?page=1", "/healthz?x=1", "/docs"],
)
def test_known_parameters_are_accepted(local: Callers, path: str) -> None:
    assert local.client().get(path).status_code == 200


def test_an_unknown_parameter_of_any_length_is_refused_in_a_short_sentence() -> None:
    assert len(unknown("x" * 4000, ["host", "limit"])) < 200
