"""Whether the process lives and whether it can work, and that errors are problems."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from api import free_port, serving
from redis_process import running_redis
from scrapy.settings import Settings

from feedcrawl.settings import from_environment
from feedcrawl.wiring import Wiring


@pytest.fixture
def away(tmp_path: Path) -> Iterator[httpx.Client]:
    """An API whose server has gone."""
    with running_redis() as url:
        given = {"REDIS_URL": url, "FEEDCRAWL_DATA_DIR": str(tmp_path)}
        wired = Wiring(Settings(from_environment({}) | given))
        _ = wired.connection
    with serving(wired, free_port()) as url, httpx.Client(base_url=url, timeout=60) as client:
        yield client
    wired.close()


def test_a_process_without_its_store_is_alive_and_not_ready(away: httpx.Client) -> None:
    assert away.get("/healthz").json() == {"status": "ok"}
    for path in ("/readyz", "/websub/" + "A" * 64):
        answer = away.get(path)
        assert answer.status_code == 503
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["retry-after"] == "30"
        health = answer.json()
        assert (health["code"], health["type"], health["status"]) == ("unreachable", "urn:feedcrawl:unreachable", 503)
        assert health["title"] == "Service Unavailable"
        assert health["detail"]


def test_the_api_is_ready_when_its_store_is(redis_server: str, redis_client: object, tmp_path: Path) -> None:
    given = {"REDIS_URL": redis_server, "FEEDCRAWL_DATA_DIR": str(tmp_path)}
    wired = Wiring(Settings(from_environment({}) | given))
    with serving(wired, free_port()) as url:
        assert httpx.get(f"{url}/readyz", timeout=60).json() == {"status": "ready"}
        for method, path, status in (("GET", "/none", 404), ("DELETE", "/healthz", 405)):
            answer = httpx.request(method, url + path, timeout=60)
            assert answer.status_code == status
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["code"] == {404: "not_found", 405: "method_not_allowed"}[status]
        wired.client.flushall()  # another server, for all that the data directory knows
        answer = httpx.get(f"{url}/readyz", timeout=60)
        assert (answer.status_code, answer.json()["code"]) == (503, "emptied")
    wired.close()
