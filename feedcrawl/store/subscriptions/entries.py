"""Known entries of a feed: their lineage by uid, and the keys by which an entry is recognized."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from feedcrawl.domain.entries.lineage import KnownEntry, known_from_json
from feedcrawl.domain.frontier.shards import shard_of
from feedcrawl.store.redis import keys

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from feedcrawl.store.redis.client import Client, Pipeline

LIFE_SEC = 400 * 86_400
"""A feed's lineage is kept longer than any entry or article, so that a removed entry does not become new again."""
MIGRATION_SEC = 30 * 86_400
"""Time within which a migration can be undone."""


class Entries:
    """Two HASHes for each feed, in the feed's shard. Methods may raise StoreUnavailable."""

    def __init__(self, client: Client, *, shards: int = 1) -> None:
        self._client = client
        self._shards = shards

    def load(self, feed_id: str, entry_keys: Sequence[str]) -> tuple[dict[str, str], dict[str, KnownEntry]]:
        """The uid for each of these keys, and the lineage of each uid; unknown keys are left out."""
        if not entry_keys:
            return {}, {}
        found = self._client.hmget(self._keys(feed_id), list(entry_keys))
        uid_by_key = {key: uid for key, uid in zip(entry_keys, found, strict=True) if uid}
        uids = list(dict.fromkeys(uid_by_key.values()))
        texts = self._client.hmget(self._lineage(feed_id), uids) if uids else []
        return uid_by_key, {uid: known_from_json(text) for uid, text in zip(uids, texts, strict=True) if text}

    def save(
        self, pipe: Pipeline, feed_id: str, known: Mapping[str, KnownEntry], uid_by_key: Mapping[str, str]
    ) -> None:
        """Queues storing lineages and keys on a pipeline."""
        if known:
            pipe.hset(self._lineage(feed_id), mapping={uid: entry.to_json() for uid, entry in known.items()})
            pipe.expire(self._lineage(feed_id), LIFE_SEC)
        if uid_by_key:
            pipe.hset(self._keys(feed_id), mapping=dict(uid_by_key))
            pipe.expire(self._keys(feed_id), LIFE_SEC)

    def keep_migration(self, pipe: Pipeline, feed_id: str, moved: Mapping[KnownEntry, Sequence[str]]) -> None:
        """Queues storing what undoes a migration: each entry's lineage before it, and the keys that it has given it."""
        rows = [[before.uid, before.to_json(), *names] for before, names in moved.items()]
        pipe.set(self._migration(feed_id), json.dumps(rows, separators=(",", ":")), ex=MIGRATION_SEC)

    def has_migration(self, feed_id: str) -> bool:
        """True if a migration of the feed is stored that can be undone."""
        return bool(self._client.exists(self._migration(feed_id)))

    def undo_migration(self, feed_id: str) -> bool:
        """Gives the entries of the last migration their former lineages and keys; False if none is stored."""
        text = self._client.get(self._migration(feed_id))
        if text is None:
            return False
        with self._client.pipeline(transaction=True) as pipe:
            for uid, lineage, *names in json.loads(text):
                pipe.hset(self._lineage(feed_id), uid, lineage)
                if names:
                    pipe.hdel(self._keys(feed_id), *names)
            pipe.delete(self._migration(feed_id))
            pipe.execute()
        return True

    def lineage(self, feed_id: str, uid: str) -> KnownEntry | None:
        """The lineage of one entry; None if unknown."""
        text = self._client.hget(self._lineage(feed_id), uid)
        return known_from_json(text) if text else None

    def lineages(self, feed_id: str) -> list[KnownEntry]:
        """All known entries of a feed, in no order; for feeds whose document has all of their entries."""
        return [known_from_json(text) for text in self._client.hvals(self._lineage(feed_id))]

    def count(self, feed_id: str) -> int:
        """The number of known entries of a feed."""
        return int(self._client.hlen(self._lineage(feed_id)))

    def remove(self, feed_id: str) -> None:
        """Removes the known entries of a feed."""
        self._client.delete(self._lineage(feed_id), self._keys(feed_id), self._migration(feed_id))

    def _lineage(self, feed_id: str) -> str:
        return f"{keys.shard(shard_of(feed_id, self._shards))}entries:{feed_id}"

    def _keys(self, feed_id: str) -> str:
        return f"{keys.shard(shard_of(feed_id, self._shards))}entry_keys:{feed_id}"

    def _migration(self, feed_id: str) -> str:
        return f"{keys.shard(shard_of(feed_id, self._shards))}migration:{feed_id}"
