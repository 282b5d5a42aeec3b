import json
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import redis
from api import free_port, serving
from callers import callers
from scrapy.settings import Settings

from feedcrawl.api.routes.machine import events as route
from feedcrawl.domain.operations.events import event
from feedcrawl.settings import from_environment
from feedcrawl.store.redis.keys import EVENTS
from feedcrawl.wiring import Wiring


@pytest.fixture
def wired(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Wiring]:
    made = Wiring(Settings(from_environment({}) | {"REDIS_URL": redis_server, "FEEDCRAWL_DATA_DIR": str(tmp_path)}))
    yield made
    made.close()


@pytest.fixture
def client(wired: Wiring, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    monkeypatch.setattr(route, "LOOK_SEC", 0.05)
    monkeypatch.setattr(route, "ALIVE_SEC", 0.1)
    with serving(wired, free_port()) as url, httpx.Client(base_url=url, timeout=10) as made:
        yield made


def tell(wired: Wiring, *names: str) -> list[str]:
    with wired.client.pipeline() as pipe:
        wired.events.add(pipe, [event("new_entry", name, {"title": f"é\n{name}"}) for name in names])
        return pipe.execute()


def test_pages_as_ndjson(wired: Wiring, client: httpx.Client) -> None:
    cursors = tell(wired, "a", "b", "c")
    first = client.get("/events", params={"limit": 2})
    assert (first.status_code, first.headers["content-type"]) == (200, "application/x-ndjson")
    assert first.headers["x-cursor"] == cursors[1]
    assert [json.loads(line)["id"] for line in first.text.splitlines()] == ["new_entry:a", "new_entry:b"]
    second = client.get("/events", params={"after": first.headers["x-cursor"]})
    assert [json.loads(line)["data"] for line in second.text.splitlines()] == [{"title": "é\nc"}]
    none = client.get("/events", params={"types": "article_ready,article_failed"})
    assert (none.text, none.headers["x-cursor"]) == ("", cursors[2])


@pytest.mark.parametrize(
    ("query", "code"), [("after=x", "bad_cursor"), ("limit=0", "bad_limit"), ("types=weather", "unknown_type")]
)
@pytest.mark.parametrize("accept", ["*/*", "text/event-stream"])
def test_what_cannot_be_meant_is_a_problem(client: httpx.Client, query: str, code: str, accept: str) -> None:
    if code == "bad_limit":  # a stream has none
        accept = "*/*"
    answer = client.get(f"/events?{query}", headers={"Accept": accept})
    assert (answer.status_code, answer.json()["code"]) == (400, code)


def test_a_stream_tells_what_is_there_and_what_comes(wired: Wiring, client: httpx.Client) -> None:
    cursors = tell(wired, "a", "b")
    headers = {"Accept": "text/event-stream", "Last-Event-ID": cursors[0]}
    with client.stream("GET", "/events", headers=headers) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.iter_lines()
        assert [next(lines), next(lines)] == [f"id: {cursors[1]}", "event: new_entry"]
        assert json.loads(next(lines).removeprefix("data: "))["data"] == {"title": "é\nb"}
        assert [next(lines), next(lines)] == ["", ": alive"]
        (later,) = tell(wired, "c")
        assert next(line for line in lines if line.startswith("id: ")) == f"id: {later}"


def test_beyond_this_machine_it_asks_for_a_token(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> None:
    own = {"REDIS_URL": redis_server, "FEEDCRAWL_DATA_DIR": str(tmp_path), "FEEDCRAWL_API_HOST": "0.0.0.0"}
    wired = Wiring(Settings(from_environment({}) | own))
    with serving(wired, free_port()) as url:
        assert httpx.get(f"{url}/events").status_code == 401
        assert httpx.get(f"{url}/healthz").status_code == 200
    wired.close()


def test_the_type_of_another_program_adds_no_line(wired: Wiring, client: httpx.Client) -> None:
    wired.client.xadd(EVENTS, {"type": "x\nretry: 1", "data": "{}"})
    with client.stream("GET", "/events", headers={"Accept": "text/event-stream"}) as answer:
        lines = answer.iter_lines()
        assert [next(lines).partition(":")[0] for _ in range(4)] == ["id", "event", "data", ""]


def test_so_many_streams_are_open_at_a_time(
    wired: Wiring, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(route, "MAX_STREAMS", 1)
    headers = {"Accept": "text/event-stream"}
    with client.stream("GET", "/events", headers=headers) as first:
        lines = first.iter_lines()  # once it is dropped the stream ends
        assert next(lines) == ": alive"
        with httpx.Client(base_url=client.base_url) as other:
            refused = other.get("/events", headers=headers)
            assert (refused.status_code, refused.json()["code"]) == (503, "too_many_streams")
            assert refused.headers["retry-after"] == "30"
            assert other.get("/events").status_code == 200  # a page
    end = time.monotonic() + 10
    while time.monotonic() < end:
        with client.stream("GET", "/events", headers=headers) as again:
            if again.status_code == 200:
                return
        time.sleep(0.05)
    pytest.fail("a stream that has ended counts on")


def test_a_stream_ends_with_its_token(
    redis_server: str, redis_client: redis.Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(route, "LOOK_SEC", 0.05)
    with callers(redis_server, tmp_path, API_HOST="0.0.0.0") as public:
        client = public.having("read")
        with client.stream("GET", "/events", headers={"Accept": "text/event-stream"}) as answer:
            lines = answer.iter_lines()
            assert next(lines) == ": alive"
            (token,) = public.wired.tokens.all()
            public.wired.tokens.drop(token.id)
            tell(public.wired, "a")
            assert not [line for line in lines if line.startswith("data")][1:]
