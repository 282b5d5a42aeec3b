"""What tells that two articles are one story: the texts and titles met of late, who joined whom, and what stays apart.

A bucket is a HASH of the articles that share a text or a title on one site, each with its place in the order of their
arrival: of two workers that meet in it, one came first. Joins are kept to be looked at and undone.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from feedcrawl.domain.frontier.shards import shard_of
from feedcrawl.store.redis import keys
from feedcrawl.store.redis.scripts import lua_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from feedcrawl.store.redis.client import Client, Pipeline

DAY_SEC = 86_400
JOIN_LIFE_SEC = 30 * DAY_SEC
BUCKET_SIZE = 1000
"""Articles in one bucket; those beyond are not compared. A site that has so many of one title has a template."""

COMPARED = 200
"""The last so many of a bucket are answered: copies come soon after each other, and each costs the reader 0.1 ms."""


class Stories:
    """Buckets and pairs that stay apart, each in the shard of its name, and joins, all in the first.

    Methods that take a pipeline queue commands on it.
    """

    def __init__(self, client: Client, *, title_life_sec: int, shards: int = 1) -> None:
        self._client = client
        self._lives = {"text": JOIN_LIFE_SEC, "title": title_life_sec}
        self._shards = shards
        self._prefix = keys.shard()
        self._meet = lua_text(__package__, "meet")

    # --- meeting ---

    def meet(self, pipe: Pipeline, bucket: tuple[str, str], uid: str, left: str, lengths: tuple[int, int]) -> None:
        """Enters a bucket (`text` or `title`, and a digest) with a fingerprint; `met` reads the reply."""
        kind, digest = bucket
        life = self._lives[kind]
        script = ("EVAL", self._meet, 1, self._bucket(kind, digest))  # a cluster's pipeline takes no registered script
        pipe.execute_command(*script, uid, left, BUCKET_SIZE, life, *lengths, COMPARED)

    @staticmethod
    def met(reply: Sequence[str]) -> list[tuple[str, str]]:
        """Who came before with which fingerprint, the oldest first."""
        return list(zip(reply[::2], reply[1::2], strict=True))

    def leave(self, pipe: Pipeline, bucket: tuple[str, str], uid: str) -> None:
        """Takes an article out: others are not compared with what joined something else."""
        pipe.hdel(self._bucket(*bucket), uid)

    # --- joins ---

    def join(self, pipe: Pipeline, join: Mapping[str, Any], *, life_sec: int, record: Mapping[str, Any] | None) -> None:
        """Keeps a join (`uid`, `winner`, `at_ts` and what else is known), and for `life_sec` the loser's own record."""
        uid, at = join["uid"], join["at_ts"]
        pipe.set(f"{self._prefix}join:{uid}", json.dumps(join, ensure_ascii=False), ex=JOIN_LIFE_SEC)
        pipe.zadd(f"{self._prefix}joins", {uid: at})
        pipe.zremrangebyscore(f"{self._prefix}joins", "-inf", at - JOIN_LIFE_SEC)
        if record is not None:
            pipe.set(f"{self._prefix}joined_record:{uid}", json.dumps(record, ensure_ascii=False), ex=life_sec)

    def joins(self, limit: int) -> list[dict[str, Any]]:
        """The last joins, newest first."""
        uids = self._client.zrevrange(f"{self._prefix}joins", 0, limit - 1)
        return [join for join in map(self.find, uids) if join is not None]

    def find(self, uid: str) -> dict[str, Any] | None:
        """The join by which this uid lost its article."""
        return self._json(f"{self._prefix}join:{uid}")

    def record(self, uid: str) -> dict[str, Any] | None:
        """The record of an article that was never stored because it joined another one."""
        return self._json(f"{self._prefix}joined_record:{uid}")

    def undone(self, pipe: Pipeline, uid: str) -> None:
        """Forgets a join."""
        pipe.delete(f"{self._prefix}join:{uid}")
        pipe.delete(f"{self._prefix}joined_record:{uid}")
        pipe.zrem(f"{self._prefix}joins", uid)

    # --- pairs that stay apart ---

    def part(self, pipe: Pipeline, uid: str, other: str) -> None:
        """Two articles that are never joined again."""
        pipe.sadd(self._apart(uid), other)
        pipe.sadd(self._apart(other), uid)

    def ask_apart(self, pipe: Pipeline, uid: str) -> None:
        """Asks which articles one is never joined with."""
        pipe.smembers(self._apart(uid))

    def _bucket(self, kind: str, digest: str) -> str:
        return f"{keys.shard(shard_of(digest, self._shards))}same_{kind}:{digest}"

    def _apart(self, uid: str) -> str:
        return f"{keys.shard(shard_of(uid, self._shards))}apart:{uid}"

    def _json(self, key: str) -> dict[str, Any] | None:
        text = self._client.get(key)
        return None if text is None else dict(json.loads(text))
