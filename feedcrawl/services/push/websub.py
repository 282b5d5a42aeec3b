"""WebSub (W3C) and rssCloud: requests subscriptions from hubs, verifies them, and takes their deliveries.

The worker sends requests and reads deliveries; the API process answers hubs. A request is stored before it is answered
with 2xx.
"""

from __future__ import annotations

import hashlib
import logging
import random
import secrets
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from feedcrawl.domain.dates import moment
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.domain.push import leases, protocol, rsscloud
from feedcrawl.domain.push.protocol import Intent
from feedcrawl.domain.urls import hostname
from feedcrawl.services.subscriptions.journal import push_line
from feedcrawl.services.subscriptions.registering import poll_task
from feedcrawl.store.push.websub import Delivery

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from feedcrawl.domain.frontier.payloads import Payload
    from feedcrawl.domain.push.leases import Callback, HubSubscription
    from feedcrawl.domain.push.protocol import Topic
    from feedcrawl.domain.subscriptions.records import Feed
    from feedcrawl.items import FeedPoll
    from feedcrawl.store.frontier.interface import EndingFields, Frontier
    from feedcrawl.store.push.websub import HubSubscriptions
    from feedcrawl.store.subscriptions.registry import Registry

logger = logging.getLogger(__name__)

UNKNOWN_CALLBACK = "unknown_callback"
MAX_BYTES = 5 << 20
"""The most bytes of one delivery. A body is decoded only after its signature is verified, and a feed's own limit
is larger.
"""


