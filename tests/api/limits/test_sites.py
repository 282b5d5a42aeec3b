"""Pages of other sites learn nothing of what is stored: not even whether it is."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import redis
from callers import Callers, callers

FOREIGN = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "object"}


@pytest.fixture
def local(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Callers]:
    with callers(redis_server, tmp_path) as made:
        yield made


@pytest.mark.parametrize(
    "path",
    [
        "/articles/" + "0" * 16,
        "/feeds",
        "/",
        "/login",
        "/docs",
        "/openapi.json",
        "/readyz",
        "/metrics",
        "/none",
        "/opml",
    ],
)
def test_a_cross_site_request_is_refused(local: Callers, path: str) -> None:
    answer = local.client().get(path, headers=FOREIGN)
    assert (answer.status_code, answer.json()["code"]) == (403, "cross_site")
    assert local.client().head(path, headers=FOREIGN).status_code == 403


def test_supervisors_and_hubs_pass_the_check_of_sites(local: Callers) -> None:
    assert local.client().get("/healthz", headers=FOREIGN).status_code == 200
    assert local.client().get("/websub/x", headers=FOREIGN).json()["code"] == "unknown_callback"


@pytest.mark.parametrize("site", ["same-origin", "same-site", "none", None])
def test_requests_of_the_same_site_or_of_programs_are_answered(local: Callers, site: str | None) -> None:
    headers = {} if site is None else {"Sec-Fetch-Site": site}
    assert local.client().get("/feeds", headers=headers).status_code == 200


def test_a_token_identifies_its_caller_from_any_site(local: Callers) -> None:
    assert local.having("read").get("/feeds", headers=FOREIGN).status_code == 200
    wrong = local.client(Authorization="Bearer none").get("/feeds", headers=FOREIGN)
    assert (wrong.status_code, wrong.json()["code"]) == (401, "token_unknown")


def test_every_response_has_a_same_origin_resource_policy(local: Callers) -> None:
    client = local.client()
    answers = [client.get(path) for path in ("/", "/feeds", "/healthz", "/readyz", "/none", "/dashboard/style.css")]
    answers += [client.get("/feeds", headers=FOREIGN), client.post("/feeds", content=b"{"), client.delete("/healthz")]
    answers += [httpx.get(f"{local.url}/websub/x", timeout=60), client.get("/opml"), client.get("/metrics")]
    assert {answer.headers["cross-origin-resource-policy"] for answer in answers} == {"same-origin"}
