"""Subscriptions at WebSub hubs (W3C): their state, whether a hub's request is accepted, and whether a hub is relied on.

The requested, the current and the former subscription each have a callback of their own, identified by the sha256 of
its token. Times are seconds of the epoch.
"""

from __future__ import annotations

import hmac
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Literal

from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.domain.json_values import known_fields
from feedcrawl.domain.push.protocol import Topic, is_challenge, lease_sec
from feedcrawl.domain.urls import hostname

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from feedcrawl.domain.frontier.payloads import Payload
    from feedcrawl.domain.push.protocol import Intent, Protocol

State = Literal["requested", "verified", "failing", "denied", "expired"]

VERIFY_SEC = 600.0
"""Time that a hub has to verify a requested subscription."""
OVERLAP_SEC = 300.0
"""Time after a renewal in which the former callback still accepts deliveries."""
BACKUP_SEC = 86_400.0
"""Interval of the polls of a feed whose hub is relied on."""
MISSES = 2
"""Number of misses (polls that found entries which the hub did not deliver) at which a hub is no longer relied
on; a delivery with news takes one off.
"""
LATE_SEC = 300.0
"""An entry younger than this may still be on its way to us."""
PING_SEC = 60.0
"""Least time between two polls caused by deliveries without content."""
LEAVING = "websub-left:"
"""Prefix of the id of a task that leaves a hub."""
RETRY_SEC, MAX_RETRY_SEC = 600.0, 86_400.0
DENIED_SEC = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class Callback:
    """A callback: the sha256 of its token, the secret that signs its deliveries, its expiry, and its URL."""

    digest: str
    secret: str
    until: float
    callback: str = ""


@dataclass(frozen=True, slots=True)
class HubSubscription:
    """The state of a feed's subscription at its hub.

    `asked` is the callback of a request that waits for verification, `current` the verified one, `former` the one that
    `current` replaced. `pushes` counts deliveries with news, `misses` polls that found undelivered entries, `failures`
    consecutive failed requests, the last for `reason`. No request is sent to the hub before `renew_at`. `poll_due_at`
    is the time of the poll that the last ping caused.
    """

    hub: str
    topic: str
    asked: Callback | None = None
    current: Callback | None = None
    former: Callback | None = None
    verified_at: float = 0.0
    renew_at: float = 0.0
    pushed_at: float = 0.0
    poll_due_at: float = 0.0
    pushes: int = 0
    misses: int = 0
    failures: int = 0
    reason: str = ""
    protocol: Protocol = "websub"

    @property
    def at(self) -> Topic:
        """The hub and the topic."""
        return Topic(self.hub, self.topic, self.protocol)

    def to_record(self) -> dict[str, object]:
        """The subscription as JSON values."""
        return {name: value for name, value in asdict(self).items() if value}


def subscription_from(record: Mapping[str, object]) -> HubSubscription:
    """The subscription from a record that `to_record` wrote; unknown names are ignored."""
    values = known_fields(HubSubscription, record)
    for name in ("asked", "current", "former"):
        if name in values:
            values[name] = Callback(**values[name])
    return HubSubscription(**values)


def requested(push: HubSubscription | None, topic: Topic, key: Callback, *, now: float) -> HubSubscription:
    """The subscription after a request with this callback; the current one stays until the new one is verified."""
    key = replace(key, until=now + VERIFY_SEC)
    if push is None or (push.hub, push.topic) != (topic.hub, topic.topic):
        due = push.poll_due_at if push is not None else 0.0
        return HubSubscription(topic.hub, topic.topic, asked=key, poll_due_at=due, protocol=topic.protocol)
    return replace(push, asked=key)


def unsubscribe_task(push: HubSubscription | None) -> Task | None:
    """The task that asks a hub to end a subscription (`hub.mode=unsubscribe`); None if none was verified."""
    key = push.current if push is not None else None
    if push is None or key is None or not key.callback or push.protocol == "rsscloud":  # which knows no end
        return None
    payload: Payload = {"topic": push.topic, "leaves": key.callback}
    return Task(f"{LEAVING}{key.digest[:16]}", "websub", push.hub, hostname(push.hub), payload=payload)


