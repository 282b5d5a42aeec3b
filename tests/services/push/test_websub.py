"""Asking hubs, and what follows when they do not do as they say; the clock is the test's."""

import hmac
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
import redis
from polls import feed_poll
from scrapy.settings import Settings

from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.push.leases import relied_on
from feedcrawl.domain.push.protocol import Intent, Topic
from feedcrawl.domain.subscriptions.specs import SubscriptionSpec
from feedcrawl.services.push.websub import WebSub
from feedcrawl.services.subscriptions.registering import subscribe
from feedcrawl.settings import from_environment
from feedcrawl.wiring import Wiring

HUB, TOPIC = "http://hub.test/", "http://news.test/feed"


class Hubs:
    """The service of a feed, with a clock."""

    def __init__(self, wired: Wiring) -> None:
        self.wired, self.now = wired, datetime.now(UTC)
        stores = (wired.hub_subscriptions, wired.registry, wired.frontier)
        self.service = WebSub(stores, "https://push.test/base/", sha1=False, now=lambda: self.now)
        self.feed_id, _ = subscribe(wired.registry, wired.frontier, SubscriptionSpec(TOPIC), self.now)
        (lease,) = wired.frontier.take(1).leases
        wired.frontier.done(lease, status="pending", reason="fetched", delay_sec=9000)

    def later(self, **how: float) -> None:
        self.now += timedelta(**how)

    @property
    def at(self) -> float:
        return self.now.timestamp()

    @property
    def push(self) -> Any:
        return self.wired.hub_subscriptions.find(self.feed_id)

    def look(self) -> float:
        return self.service.request_due_sec(self.feed_id, self.push, Topic(HUB, TOPIC))

    def request_hub(self) -> dict[str, str]:
        return dict(parse_qsl(self.service.subscribe_form(self.feed_id, Topic(HUB, TOPIC)).decode()))

    def subscribe(self) -> None:
        token = self.request_hub()["hub.callback"].rpartition("/")[2]
        self.service.intent(token, Intent("subscribe", TOPIC, "challenge", "86400"))

    def rely(self) -> None:
        self.subscribe()
        self.wired.hub_subscriptions.update(self.feed_id, lambda old: old and replace(old, pushes=1))

    def due(self) -> list[str]:
        return [lease.task.id for lease in self.wired.frontier.take(9).leases]

    def poll(self, **how: Any) -> Any:
        feed = self.wired.registry.load([self.feed_id])[self.feed_id]
        result = "http_503" if how.pop("failed", False) else "fetched"
        return feed_poll(None, "x", self.now, None, result, feed, **{"push": self.push} | how)


@pytest.fixture
def hubs(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Hubs]:
    given = {"REDIS_URL": redis_server, "FEEDCRAWL_DATA_DIR": str(tmp_path), "FEEDCRAWL_HOST_DELAY_SEC": 0}
    with closing(Wiring(Settings(from_environment({}) | given))) as wired:
        yield Hubs(wired)


def test_each_request_to_a_hub_has_a_callback_and_a_secret_of_its_own(hubs: Hubs) -> None:
    first, second = hubs.request_hub(), hubs.request_hub()
    assert first["hub.callback"].startswith("https://push.test/base/websub/")
    assert {name: first[name] for name in ("hub.mode", "hub.topic", "hub.lease_seconds")} == {
        "hub.mode": "subscribe",
        "hub.topic": TOPIC,
        "hub.lease_seconds": "604800",
    }
    for name in ("hub.callback", "hub.secret"):
        assert first[name] != second[name]
        assert len(first[name]) >= 64
    assert first["hub.callback"].rpartition("/")[2] not in str(hubs.push)  # the token itself is not kept


def test_a_verified_hub_is_requested_again_before_its_lease_ends(hubs: Hubs) -> None:
    assert hubs.look() == 0
    hubs.request_hub()
    assert hubs.service.wait(hubs.feed_id) == 600
    assert hubs.look() == 0  # the callback of the request is gone
    hubs.subscribe()
    assert 0.74 * 86_400 < hubs.look() < 0.86 * 86_400
    hubs.later(hours=21)
    assert hubs.look() == 0


def test_a_hub_that_never_verifies_is_requested_ever_more_rarely_and_logged_once(
    hubs: Hubs, caplog: pytest.LogCaptureFixture
) -> None:
    waits = []
    for _ in range(4):
        hubs.request_hub()
        hubs.later(seconds=601)
        waits.append(hubs.look())
    assert [600 * 2**n <= wait <= 690 * 2**n for n, wait in enumerate(waits)] == [True] * 4
    assert hubs.push.reason == "unverified"
    assert len([record for record in caplog.records if record.levelname == "WARNING"]) == 1


def test_a_verification_after_10_minutes_is_refused(hubs: Hubs) -> None:
    token = hubs.request_hub()["hub.callback"].rpartition("/")[2]
    hubs.later(seconds=600)
    with pytest.raises(Refusal, match="unknown_callback"):
        hubs.service.intent(token, Intent("subscribe", TOPIC, "challenge", "86400"))


