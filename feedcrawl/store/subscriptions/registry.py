"""Subscribed feeds, the state of their polls, and the journals of their last fetches."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.frontier.shards import settled_id, shard_of_host
from feedcrawl.domain.push.leases import HubSubscription, subscription_from
from feedcrawl.domain.subscriptions.access import load as load_access
from feedcrawl.domain.subscriptions.records import Feed, PollRecord, Subscription, dump, load_polls, load_subscription
from feedcrawl.domain.urls import hostname
from feedcrawl.store.redis import keys
from feedcrawl.store.redis.connection import get_each
from feedcrawl.store.redis.members import Members

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from feedcrawl.domain.subscriptions.access import Access
    from feedcrawl.domain.subscriptions.published import JournalLineRecord
    from feedcrawl.store.redis.client import Client
    from feedcrawl.store.redis.members import Command

_OF_A_FEED = ("feed", "polls", "journal", "push", "deliveries", "access")
"""The names of the keys of one feed."""
PAGE = 50
"""Feeds read at a time: decoding them must not block an event loop for long."""
_TEXTS = 1000
"""Feeds read at a time whose texts are searched and not decoded."""


class Registry(Members[Feed]):
    """Feeds by id and by the normalized form of their URL, each in the shard of its name.

    Methods may raise StoreUnavailable.
    """

    kind = "feed"
    journals = "journal"
    page_size = PAGE

    def __init__(self, client: Client, *, shards: int = 1, journal_length: int = 50, max_feeds: int = 0) -> None:
        super().__init__(client, shards=shards, journal_length=journal_length)
        self._max_feeds = max_feeds

    def new_id(self, url: str) -> str:
        """A new id for a feed at this URL, in the shard of the URL's host, so that a poll ends in one step."""
        return settled_id(str(uuid.uuid4()), shard_of_host(hostname(url), self._shards), self._shards)

    def add(self, subscription: Subscription, url_key: str) -> str:
        """Subscribes to a feed unless one with this `url_key` exists; returns the id of the subscribed feed.

        Safe to repeat and to race: the URL's key is claimed first, and a later caller gets the claimed id. Refusal
        (`too_many_feeds`) for a new feed if `max_feeds` are subscribed; each of several racing callers may exceed that
        limit by one feed.
        """
        if self._max_feeds and self.count() >= self._max_feeds and self.by_url(url_key) is None:
            raise Refusal("too_many_feeds", f"at most {self._max_feeds} feeds may be subscribed (FEEDCRAWL_MAX_FEEDS)")
        holder = self._claim(url_key, subscription.id)
        if holder == subscription.id or not self._client.exists(self._key("feed", holder)):
            self.save(replace(subscription, id=holder))
        return holder

    def claim(self, url_key: str, feed_id: str) -> str:
        """Claims a URL's key for an existing feed; returns the id of the feed that has the key."""
        holder = self._claim(url_key, feed_id)
        if holder != feed_id and not self._client.exists(self._key("feed", holder)):
            self.point(url_key, feed_id)
            return feed_id
        return holder

    def point(self, url_key: str, feed_id: str) -> None:
        """Makes a URL's key lead to a feed."""
        self._client.hset(self._by_url(url_key), url_key, feed_id)

    def drop_url(self, url_key: str | None, feed_id: str) -> None:
        """Removes a URL's key if it leads to this feed."""
        if url_key is not None and self.by_url(url_key) == feed_id:
            self._client.hdel(self._by_url(url_key), url_key)

    def moved(self, subscription: str, feed_id: str) -> list[Command]:
        """The commands that give a feed another URL, whose key the feed has claimed."""
        return [["SET", self._key("feed", feed_id), subscription]]

    def move(self, subscription: Subscription, polls: PollRecord, line: JournalLineRecord) -> None:
        """Stores a feed that has moved to another URL, whose key it has claimed, with a line in its journal."""
        with self._client.pipeline(transaction=True) as pipe:
            for command in (*self.moved(dump(subscription), subscription.id), *self.note(subscription.id, line)):
                pipe.execute_command(*command)
            pipe.set(self._key("polls", subscription.id), dump(polls))
            pipe.execute()

    def may_spread(self, sec: int) -> bool:
        """True if no worker has spread overdue feeds within the last `sec` seconds; the caller must then do it."""
        return bool(self._client.set(f"{keys.shard()}spread", 1, nx=True, ex=sec))

    def demand(self) -> float:
        """The demand of all feeds together, in polls per second at tempo 1 (`domain.cadence.tempo`)."""
        names = [f"{keys.shard(number)}demand" for number in range(self._shards)]
        return sum(float(text or 0) for text in get_each(self._client, names))

    def add_demand(self, feed_id: str, by: float) -> None:
        """Changes the demand of all feeds, for a feed that is added or removed."""
        self._client.incrbyfloat(f"{self._prefix(feed_id)}demand", by)

    def demand_changed(self, feed_id: str, by: float) -> list[Command]:
        """The commands that change the demand by a feed's change; the frontier runs them with `done`."""
        return [["INCRBYFLOAT", f"{self._prefix(feed_id)}demand", f"{by:.12f}"]] if by else []

    def failing_changed(self, feed_id: str, before: PollRecord, after: PollRecord) -> list[Command]:
        """The commands that add a feed to the failing feeds, with its number of failures in a row, or remove it."""
        listed = f"{self._prefix(feed_id)}failing"
        if not after.is_good:
            return [["ZADD", listed, after.cadence_state.errors, feed_id]]
        return [] if before.is_good else [["ZREM", listed, feed_id]]

    def failing_count(self) -> int:
        """The number of failing feeds: their last poll returned no usable response."""
        return sum(int(self._client.zcard(f"{keys.shard(number)}failing")) for number in range(self._shards))

    def failing(self, limit: int | None = None) -> list[str]:
        """The ids of the failing feeds with the most failures in a row, or of all failing feeds."""
        last = -1 if limit is None else limit - 1
        with self._client.pipeline(transaction=False) as pipe:
            for number in range(self._shards):
                pipe.zrange(f"{keys.shard(number)}failing", 0, last, desc=True, withscores=True)
            answers = pipe.execute()
        found = sorted((row for rows in answers for row in rows), key=lambda row: (-row[1], row[0]))
        return [feed_id for feed_id, _ in found[:limit]]

    def some(self, limit: int) -> list[str]:
        """About `limit` random feed ids, equally many from each shard."""
        share = -(-limit // self._shards)
        with self._client.pipeline(transaction=False) as pipe:
            for name in self._lists():
                pipe.srandmember(name, share)
            return [feed_id for ids in pipe.execute() for feed_id in ids]

    def of_category(self, category: str) -> Iterator[Feed]:
        """The feeds of a category, in no order. Of the other feeds only the stored text is read, for speed."""
        spellings = {json.dumps(category, ensure_ascii=ascii_only) for ascii_only in (False, True)}
        for _, ids in self.pages(_TEXTS):
            named = [json.loads(text)["id"] for text in self.texts(ids) if any(each in text for each in spellings)]
            found = self.load(named).values() if named else ()
            yield from (feed for feed in found if category in feed.subscription.categories)

    def save(self, subscription: Subscription) -> None:
        """Stores a subscription and adds it to the list."""
        with self._client.pipeline(transaction=True) as pipe:
            pipe.set(self._key("feed", subscription.id), dump(subscription))
            pipe.sadd(f"{self._prefix(subscription.id)}feeds", subscription.id)
            pipe.execute()

    def save_access(self, feed_id: str, access: Access | None) -> None:
        """Stores the request headers of a private feed, or removes them. Only `accesses` reads them."""
        key = self._key("access", feed_id)
        if access is None:
            self._client.delete(key)
        else:
            self._client.set(key, access.dump())

    def accesses(self, feeds: Iterable[Feed]) -> dict[str, Access]:
        """The request headers of the private ones among these feeds, for the worker that sends them."""
        ids = [feed.id for feed in feeds if feed.subscription.private]
        texts = get_each(self._client, [self._key("access", each) for each in ids]) if ids else []
        return {each: load_access(text) for each, text in zip(ids, texts, strict=True) if text}

    def remove(self, feed_id: str, *url_keys: str) -> bool:
        """Removes a feed with its URLs, polls and journal; its entries and articles stay. False if it did not exist.

        The URLs are removed last: a URL that a kill leaves behind leads to no feed, and the next subscription to that
        URL takes it over.
        """
        with self._client.pipeline(transaction=True) as pipe:
            pipe.delete(*(self._key(name, feed_id) for name in _OF_A_FEED))
            pipe.srem(f"{self._prefix(feed_id)}pushes", feed_id)
            pipe.zrem(f"{self._prefix(feed_id)}failing", feed_id)
            pipe.srem(f"{self._prefix(feed_id)}feeds", feed_id)
            was_there = bool(pipe.execute()[-1])
        with self._client.pipeline(transaction=False) as pipe:
            for url_key in url_keys:
                pipe.hdel(self._by_url(url_key), url_key)
            pipe.execute()
        return was_there

    def hub_of(self, feed_id: str) -> HubSubscription | None:
        """The feed's subscription at its hub, which `remove` removes; None if there is none."""
        text = self._client.get(self._key("push", feed_id))
        return subscription_from(json.loads(text)) if text else None

    def load(self, ids: Sequence[str]) -> dict[str, Feed]:
        """The feeds with these ids, in one round trip; unknown ids are left out."""
        found = self._pairs(ids, "polls")
        return {each: Feed(load_subscription(text), load_polls(polls)) for each, text, polls in found}

    def add_line(self, feed_id: str, line: JournalLineRecord) -> None:
        """Adds a line to a feed's journal, outside of the end of a poll."""
        with self._client.pipeline(transaction=True) as pipe:
            for command in self.note(feed_id, line):
                pipe.execute_command(*command)
            pipe.execute()

    def save_polls(self, feed_id: str, polls: PollRecord) -> None:
        """Stores the state from which a feed's next poll continues, outside of the end of a poll."""
        self._client.set(self._key("polls", feed_id), dump(polls))

    def commit(self, feed_id: str, polls: PollRecord, fetch: JournalLineRecord) -> list[Command]:
        """The commands that store a poll and its line in the journal; the frontier runs them with `done`."""
        return [["SET", self._key("polls", feed_id), dump(polls)], *self.note(feed_id, fetch)]

    def _claim(self, url_key: str, feed_id: str) -> str:
        by_url = self._by_url(url_key)
        self._client.hsetnx(by_url, url_key, feed_id)
        return str(self._client.hget(by_url, url_key))
