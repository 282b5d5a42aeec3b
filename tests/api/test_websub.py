"""What hubs, and those who say that they are hubs, get at a callback: over real HTTP, on a real store."""

import hashlib
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import httpx
import pytest
import redis
from api import free_port, serving
from callers import callers
from hub import signature
from scrapy.settings import Settings

from feedcrawl.domain.push.protocol import Topic, token_of
from feedcrawl.domain.subscriptions.specs import SubscriptionSpec
from feedcrawl.services.push.websub import MAX_BYTES
from feedcrawl.services.subscriptions.registering import subscribe, unsubscribe
from feedcrawl.settings import from_environment
from feedcrawl.store.push.websub import Delivery
from feedcrawl.wiring import Wiring

TOPIC = "http://news.test/feed"
BODY = b"<rss version='2.0'><channel><title>\xff</title></channel></rss>"


class Pushed:
    """A feed with a requested hub subscription, and a client of the API."""

    def __init__(self, wired: Wiring, client: httpx.Client) -> None:
        self.wired, self.client = wired, client
        self.feed_id, _ = subscribe(wired.registry, wired.frontier, SubscriptionSpec(TOPIC), datetime.now(UTC))
        self.request_hub()

    def request_hub(self) -> None:
        form = dict(
            parse_qsl(self.wired.websub.subscribe_form(self.feed_id, Topic("http://hub.test/", TOPIC)).decode())
        )
        self.path, self.secret = "/websub/" + form["hub.callback"].rpartition("/")[2], form["hub.secret"]

    def intent(self, path: str | None = None, **fields: str) -> httpx.Response:
        given = {"mode": "subscribe", "topic": TOPIC, "challenge": "4f3a", "lease_seconds": "864000", **fields}
        return self.client.get(path or self.path, params={f"hub.{name}": value for name, value in given.items()})

    def post(self, body: Any = BODY, *signatures: str, path: str | None = None, **headers: str) -> httpx.Response:
        signed = signatures or (signature(self.secret, body),)
        named = [("Content-Type", "application/rss+xml"), *(("X-Hub-Signature", each) for each in signed if each)]
        named += [(name.replace("_", "-"), value) for name, value in headers.items()]
        return self.client.post(path or self.path, content=body, headers=named)

    @property
    def waiting(self) -> int:
        return self.wired.hub_subscriptions.waiting(self.feed_id)


@pytest.fixture
def unverified(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Pushed]:
    port = free_port()
    given = {"REDIS_URL": redis_server, "FEEDCRAWL_DATA_DIR": str(tmp_path), "FEEDCRAWL_SHARDS": 3}
    wired = Wiring(Settings(from_environment({}) | given | {"FEEDCRAWL_PUBLIC_URL": f"http://127.0.0.1:{port}"}))
    with serving(wired, port) as url, httpx.Client(base_url=url, timeout=60) as client:
        yield Pushed(wired, client)
    wired.close()


@pytest.fixture
def pushed(unverified: Pushed) -> Pushed:
    assert unverified.intent().status_code == 200
    return unverified


def test_the_challenge_of_a_requested_subscription_is_echoed_once(unverified: Pushed) -> None:
    answer = unverified.intent()
    assert (answer.status_code, answer.text) == (200, "4f3a")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert unverified.intent().status_code == 404


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({"topic": "http://other.test/"}, "wrong_topic"),
        ({"mode": "unsubscribe"}, "not_asked"),
        ({"mode": "<b>"}, "not_asked"),
        ({"challenge": "<script>alert(1)</script>"}, "bad_challenge"),
        ({"challenge": "x" * 20_000}, "bad_challenge"),
        ({"lease_seconds": "1000000000000"}, "bad_lease"),
        ({"path": "/websub/" + token_of("0b5bca8e-6b5a-4b0e-9f4f-0d1a2b3c4d5e", bytes(32))}, "unknown_callback"),
        ({"path": "/websub/x"}, "unknown_callback"),
    ],
)
def test_no_other_verification_is_accepted_or_echoed(unverified: Pushed, parameters: dict[str, str], code: str) -> None:
    answer = unverified.intent(**parameters)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.json()["code"], answer.json()["type"]) == (code, f"urn:feedcrawl:{code}")
    assert parameters.get("challenge", "4f3a") not in answer.text
    push = unverified.wired.hub_subscriptions.find(unverified.feed_id)
    assert push is not None
    assert push.current is None


def test_a_delivery_is_stored_and_its_feed_due_when_the_hub_is_answered(pushed: Pushed) -> None:
    (lease,) = pushed.wired.frontier.take(1).leases
    pushed.wired.frontier.done(lease, status="pending", reason="fetched", delay_sec=900)
    assert pushed.post().status_code == 202
    task = pushed.wired.frontier.find(f"feed:{pushed.feed_id}")
    assert task is not None
    assert task[1].again == "delivery"
    found = pushed.wired.hub_subscriptions.load([pushed.feed_id])[pushed.feed_id]
    assert found.delivery is not None
    assert (found.delivery.body, found.delivery.content_type, found.waiting) == (BODY, "application/rss+xml", 1)


