"""Push subscriptions (W3C WebSub): how they stand, whether a hub is believed, and whether it is relied on.

A subscription that was asked for, the one that holds and the one before each have a callback of their own, known by
the sha256 of its secret part. Times are seconds of the epoch.
"""

from __future__ import annotations

import hmac
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from feedcrawl.domain.push.protocol import is_challenge, lease_sec

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from feedcrawl.domain.push.protocol import Intent, Topic

State = Literal["requested", "verified", "failing", "denied", "expired"]

VERIFY_SEC = 600.0
"""How long after we asked a hub may verify."""
OVERLAP_SEC = 300.0
"""How long the callback before a renewal is good for what was under way to it."""
BACKUP_SEC = 86_400.0
"""Between polls of a feed whose hub is relied on."""
MISSES = 2
"""As often may polls find what the hub did not push before it is relied on no more; a push with news takes one off."""
LATE_SEC = 300.0
"""What is younger than this may still be under way to us."""
PING_SEC = 60.0
"""Between two polls that pings without content bring about."""
RETRY_SEC, MAX_RETRY_SEC = 600.0, 86_400.0
DENIED_SEC = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class Key:
    """A callback: the sha256 of its token, the secret that signs what comes there, and until when it is good."""

    digest: str
    secret: str
    until: float


@dataclass(frozen=True, slots=True)
class Push:
    """What is known of a feed's hub.

    `asked` waits to be verified, `current` is verified, `former` was replaced by it. `pushes` counts pushes with
    news, `misses` polls that found what was not pushed, `failures` requests in a row that came to nothing for `reason`.
    Before `renew_at` the hub is not asked; `poll_due_at` is when the last ping had the feed polled.
    """

    hub: str
    topic: str
    asked: Key | None = None
    current: Key | None = None
    former: Key | None = None
    verified_at: float = 0.0
    renew_at: float = 0.0
    pushed_at: float = 0.0
    poll_due_at: float = 0.0
    pushes: int = 0
    misses: int = 0
    failures: int = 0
    reason: str = ""

    def to_record(self) -> dict[str, Any]:
        """As JSON values."""
        return {name: value for name, value in asdict(self).items() if value}


def push_from(record: dict[str, Any]) -> Push:
    """The push that `to_record` wrote; names that this version does not know are left aside."""
    values = {name: record[name] for name in Push.__dataclass_fields__ if name in record}
    for name in ("asked", "current", "former"):
        if name in values:
            values[name] = Key(**values[name])
    return Push(**values)


def asked(push: Push | None, topic: Topic, digest: str, secret: str, *, now: float) -> Push:
    """The subscription once this callback was asked for; the one that holds goes on until the new one is verified."""
    key = Key(digest, secret, now + VERIFY_SEC)
    if push is None or (push.hub, push.topic) != (topic.hub, topic.topic):
        due = push.poll_due_at if push is not None else 0.0
        return Push(topic.hub, topic.topic, asked=key, poll_due_at=due)
    return replace(push, asked=key)


def refusal(push: Push | None, digest: str, intent: Intent, *, now: float) -> str:
    """Why a hub's word is not believed; "" if it is.

    Only what was asked for is verified, once, and never that we leave: we do not ask for that, a lease runs out.
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


def verified(push: Push, lease: float, *, now: float, jitter: float) -> Push:
    """The subscription once its hub has verified it; renewed at 80 % of the lease, 5 % of it spread by `jitter`."""
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


def denied(push: Push, *, now: float) -> Push:
    """The subscription once its hub has said no: it may do so at any time (WebSub section 5.2)."""
    failures = push.failures + 1
    return replace(push, asked=None, current=None, renew_at=now + DENIED_SEC, failures=failures, reason="denied")


def failed(push: Push, reason: str) -> Push:
    """The subscription once asking for it has come to nothing."""
    return replace(push, asked=None, failures=push.failures + 1, reason=reason)


def key_of(push: Push | None, digest: str, *, now: float) -> Key | None:
    """The callback that content has come to, while it is good."""
    keys = (push.current, push.former) if push is not None else ()
    return next((key for key in keys if key is not None and _is(key, digest) and now < key.until), None)


def _is(key: Key, digest: str) -> bool:
    return hmac.compare_digest(key.digest, digest)


def state(push: Push, *, now: float) -> State:
    """How a subscription stands."""
    if push.current is not None and now < push.current.until:
        return "failing" if push.failures or push.misses >= MISSES else "verified"
    if push.reason == "denied":
        return "denied"
    if push.failures:
        return "failing"
    return "expired" if push.current is not None else "requested"


def relied_on(push: Push | None, *, now: float) -> bool:
    """Whether a feed needs to be polled as a safety net only: its hub has pushed news, and goes on doing so."""
    return push is not None and push.pushes > 0 and state(push, now=now) == "verified"


def backup_sec(push: Push, *, now: float) -> float:
    """Seconds until the next poll of a feed whose hub is relied on."""
    assert push.current is not None
    return max(min(BACKUP_SEC, push.current.until - now), 0.0)


def missed(push: Push, published: Iterable[datetime | None], *, last_poll: float, now: float) -> bool:
    """Whether a poll's new entries, by their dates, show that the hub has kept something from us.

    What is new since a poll under the subscription came under it, whatever its date; else the date must say so.
    """
    if push.current is None:
        return False
    moments = [None if moment is None else moment.timestamp() for moment in published]
    if last_poll >= push.verified_at:
        return any(moment is None or moment <= now - LATE_SEC for moment in moments)
    return any(moment is not None and push.verified_at < moment <= now - LATE_SEC for moment in moments)


def brought(push: Push, new: int) -> Push:
    """The subscription once a push was read: one with news takes a miss off."""
    return replace(push, pushes=push.pushes + 1, misses=max(push.misses - 1, 0)) if new else push


def ping_due(push: Push, *, now: float) -> float:
    """When a feed is polled that was pinged: at once, but not within a minute of the last time."""
    return push.poll_due_at if push.poll_due_at > now else max(now, push.poll_due_at + PING_SEC)


def wait_sec(push: Push, *, now: float) -> float:
    """Seconds until a subscription is looked at again: to renew it, to see whether it was verified, or to ask anew."""
    if push.asked is not None and now < push.asked.until:
        return push.asked.until - now
    if push.failures and push.reason != "denied":
        return min(RETRY_SEC * 2.0 ** (push.failures - 1), MAX_RETRY_SEC)
    return max(push.renew_at - now, 0.0)
