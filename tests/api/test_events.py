import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
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
    with serving(wired, free_port()) as url, httpx.Client(base_url=url, timeout=60) as made:
        yield made


def publish(wired: Wiring, *names: str) -> list[str]:
    with wired.client.pipeline() as pipe:
        wired.events.add(pipe, [event("new_entry", name, {"title": f"é\n{name}"}) for name in names])
        return pipe.execute()


def test_pages_as_ndjson(wired: Wiring, client: httpx.Client) -> None:
    cursors = publish(wired, "a", "b", "c")
    first = client.get("/events", params={"limit": 2})
    assert (first.status_code, first.headers["content-type"]) == (200, "application/x-ndjson")
    assert first.headers["x-cursor"] == cursors[1]
    assert [json.loads(line)["id"] for line in first.text.splitlines()] == ["new_entry:a", "new_entry:b"]
    second = client.get("/events", params={"after": first.headers["x-cursor"]})
    assert [json.loads(line)["data"] for line in second.text.splitlines()] == [{"title": "é\nc"}]
    empty = client.get("/events", params={"types": "article_ready,article_failed"})
    assert (empty.text, empty.headers["x-cursor"]) == ("", cursors[2])


@pytest.mark.parametrize(
    ("query", "code"), [("after=x", "bad_cursor"), ("limit=0", "bad_limit"), ("types=weather", "unknown_type")]
)
@pytest.mark.parametrize("accept", ["*/*", "text/event-stream"])
def test_a_bad_parameter_of_events_is_a_problem(client: httpx.Client, query: str, code: str, accept: str) -> None:
    if code == "bad_limit":  # a stream has none
        accept = "*/*"
    answer = client.get(f"/events?{query}", headers={"Accept": accept})
    assert (answer.status_code, answer.json()["code"]) == (400, code)


def test_a_stream_sends_stored_events_and_later_events(wired: Wiring, client: httpx.Client) -> None:
    cursors = publish(wired, "a", "b")
    headers = {"Accept": "text/event-stream", "Last-Event-ID": cursors[0]}
    with client.stream("GET", "/events", headers=headers) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.iter_lines()
        assert [next(lines), next(lines)] == [f"id: {cursors[1]}", "event: new_entry"]
        assert json.loads(next(lines).removeprefix("data: "))["data"] == {"title": "é\nb"}
        assert [next(lines), next(lines)] == ["", ": alive"]
        (later,) = publish(wired, "c")
        assert next(line for line in lines if line.startswith("id: ")) == f"id: {later}"


def test_events_need_a_token_beyond_this_machine(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> None:
    own = {"REDIS_URL": redis_server, "FEEDCRAWL_DATA_DIR": str(tmp_path), "FEEDCRAWL_API_HOST": "0.0.0.0"}
    wired = Wiring(Settings(from_environment({}) | own))
    with serving(wired, free_port()) as url:
        assert httpx.get(f"{url}/events", timeout=60).status_code == 401
        assert httpx.get(f"{url}/healthz", timeout=60).status_code == 200
    wired.close()


def test_the_type_of_another_program_adds_no_line(wired: Wiring, client: httpx.Client) -> None:
    wired.client.xadd(EVENTS, {"type": "x\nretry: 1", "data": "{}"})
    with client.stream("GET", "/events", headers={"Accept": "text/event-stream"}) as answer:
        lines = answer.iter_lines()
        assert [next(lines).partition(":")[0] for _ in range(4)] == ["id", "event", "data", ""]


async def statuses(urls: list[tuple[str, dict[str, str]]], while_open: Callable[[], None]) -> Counter[int]:
    """The statuses of streams that are requested at once; the open streams end with this function."""
    found, over = Counter[int](), asyncio.Event()

    async def read_status(client: httpx.AsyncClient, url: str, headers: dict[str, str]) -> None:
        async with client.stream("GET", url, headers={"Accept": "text/event-stream", **headers}) as answer:
            found[answer.status_code] += 1
            await over.wait()

    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    async with httpx.AsyncClient(timeout=60, limits=limits) as client:
        tasks = [asyncio.create_task(read_status(client, *each)) for each in urls]
        while found.total() < len(urls):
            await asyncio.sleep(0.01)
        await asyncio.to_thread(while_open)
        over.set()
        await asyncio.gather(*tasks)
    return found


def test_streams_are_limited_in_total_and_per_caller(
    redis_server: str, redis_client: redis.Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(route, "MAX_STREAMS", 6)
    monkeypatch.setattr(route, "MAX_STREAMS_OF_ONE", 4)
    monkeypatch.setattr(route, "LOOK_SEC", 0.05)
    monkeypatch.setattr(route, "ALIVE_SEC", 0.1)
    with callers(redis_server, tmp_path, API_HOST="0.0.0.0") as public:
        ada, eve = ({"Authorization": f"Bearer {public.token('read', name)}"} for name in ("ada", "eve"))
        url = f"{public.url}/events"

        def while_open() -> None:
            refused = httpx.get(url, headers={"Accept": "text/event-stream", **eve}, timeout=60)
            assert (refused.status_code, refused.json()["code"]) == (503, "too_many_streams")
            assert refused.headers["retry-after"] == "30"
            assert httpx.get(url, headers=eve, timeout=60).status_code == 200  # a page

        assert asyncio.run(statuses([(url, ada)] * 18 + [(url, eve)] * 18, while_open)) == {200: 6, 503: 30}
        end, found = time.monotonic() + 10, Counter[int]()
        while found != {200: 4, 503: 8} and time.monotonic() < end:  # those that have ended count no more
            found = asyncio.run(statuses([(url, ada)] * 12, lambda: None))
        assert found == {200: 4, 503: 8}


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
            publish(public.wired, "a")
            assert not [line for line in lines if line.startswith("data")][1:]