def test_a_feed_that_relied_on_a_failed_hub_is_polled_at_once(hubs: Hubs) -> None:
    hubs.rely()
    assert relied_on(hubs.push, now=hubs.at)
    assert hubs.due() == []
    assert hubs.service.fail(hubs.feed_id, "http_503", at_least_sec=5000) == 5000
    assert not relied_on(hubs.push, now=hubs.at)
    assert hubs.due() == [f"feed:{hubs.feed_id}"]


def test_a_denial_has_the_feed_polled_at_once(hubs: Hubs) -> None:
    hubs.rely()
    token = hubs.request_hub()["hub.callback"].rpartition("/")[2]
    hubs.service.intent(token, Intent("denied", TOPIC))
    assert hubs.due() == [f"feed:{hubs.feed_id}"]
    hubs.later(seconds=600)  # when its task looks for a verification
    assert hubs.look() == 7 * 86_400 - 600
    hubs.later(days=7)
    assert hubs.look() == 0


def test_a_failure_of_a_hub_that_was_not_relied_on_changes_no_schedule(hubs: Hubs) -> None:
    hubs.request_hub()
    hubs.service.fail(hubs.feed_id, "http_503")
    assert hubs.due() == []


def test_a_hub_that_a_poll_names_is_requested_and_a_new_hub_replaces_it(hubs: Hubs) -> None:
    hubs.service.seen(hubs.poll(topic=Topic(HUB, TOPIC), failed=True))
    assert hubs.due() == []
    for _ in range(2):
        hubs.service.seen(hubs.poll(topic=Topic(HUB, TOPIC)))
    assert hubs.due() == [f"websub:{hubs.feed_id}"]
    hubs.subscribe()
    hubs.service.seen(hubs.poll(topic=Topic(HUB, TOPIC)))  # as it was
    assert hubs.due() == []
    hubs.service.seen(hubs.poll(topic=Topic("http://other.test/", TOPIC)))
    assert hubs.service.request_due_sec(hubs.feed_id, hubs.push, Topic("http://other.test/", TOPIC)) == 0
    assert hubs.look() > 0  # what the former hub holds is no reason to wait
    tasks = {lease.task.host: lease.task for lease in hubs.wired.frontier.take(9).leases}
    assert (tasks["other.test"].url, tasks["other.test"].payload) == ("http://other.test/", {"topic": TOPIC})
    left = tasks["hub.test"]  # the former hub is left
    token = left.payload["leaves"].rpartition("/")[2]
    intent = Intent("unsubscribe", TOPIC, "challenge")
    with pytest.raises(Refusal, match="not_asked"):
        hubs.service.intent(token, intent)
    form = dict(parse_qsl(hubs.service.unsubscribe_form(left).decode()))
    assert form == {"hub.mode": "unsubscribe", "hub.topic": TOPIC, "hub.callback": left.payload["leaves"]}
    assert hubs.service.intent(token, intent) == "challenge"
    with pytest.raises(Refusal, match="not_asked"):
        hubs.service.intent(token, replace(intent, topic="http://news.test/other"))


def test_a_delivery_repeated_during_its_poll_causes_no_poll(hubs: Hubs) -> None:
    token, body = hubs.request_hub()["hub.callback"].rpartition("/")[2], b"<rss/>"
    hubs.service.intent(token, Intent("subscribe", TOPIC, "challenge", "86400"))
    secret = hubs.push.current.secret
    signatures = [f"sha256={hmac.new(secret.encode(), body, 'sha256').hexdigest()}"]
    assert hubs.service.deliver(token, signatures, "application/rss+xml", body) == "kept"
    (lease,) = hubs.wired.frontier.take(9).leases
    assert lease.history.again == "delivery"
    assert hubs.service.deliver(token, signatures, "application/rss+xml", body) == "replayed"
    commit = hubs.wired.hub_subscriptions.read(hubs.feed_id)
    hubs.wired.frontier.done(lease, status="pending", reason="push", delay_sec=9000, commit=commit)
    (lease,) = hubs.wired.frontier.take(9).leases  # the repetition may be one whose delivery was never queued
    assert lease.history.again == "delivery"
    assert hubs.wired.hub_subscriptions.waiting(hubs.feed_id) == 0
    feed = hubs.wired.registry.load([hubs.feed_id])[hubs.feed_id]
    later = rfc3339(hubs.now + timedelta(hours=2))
    waits = [
        (again, next_at, hubs.service.unread_wait_sec(replace(feed, polls=replace(feed.polls, next_at=next_at)), again))
        for again in ("delivery", "push", None)
        for next_at in (later, rfc3339(hubs.now), None)
    ]
    assert [(again, next_at) for again, next_at, wait in waits if wait > 0] == [("delivery", later)]
    assert waits[0][-1] == pytest.approx(7200, abs=1)


def test_no_hub_is_requested_without_a_public_url(hubs: Hubs) -> None:
    wired = hubs.wired
    without = WebSub((wired.hub_subscriptions, wired.registry, wired.frontier), None, sha1=False, now=lambda: hubs.now)
    assert not without.on
    without.seen(hubs.poll(topic=Topic(HUB, TOPIC)))
    assert hubs.due() == []
