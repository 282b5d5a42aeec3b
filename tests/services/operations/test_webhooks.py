"""Events as requests to a receiver on loopback."""

import asyncio
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import redis

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.http.url_gate import Gate
from feedcrawl.domain.operations.events import Event
from feedcrawl.domain.operations.webhooks import signature
from feedcrawl.outgoing.addresses import is_own
from feedcrawl.services.operations import consumer as consuming
from feedcrawl.services.operations import webhooks as module
from feedcrawl.services.operations.consumer import Consumer, backlog
from feedcrawl.services.operations.webhooks import Guard, Receiver, group_of, webhook
from feedcrawl.store.operations.streams import Events
from feedcrawl.store.redis import keys

SECRET = b"s" * 24
OPEN = Guard(Gate("127.0.0.1/32", ""), is_own)
NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)


class Server:
    """A receiver that keeps what it gets, and answers with the next of `statuses`, else 204."""

    def __init__(self) -> None:
        self.got: list[dict[str, object]] = []
        self.statuses: list[int] = []
        state = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                signed = [self.headers[name] for name in ("webhook-id", "webhook-timestamp")]
                assert self.headers["webhook-signature"] == signature(*signed, body, SECRET)
                status = state.statuses.pop(0) if state.statuses else 204
                state.got.append({"status": status, "path": self.path, **json.loads(body)})
                self.send_response(status)
                self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """No log."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook?token=s3cret"

    def ids(self, status: int = 204) -> list[object]:
        return [each["id"] for each in self.got if each["status"] == status]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


@pytest.fixture
def events(redis_client: redis.Redis) -> Events:
    return Events(redis_client, ttl_sec=3600)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consuming, "WAITS_SEC", (0.01,))
    monkeypatch.setattr(consuming, "IDLE_SEC", 0.01)


def publish(client: redis.Redis, events: Events, count: int, kind: str = "new_entry") -> list[str]:
    made = [Event(kind, f"{kind}:{number}", json.dumps({"number": number})) for number in range(count)]  # type: ignore[arg-type]
    with client.pipeline(transaction=False) as pipe:
        events.add(pipe, made)
        pipe.execute()
    return [each.id for each in made]


def made(events: Events, url: str, guard: Guard = OPEN, **details: object) -> Consumer:
    receiver = Receiver(url, guard, secret=SECRET, now=lambda: NOW, **details)  # type: ignore[arg-type]
    return webhook(events, receiver, url, worker="a")


def once(consumer: Consumer) -> bool:
    return asyncio.run(consumer.run(asyncio.Event(), once=True))


def until(consumer: Consumer, count: int) -> None:
    """Consume until so many events are sent or refused."""

    async def run() -> None:
        stop = asyncio.Event()
        running = asyncio.ensure_future(consumer.run(stop))
        while consumer.sent + consumer.refused < count:
            await asyncio.sleep(0.01)
        stop.set()
        assert await running

    asyncio.run(run())


def test_each_event_is_sent_once_and_in_order(redis_client: redis.Redis, events: Events, server: Server) -> None:
    sent = publish(redis_client, events, 5)
    assert once(made(events, server.url))
    assert server.ids() == sent
    assert server.got[0] == {
        "status": 204,
        "path": "/hook?token=s3cret",
        "type": "new_entry",
        "id": "new_entry:0",
        "data": {"number": 0},
    }
    assert once(made(events, server.url))
    assert len(server.got) == 5


def test_only_the_named_types_are_sent(redis_client: redis.Redis, events: Events, server: Server) -> None:
    publish(redis_client, events, 2)
    ready = publish(redis_client, events, 2, "article_ready")
    assert once(made(events, server.url, types=("article_ready",)))
    assert server.ids() == ready
    assert backlog(events, group_of(server.url)).unacknowledged == 0  # type: ignore[union-attr]


@pytest.mark.parametrize("status", [429, 503, 500])
def test_a_failed_event_is_repeated_without_the_events_before(
    redis_client: redis.Redis, events: Events, server: Server, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    sent = publish(redis_client, events, 4)
    server.statuses = [204, 204, status, status]
    until(made(events, server.url), 4)
    assert server.ids() == sent
    assert server.ids(status) == [sent[2]] * 2
    (waits,) = [record for record in caplog.records if record.msg == "webhook_waits"]
    assert waits.reason == "webhook_busy"  # type: ignore[attr-defined]
    assert "s3cret" not in waits.detail  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("status", "tries", "reason"),
    [(404, 1, "webhook_refused"), (302, 1, "webhook_refused"), (500, 8, "webhook_failed")],
)
def test_an_event_that_is_always_refused_is_kept_aside(
    redis_client: redis.Redis, events: Events, server: Server, status: int, tries: int, reason: str
) -> None:
    sent = publish(redis_client, events, 3)
    server.statuses = [204] + [status] * tries
    consumer = made(events, server.url)
    until(consumer, 3)
    assert server.ids() == [sent[0], sent[2]]
    assert len(server.got) == 2 + tries, "no redirect is followed"
    assert (consumer.sent, consumer.refused) == (2, 1)
    ((_, refused),) = redis_client.xrange(keys.EVENTS_REFUSED)
    assert (refused["id"], refused["group"], refused["reason"]) == (sent[1], group_of(server.url), reason)
    assert "s3cret" not in refused["detail"]


def test_an_unreachable_receiver_delays_no_other(redis_client: redis.Redis, events: Events, server: Server) -> None:
    sent = publish(redis_client, events, 3)
    away = made(events, "http://127.0.0.1:9/")
    assert not once(away)
    assert once(made(events, server.url))
    assert server.ids() == sent
    assert backlog(events, group_of("http://127.0.0.1:9/")).unacknowledged == 3  # type: ignore[union-attr]


def test_a_private_address_of_a_receiver_is_not_dialled(
    redis_client: redis.Redis, events: Events, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    publish(redis_client, events, 1)
    assert not once(made(events, server.url, Guard(Gate("", ""), is_own)))
    assert server.got == []
    assert [record.reason for record in caplog.records if record.msg == "webhook_waits"] == ["address_refused"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("address", "opens", "refused"),
    [
        ("10.0.0.7", "", True),
        ("10.0.0.7", "10.0.0.0/8", False),
        ("169.254.169.254", "", True),
        ("::ffff:169.254.169.254", "", True),
        ("93.184.216.34", "", False),
        ("93.184.216.35", "", True),  # this machine's own
        ("93.184.216.35", "93.184.216.35/32", False),
    ],
)
@pytest.mark.parametrize("name", ["hook.test", "receiver"])
def test_names_are_judged_by_their_addresses(
    tmp_path: Path, name: str, address: str, opens: str, refused: bool
) -> None:
    (tmp_path / "hosts").write_text(f"{address} {name}\n")
    guard = Guard(Gate(opens, ""), lambda ip: ip == "93.184.216.35", tmp_path / "hosts")
    if refused:
        with pytest.raises(InvalidUrl, match="address_refused"):
            asyncio.run(guard.addresses(f"https://{name}/x"))
    else:
        assert asyncio.run(guard.addresses(f"https://{name}/x")) == [address]


def test_a_slow_receiver_keeps_its_turn_short(
    redis_client: redis.Redis, events: Events, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_SEC", -1.0)
    sent = publish(redis_client, events, 2)
    consumer = made(events, server.url)
    assert not once(consumer)
    monkeypatch.undo()
    until(consumer, 2)
    assert server.ids() == sent