@pytest.mark.parametrize(
    "signatures",
    [
        ("",),
        ("sha256=",),
        ("sha256=" + "0" * 64,),
        (signature("another secret", BODY),),
        ("sha1",),
        ("sha256", "sha256"),
        ("sha256", "sha256=0"),
    ],
)
def test_a_delivery_with_a_wrong_signature_is_answered_alike_and_ignored(
    pushed: Pushed, signatures: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    named = [signature(pushed.secret, BODY, each) if each.isalnum() else each for each in signatures]
    answer = pushed.post(BODY, *named)
    assert (answer.status_code, answer.content) == (202, b"")
    assert pushed.waiting == 0
    assert [record.message for record in caplog.records if record.levelname == "WARNING"] == ["push_ignored"]


def test_a_delivery_before_the_verification_is_refused(unverified: Pushed) -> None:
    assert unverified.post().status_code == 404
    assert unverified.waiting == 0


def test_a_wrong_token_is_not_found(pushed: Pushed) -> None:
    wrong = "/websub/" + token_of(pushed.feed_id, bytes(32))
    for path in (wrong, "/websub/x", "/websub/" + "a" * 5000):
        answer = pushed.post(path=path)
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown_callback")


def test_a_body_of_a_delivery_with_an_unknown_token_is_not_read(pushed: Pushed) -> None:
    base = pushed.client.base_url
    with socket.create_connection((base.host, base.port), timeout=60) as connection:
        head = f"POST /websub/nobody HTTP/1.1\r\nHost: a\r\nContent-Length: {MAX_BYTES}\r\n\r\n"
        connection.sendall(head.encode())  # and not a byte of the body
        answer = b""
        while more := connection.recv(65_536):
            answer += more
    assert b" 404 " in answer
    assert b'"unknown_callback"' in answer


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_strangers_may_ask_as_often_as_others(
    redis_server: str, redis_client: redis.Redis, tmp_path: Path, method: str
) -> None:
    with callers(redis_server, tmp_path, API_WRITE_RATE=60, API_RATE=60) as public:
        client = public.client()
        answers = [client.request(method, "/websub/nobody").status_code for _ in range(20)]
        assert set(answers) == {404, 429}
        assert answers[-1] == 429


def test_an_unsubscribed_feed_is_pushed_no_more(pushed: Pushed) -> None:
    pushed.post()
    assert unsubscribe(pushed.wired.registry, pushed.wired.frontier, pushed.feed_id)
    assert pushed.post().status_code == 404
    assert (pushed.waiting, pushed.wired.hub_subscriptions.count()) == (0, 0)


def test_a_delivery_has_a_largest_size(pushed: Pushed) -> None:
    whole = b"x" * MAX_BYTES
    assert pushed.post(whole).status_code == 202
    assert pushed.waiting == 1
    answer = pushed.post(whole + b"x")
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    pieces = pushed.client.post(pushed.path, content=iter([whole, b"x"]))
    assert pieces.status_code == 413
    assert pushed.waiting == 1


def test_an_encoded_delivery_is_refused(pushed: Pushed) -> None:
    answer = pushed.post(Content_Encoding="gzip")
    assert (answer.status_code, answer.json()["code"]) == (415, "bad_encoding")


def test_a_replay_is_the_same_delivery(pushed: Pushed) -> None:
    assert {pushed.post().status_code for _ in range(50)} == {202}
    assert pushed.waiting == 1
    pushed.wired.client.delete(*pushed.wired.client.keys("fc:*deliveries:*"))  # it has been read
    assert pushed.post().status_code == 202
    assert pushed.waiting == 0


def test_a_delivery_repeated_after_a_kill_is_accepted(pushed: Pushed) -> None:
    (lease,) = pushed.wired.frontier.take(1).leases
    pushed.wired.frontier.done(lease, status="pending", reason="fetched", delay_sec=900)
    pushed.wired.hub_subscriptions.keep(pushed.feed_id, Delivery("", BODY), hashlib.sha256(BODY).hexdigest())
    assert pushed.post().status_code == 202
    assert pushed.waiting == 1
    task = pushed.wired.frontier.find(f"feed:{pushed.feed_id}")
    assert task is not None
    assert task[1].again == "delivery"


def test_a_hub_gets_503_while_too_many_deliveries_wait(pushed: Pushed) -> None:
    assert [pushed.post(BODY + bytes([n])).status_code for n in range(4)] == [202] * 4
    answer = pushed.post(BODY + b"more")
    assert (answer.status_code, answer.json()["code"]) == (503, "push_queue_full")
    assert answer.headers["retry-after"].isdigit()
    assert pushed.waiting == 4


def test_pings_poll_once_a_minute(pushed: Pushed) -> None:
    polls = []
    for _ in range(3):
        assert pushed.post(b" ").status_code == 202
        push = pushed.wired.hub_subscriptions.find(pushed.feed_id)
        assert push is not None
        polls.append(push.poll_due_at)
    assert pushed.waiting == 0
    assert polls[1] == polls[2] == polls[0] + 60
    assert not pushed.wired.frontier.take(1).leases  # the second ping waits for its minute


def test_a_denial_ends_the_subscription_and_a_forged_denial_does_not(pushed: Pushed) -> None:
    assert pushed.intent(mode="denied", topic="http://other.test/").status_code == 404
    assert pushed.post().status_code == 202
    assert pushed.intent(mode="denied").status_code == 200
    assert pushed.post(BODY + b"2").status_code == 404


def test_the_callback_before_a_renewal_is_accepted_for_a_while(pushed: Pushed) -> None:
    before, secret = pushed.path, pushed.secret
    pushed.request_hub()
    assert pushed.path != before
    assert pushed.secret != secret
    assert pushed.intent().status_code == 200
    assert pushed.post(BODY, signature(secret, BODY), path=before).status_code == 202
    assert pushed.post(BODY + b"2").status_code == 202
    assert pushed.post(BODY + b"3", signature(secret, BODY + b"3")).status_code == 202
    assert pushed.waiting == 2  # the new callback has a secret of its own