class WebSub:
    """Methods may raise StoreUnavailable. `public_url` is where hubs reach the API; without it no hub is
    requested.
    """

    def __init__(
        self,
        stores: tuple[HubSubscriptions, Registry, Frontier],
        public_url: str | None,
        *,
        sha1: bool,
        now: Callable[[], datetime],
    ) -> None:
        self._hub_subscriptions, self._registry, self._frontier = stores
        self._public_url = public_url.rstrip("/") if public_url else None
        self._sha1 = sha1
        self._now = now

    @property
    def on(self) -> bool:
        """True if hubs can reach the API."""
        return self._public_url is not None

    def subscribe_form(self, feed_id: str, topic: Topic) -> bytes:
        """The form that requests a subscription from a hub, with a callback and a secret that only this hub
        receives.
        """
        token, secret = protocol.token_of(feed_id, secrets.token_bytes(32)), secrets.token_hex(32)
        now, callback = self._at(), f"{self._public_url}/{topic.protocol}/{token}"
        key = leases.Callback(protocol.digest_of(token), secret, 0.0, callback)
        self._hub_subscriptions.update(feed_id, lambda push: leases.requested(push, topic, key, now=now))
        if topic.protocol == "rsscloud":
            return urlencode(rsscloud.registration(topic.topic, callback)).encode()
        form = {
            "hub.mode": "subscribe",
            "hub.topic": topic.topic,
            "hub.callback": callback,
            "hub.lease_seconds": str(round(protocol.REQUESTED_LEASE_SEC)),
            "hub.secret": secret,
        }
        return urlencode(form).encode()

    def unsubscribe_form(self, task: Task) -> bytes:
        """The form that asks a hub to end a subscription; the hub may then verify that for a day."""
        topic, callback = task.payload["topic"], task.payload["leaves"]
        token = callback.rpartition("/")[2]
        feed_id = protocol.feed_of(token)
        if feed_id is not None:
            self._hub_subscriptions.leave(feed_id, protocol.digest_of(token), topic)
        return urlencode({"hub.mode": "unsubscribe", "hub.topic": topic, "hub.callback": callback}).encode()

    def request_due_sec(self, feed_id: str, push: HubSubscription | None, topic: Topic) -> float:
        """Seconds until a hub must be requested, 0 for now; a hub that was requested and did not verify in time has
        failed.

        A hub that may still verify is requested again: the task comes back before that time only if its worker is gone.
        """
        if push is None or (push.hub, push.topic) != (topic.hub, topic.topic):
            return 0.0
        now = self._at()
        if push.asked is not None and now >= push.asked.until:
            return self.fail(feed_id, "unverified")
        return max(push.renew_at - now, 0.0)

    def fail(self, feed_id: str, reason: str, *, at_least_sec: float = 0.0) -> float:
        """Note a failed request to a hub, and have its feed polled as if it had no hub; seconds until the next
        try.
        """
        before = self._hub_subscriptions.find(feed_id)
        push = self._hub_subscriptions.update(feed_id, lambda old: old and leases.failed(old, reason))
        if push is None:
            return 0.0
        self._log_change(feed_id, push, "push_failed", reason)
        self._fall_back(feed_id, before)
        return max(leases.wait_sec(push, now=self._at()) * random.uniform(1, 1.15), at_least_sec)  # noqa: S311 - jitter

    def wait(self, feed_id: str) -> float:
        """Seconds until a subscription that a hub has accepted is checked again."""
        push = self._hub_subscriptions.find(feed_id)
        return leases.wait_sec(push, now=self._at()) if push is not None else 0.0

    def intent(self, token: str, intent: Intent) -> str:
        """The challenge to echo to a hub that verifies or denies a subscription; Refusal if we requested none."""
        feed_id, digest, now = protocol.feed_of(token), protocol.digest_of(token), self._at()
        if intent.mode == "unsubscribe" and feed_id is not None:
            return self._left(feed_id, digest, intent)
        before = self._hub_subscriptions.find(feed_id) if feed_id else None
        refused = leases.refusal(before, digest, intent, now=now)
        if refused or feed_id is None:
            logger.info("push_intent_refused", extra={"feed_id": feed_id, "reason": refused or UNKNOWN_CALLBACK})
            raise Refusal(refused or UNKNOWN_CALLBACK, "no request of ours matches this verification")
        push = self._hub_subscriptions.update(feed_id, lambda old: self._intended(old, digest, intent, now))
        assert push is not None
        self._log_change(
            feed_id, push, "push_denied" if intent.mode == "denied" else "push_verified", intent.reason or ""
        )
        if intent.mode == "denied":
            self._fall_back(feed_id, before)
        return intent.challenge or ""

    def challenged(self, token: str, url: str | None, challenge: str | None) -> str:
        """The challenge to echo to an rssCloud server that verifies a registration; Refusal if we requested none."""
        return self.intent(token, Intent("subscribe", url, challenge, str(rsscloud.LEASE_SEC)))

    def notified(self, token: str, url: str | None) -> None:
        """Poll a feed whose rssCloud server announces a change; Refusal for an unknown callback or another feed."""
        feed, _ = self._addressed(token)
        push = self._hub_subscriptions.find(feed.id)
        if push is None or push.topic != url:
            raise Refusal("wrong_topic", "the callback is that of another feed")
        now = self._at()
        self._pinged(feed, now)
        self._hub_subscriptions.update(feed.id, lambda old: old and replace(old, pushed_at=now))
        logger.info("push_delivered", extra={"feed_id": feed.id, "result": "ping", "bytes": 0})

    def _left(self, feed_id: str, digest: str, intent: Intent) -> str:
        """The challenge of a hub that verifies the end of a subscription; Refusal if we have not left the hub."""
        if intent.topic != self._hub_subscriptions.left(feed_id, digest) or not protocol.is_challenge(intent.challenge):
            logger.info("push_intent_refused", extra={"feed_id": feed_id, "reason": "not_asked"})
            raise Refusal("not_asked", "no request of ours matches this verification")
        logger.info("push_left", extra={"feed_id": feed_id, "topic": intent.topic})
        return intent.challenge or ""

    @staticmethod
    def _intended(old: HubSubscription | None, digest: str, intent: Intent, now: float) -> HubSubscription | None:
        if old is None or leases.refusal(old, digest, intent, now=now):  # another message came first
            return None
        if intent.mode == "denied":
            return leases.denied(old, now=now)
        lease = protocol.lease_sec(intent.lease)
        assert lease is not None
        return leases.verified(old, lease, now=now, jitter=random.uniform(-1, 1))  # noqa: S311 - jitter

    def check(self, token: str) -> None:
        """Raise Refusal (`unknown_callback`) unless a verified subscription has this callback."""
        self._addressed(token)

    def deliver(self, token: str, signatures: Sequence[str], content_type: str, body: bytes) -> str:
        """Accept a hub's delivery; the result. On return, a kept delivery is stored and its feed is due.

        `kept` and `replayed` deliveries are read, `ping` causes a poll; any other result is the reason why the delivery
        is ignored.

        Raises Refusal for an unknown callback, and if too many deliveries wait to be read (`push_queue_full`). A
        delivery without a valid signature is ignored, without notice to the sender.
        """
        feed, key = self._addressed(token)
        now = self._at()
        refused = protocol.signature_refusal(key.secret, signatures, body, sha1=self._sha1)
        if refused:
            logger.warning("push_ignored", extra={"feed_id": feed.id, "reason": refused})
            return refused
        result = self._keep(feed, content_type, body) if body.strip() else self._pinged(feed, now)
        self._hub_subscriptions.update(feed.id, lambda old: old and replace(old, pushed_at=now))
        logger.info("push_delivered", extra={"feed_id": feed.id, "result": result, "bytes": len(body)})
        return result

    def _addressed(self, token: str) -> tuple[Feed, Callback]:
        """The feed of a callback, and the key of the subscription; raises Refusal (`unknown_callback`)."""
        feed_id = protocol.feed_of(token)
        push = self._hub_subscriptions.find(feed_id) if feed_id else None
        key = leases.callback_of(push, protocol.digest_of(token), now=self._at())
        feed = self._registry.load([feed_id]).get(feed_id) if feed_id and key else None
        if key is None or feed is None:
            raise Refusal(UNKNOWN_CALLBACK, "there is no subscription with this callback")
        return feed, key

    def _keep(self, feed: Feed, content_type: str, body: bytes) -> str:
        declared = content_type.replace("\n", " ")[:200]
        kept = self._hub_subscriptions.keep(feed.id, Delivery(declared, body), hashlib.sha256(body).hexdigest())
        if kept == "full":
            raise Refusal("push_queue_full", "earlier deliveries of this feed wait to be read")
        if self._hub_subscriptions.waiting(feed.id):  # a replay too: the first poll may never have been queued
            self._frontier.enqueue([poll_task(feed.subscription)], again="delivery")
        return kept

    def _pinged(self, feed: Feed, now: float) -> str:
        """Poll a feed whose hub announces news, at most once a minute."""
        self._frontier.enqueue([poll_task(feed.subscription)], delay_sec=self._ping(feed.id, now), again="push")
        return "ping"

    def _ping(self, feed_id: str, now: float) -> float:
        push = self._hub_subscriptions.update(
            feed_id, lambda old: old and replace(old, poll_due_at=leases.ping_due(old, now=now))
        )
        return max(push.poll_due_at - now, 0.0) if push is not None else 0.0

    def seen(self, poll: FeedPoll) -> HubSubscription | None:
        """Apply a poll's evidence about the feed's hub: a new hub is requested soon, and a hub that withheld
        entries is noted. The state of the feed's subscription, for the time of the next poll.
        """
        push = poll.requested.push
        if not self.on or poll.received.failed:
            return push
        topic, feed_id = poll.received.topic, poll.feed.id
        if topic is not None and (push is None or (push.hub, push.topic) != (topic.hub, topic.topic)):
            if push is not None:  # its task requests the hub first
                self._frontier.remove(f"websub:{feed_id}")
            left = leases.unsubscribe_task(push)
            self._frontier.enqueue([lease_task(feed_id, topic), *([left] if left is not None else [])], again="push")
        elif push is not None and poll.found.entries.new and self._missed(poll, push):
            new = len(poll.found.entries.new)
            logger.warning("push_missed", extra={"feed_id": feed_id, "url": push.hub, "new": new})
            return self._hub_subscriptions.update(feed_id, lambda old: old and replace(old, misses=old.misses + 1))
        return push

    @staticmethod
    def _missed(poll: FeedPoll, push: HubSubscription) -> bool:
        last = moment(poll.feed.polls.last_success_at)
        dates = [moment(entry["published"]) for entry in poll.found.entries.new]
        return leases.missed(push, dates, last_poll=last.timestamp() if last else 0.0, now=poll.received.at.timestamp())

    def read(self, poll: FeedPoll) -> EndingFields:
        """The end of a read delivery's task: the next poll comes as scheduled, or soon if the delivery could not
        be read.
        """
        feed, now = poll.feed, poll.received.at.timestamp()
        self._hub_subscriptions.update(feed.id, lambda old: old and leases.delivered(old, len(poll.found.entries.new)))
        next_at = moment(feed.polls.next_at)
        at_once = next_at is None or poll.requested.deliveries > 1 or poll.lease.history.again not in (None, "delivery")
        wait = 0.0 if at_once or next_at is None else max(next_at.timestamp() - now, 0.0)
        wait = self._ping(feed.id, now) if poll.received.failed else wait
        line = push_line(poll, wait)
        commit = [*self._hub_subscriptions.read(feed.id), *self._registry.note(feed.id, line)]
        return {"status": "pending", "reason": "push", "delay_sec": wait, "commit": commit}

    def unread_wait_sec(self, feed: Feed, again: str | None) -> float:
        """Seconds until the scheduled poll of a feed without a waiting delivery; 0 if the poll is due now.

        A delivery that is repeated, or arrives, while a worker reads brings the task again; there may be nothing left
        to read then, and the feed's host is not requested for that.
        """
        next_at = moment(feed.polls.next_at)
        return max(next_at.timestamp() - self._at(), 0.0) if again == "delivery" and next_at is not None else 0.0

    def _log_change(self, feed_id: str, push: HubSubscription, event: str, reason: str) -> None:
        """Log one line for a change; a hub that keeps failing is logged once."""
        level = logging.WARNING if event != "push_verified" and push.failures == 1 else logging.INFO
        logger.log(level, event, extra={"feed_id": feed_id, "url": push.hub, "reason": reason[:200]})

    def _fall_back(self, feed_id: str, before: HubSubscription | None) -> None:
        """Poll a feed at once whose polls were put off because its hub was relied on."""
        if not leases.relied_on(before, now=self._at()):
            return
        feeds = self._registry.load([feed_id]).values()
        self._frontier.enqueue([poll_task(feed.subscription) for feed in feeds], again="push")

    def _at(self) -> float:
        return self._now().timestamp()


def lease_task(feed_id: str, topic: Topic) -> Task:
    """The one task that keeps a feed's WebSub subscription."""
    payload: Payload = {"topic": topic.topic}
    if topic.protocol != "websub":
        payload["protocol"] = topic.protocol
    return Task(f"websub:{feed_id}", "websub", topic.hub, hostname(topic.hub), payload=payload)
