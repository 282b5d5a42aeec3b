"""WebSub subscriptions of feeds, and the deliveries of hubs until they are read; all in the feed's shard."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from feedcrawl.domain.frontier.shards import shard_of
from feedcrawl.domain.frontier.tasks import compact
from feedcrawl.domain.push.leases import HubSubscription, subscription_from
from feedcrawl.store.redis import keys
from feedcrawl.store.redis.connection import get_each, members_of
from feedcrawl.store.redis.scripts import lua_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Literal

    from feedcrawl.store.redis.client import Client
    from feedcrawl.store.redis.members import Command

DELIVERIES = 4
"""Most deliveries of one feed that wait to be read; further ones are refused, and the hub retries."""
LIFE_SEC = 2 * 86_400
"""Longest time that a delivery waits for a worker."""
LEAVING_SEC = 86_400
"""Time that a hub has to verify the end of a subscription."""
SEEN_SEC = 3_600
"""Time within which a delivery with the same digest counts as a repetition."""


class Delivery(NamedTuple):
    """A delivery of a hub: the declared content type, and the body byte for byte."""

    content_type: str
    body: bytes


class HubState(NamedTuple):
    """A feed's subscription at its hub, its oldest delivery, and the number of its deliveries."""

    push: HubSubscription | None
    delivery: Delivery | None
    waiting: int


class HubSubscriptions:
    """Subscriptions at hubs, and deliveries, by feed. Methods may raise StoreUnavailable."""

    def __init__(self, client: Client, *, shards: int = 1) -> None:
        self._client = client
        self._shards = shards
        self._swap = client.register_script(lua_text(__package__, "swap"))

    def load(self, feed_ids: Sequence[str]) -> dict[str, HubState]:
        """The subscription and deliveries of each feed, in one round trip."""
        with self._client.pipeline(transaction=False) as pipe:
            for each in feed_ids:
                pipe.get(self._key("push", each))
                pipe.lindex(self._key("deliveries", each), 0)
                pipe.llen(self._key("deliveries", each))
            found = pipe.execute()
        rows = zip(feed_ids, found[::3], found[1::3], found[2::3], strict=True)
        return {each: HubState(_push(text), _delivery(first), int(number)) for each, text, first, number in rows}

    def find(self, feed_id: str) -> HubSubscription | None:
        """A feed's subscription; None if there is none."""
        return _push(self._client.get(self._key("push", feed_id)))

    def update(
        self, feed_id: str, change: Callable[[HubSubscription | None], HubSubscription | None]
    ) -> HubSubscription | None:
        """Replaces a subscription by `change` of it, again if another writer came between; None changes nothing."""
        key, listed = self._key("push", feed_id), self._list(feed_id)
        while True:
            text = self._client.get(key)
            old = _push(text)
            new = change(old)
            if new is None or new == old:
                return old
            if self._swap(keys=[key, listed], args=[text or "", compact(new.to_record()), feed_id]):
                return new

    def waiting(self, feed_id: str) -> int:
        """The number of deliveries that wait to be read."""
        return int(self._client.llen(self._key("deliveries", feed_id)))

    def keep(self, feed_id: str, delivery: Delivery, digest: str) -> Literal["kept", "replayed", "full"]:
        """Stores a delivery until it is read, unless its `digest` came recently (`replayed`) or the queue is `full`."""
        name, seen = self._key("deliveries", feed_id), self._key("delivered", f"{feed_id}:{digest}", of=feed_id)
        if self._client.exists(seen):
            return "replayed"
        if self.waiting(feed_id) >= DELIVERIES:
            return "full"
        text = f"{delivery.content_type}\n".encode("utf-8", "surrogateescape") + delivery.body
        with self._client.pipeline(transaction=True) as pipe:
            pipe.rpush(name, text)
            pipe.expire(name, LIFE_SEC)
            pipe.set(seen, 1, ex=SEEN_SEC)
            pipe.execute()
        return "kept"

    def read(self, feed_id: str) -> list[Command]:
        """The commands that drop the oldest delivery; the frontier runs them with `done`."""
        return [["LPOP", self._key("deliveries", feed_id)]]

    def leave(self, feed_id: str, digest: str, topic: str) -> None:
        """Notes for a day that the subscription of a callback (by the sha256 of its token) is to end."""
        self._client.set(self._left(feed_id, digest), topic, ex=LEAVING_SEC)

    def left(self, feed_id: str, digest: str) -> str | None:
        """The topic of a callback whose subscription is to end; None if it is not."""
        found = self._client.get(self._left(feed_id, digest))
        return None if found is None else str(found)

    def forget(self, feed_id: str) -> None:
        """Removes a feed's subscription and deliveries."""
        with self._client.pipeline(transaction=True) as pipe:
            pipe.delete(self._key("push", feed_id), self._key("deliveries", feed_id))
            pipe.srem(self._list(feed_id), feed_id)
            pipe.execute()

    def pages(self, size: int) -> Iterator[tuple[int, list[str]]]:
        """The ids of all feeds with a subscription, unordered, in pages of about `size`, each with its shard."""
        return members_of(self._client, [f"{keys.shard(number)}pushes" for number in range(self._shards)], size)

    def all_of(self, feed_ids: Sequence[str]) -> dict[str, HubSubscription]:
        """The subscriptions of these feeds, in one round trip; feeds without one are left out."""
        texts = get_each(self._client, [self._key("push", each) for each in feed_ids])
        pairs = ((each, _push(text)) for each, text in zip(feed_ids, texts, strict=True))
        return {each: push for each, push in pairs if push is not None}

    def count(self) -> int:
        """The number of feeds with a subscription."""
        return sum(int(self._client.scard(f"{keys.shard(number)}pushes")) for number in range(self._shards))

    def _left(self, feed_id: str, digest: str) -> str:
        return self._key("left", f"{feed_id}:{digest}", of=feed_id)

    def _list(self, feed_id: str) -> str:
        return f"{self._prefix(feed_id)}pushes"

    def _key(self, name: str, what: str, *, of: str | None = None) -> str:
        return f"{self._prefix(of or what)}{name}:{what}"

    def _prefix(self, feed_id: str) -> str:
        return keys.shard(shard_of(feed_id, self._shards))


def _push(text: str | None) -> HubSubscription | None:
    return subscription_from(json.loads(text)) if text else None


def _delivery(text: str | None) -> Delivery | None:
    if text is None:
        return None
    content_type, _, body = text.partition("\n")
    return Delivery(content_type, body.encode("utf-8", "surrogateescape"))