def refusal(push: HubSubscription | None, digest: str, intent: Intent, *, now: float) -> str:
    """The reason code for which a hub's request on a callback is refused; "" if it is accepted.

    A hub verifies a requested subscription, once. The end of a subscription is verified against the hubs that were
    left (`WebSub.intent`).
    """
    if push is None:
        return "unknown_callback"
    mine = [key for key in (push.asked, push.current) if key is not None and _is(key, digest) and now < key.until]
    if not mine:
        return "unknown_callback"
    if intent.topic != push.topic:
        return "wrong_topic"
    if intent.mode == "denied":
        return ""
    if intent.mode != "subscribe" or mine[0] is not push.asked:
        return "not_asked"
    if not is_challenge(intent.challenge):
        return "bad_challenge"
    return "" if lease_sec(intent.lease) else "bad_lease"


def verified(push: HubSubscription, lease: float, *, now: float, jitter: float) -> HubSubscription:
    """The subscription after its verification; renewed at 80 % of the lease ± 5 % (`jitter` in [-1, 1])."""
    assert push.asked is not None
    old = push.current
    former = replace(old, until=min(old.until, now + OVERLAP_SEC)) if old is not None else push.former
    return replace(
        push,
        asked=None,
        current=replace(push.asked, until=now + lease),
        former=former,
        verified_at=push.verified_at if old is not None and now < old.until else now,
        renew_at=now + lease * (0.8 + 0.05 * jitter),
        failures=0,
        reason="",
    )


def denied(push: HubSubscription, *, now: float) -> HubSubscription:
    """The subscription after a denial, which a hub may send at any time (WebSub section 5.2)."""
    failures = push.failures + 1
    return replace(push, asked=None, current=None, renew_at=now + DENIED_SEC, failures=failures, reason="denied")


def failed(push: HubSubscription, reason: str) -> HubSubscription:
    """The subscription after a request that failed."""
    return replace(push, asked=None, failures=push.failures + 1, reason=reason)


def callback_of(push: HubSubscription | None, digest: str, *, now: float) -> Callback | None:
    """The callback that accepts a delivery, current or former; None if it is unknown or expired."""
    keys = (push.current, push.former) if push is not None else ()
    return next((key for key in keys if key is not None and _is(key, digest) and now < key.until), None)


def _is(key: Callback, digest: str) -> bool:
    return hmac.compare_digest(key.digest, digest)


def state(push: HubSubscription, *, now: float) -> State:
    """The state of a subscription."""
    if push.current is not None and now < push.current.until:
        return "failing" if push.failures or push.misses >= MISSES else "verified"
    if push.reason == "denied":
        return "denied"
    if push.failures:
        return "failing"
    return "expired" if push.current is not None else "requested"


def relied_on(push: HubSubscription | None, *, now: float) -> bool:
    """True if the feed is polled as a safety net only: its hub has delivered news and misses few entries."""
    return push is not None and push.pushes > 0 and state(push, now=now) == "verified"


def backup_sec(push: HubSubscription, *, now: float) -> float:
    """Seconds until the next poll of a feed whose hub is relied on."""
    assert push.current is not None
    return max(min(BACKUP_SEC, push.current.until - now), 0.0)


def missed(push: HubSubscription, published: Iterable[datetime | None], *, last_poll: float, now: float) -> bool:
    """True if the dates of a poll's new entries show that the hub did not deliver them.

    If the last poll was made under this subscription, every new entry appeared under it, with or without a date; else
    only a date shows that an entry did.
    """
    if push.current is None:
        return False
    moments = [None if moment is None else moment.timestamp() for moment in published]
    if last_poll >= push.verified_at:
        return any(moment is None or moment <= now - LATE_SEC for moment in moments)
    return any(moment is not None and push.verified_at < moment <= now - LATE_SEC for moment in moments)


def delivered(push: HubSubscription, new: int) -> HubSubscription:
    """The subscription after a delivery with `new` new entries; a delivery with news takes one miss off."""
    return replace(push, pushes=push.pushes + 1, misses=max(push.misses - 1, 0)) if new else push


def ping_due(push: HubSubscription, *, now: float) -> float:
    """The time of the poll that a ping causes: now, but at least a minute after the last such poll."""
    return push.poll_due_at if push.poll_due_at > now else max(now, push.poll_due_at + PING_SEC)


def wait_sec(push: HubSubscription, *, now: float) -> float:
    """Seconds until the subscription is renewed, a failed request is repeated, or verification is overdue."""
    if push.asked is not None and now < push.asked.until:
        return push.asked.until - now
    if push.failures and push.reason != "denied":
        return min(RETRY_SEC * 2.0 ** min(push.failures - 1, 64), MAX_RETRY_SEC)
    return max(push.renew_at - now, 0.0)
