"""Data for merges: recent texts and titles with their articles, the merges done, and the pairs that must stay apart.

A bucket is a HASH of the articles of one site that share a text or a title, each with its place in the order of
arrival: if two workers add articles to a bucket at the same time, one of them is first. Merges are stored so that they
can be listed and undone.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from feedcrawl.domain.frontier.shards import shard_of
from feedcrawl.domain.operations.settings import DAY_SEC
from feedcrawl.store.redis import keys
from feedcrawl.store.redis.scripts import lua_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from feedcrawl.domain.articles.fields import ArticleFields
    from feedcrawl.domain.articles.records import MergeRecord
    from feedcrawl.store.redis.client import Client, Pipeline

MERGE_LIFE_SEC = 30 * DAY_SEC
BUCKET_SIZE = 1000
"""Most articles in a bucket; later ones are not compared. So many articles of one title come from a template."""

COMPARED = 200
"""Most articles returned from a bucket, the last added: copies appear soon, and comparing each costs 0.1 ms."""


class Stories:
    """Buckets and pairs that stay apart, each in the shard of its name; merges, all in the first shard.

    Methods with a pipeline queue commands on it.
    """

    def __init__(self, client: Client, *, title_life_sec: int, shards: int = 1) -> None:
        self._client = client
        self._lives = {"text": MERGE_LIFE_SEC, "title": title_life_sec}
        self._shards = shards
        self._prefix = keys.shard()
        self._meet = lua_text(__package__, "meet")

    # --- buckets ---

    def enter(self, pipe: Pipeline, bucket: tuple[str, str], uid: str, left: str, lengths: tuple[int, int]) -> None:
        """Queues adding an article's fingerprint to a bucket (`text` or `title`, digest); `earlier` reads the reply."""
        kind, digest = bucket
        life = self._lives[kind]
        # EVAL: a cluster's pipeline cannot run registered scripts.
        script = ("EVAL", self._meet, 1, self._bucket(kind, digest))
        pipe.execute_command(*script, uid, left, BUCKET_SIZE, life, *lengths, COMPARED)

    @staticmethod
    def earlier(reply: Sequence[str]) -> list[tuple[str, str]]:
        """The articles that came before, each with its fingerprint, the oldest first."""
        return list(zip(reply[::2], reply[1::2], strict=True))

    def leave(self, pipe: Pipeline, bucket: tuple[str, str], uid: str) -> None:
        """Queues removing a merged article from a bucket, so that no other article is compared with it."""
        pipe.hdel(self._bucket(*bucket), uid)

    # --- merges ---

    def merge(self, pipe: Pipeline, merge: MergeRecord, *, life_sec: int, record: ArticleFields | None) -> None:
        """Queues storing a merge (`uid`, `winner`, `at_ts`, …), and for `life_sec` the merged article's own record."""
        uid, at = merge["uid"], merge["at_ts"]
        pipe.set(f"{self._prefix}join:{uid}", json.dumps(merge, ensure_ascii=False), ex=MERGE_LIFE_SEC)
        pipe.zadd(f"{self._prefix}joins", {uid: at})
        pipe.zremrangebyscore(f"{self._prefix}joins", "-inf", at - MERGE_LIFE_SEC)
        if record is not None:
            pipe.set(f"{self._prefix}joined_record:{uid}", json.dumps(record, ensure_ascii=False), ex=life_sec)

    def merges(self, limit: int) -> list[MergeRecord]:
        """The last merges, newest first."""
        uids = self._client.zrevrange(f"{self._prefix}joins", 0, limit - 1)
        return [merge for merge in map(self.find, uids) if merge is not None]

    def find(self, uid: str) -> MergeRecord | None:
        """The merge by which this uid became part of another article; None if there is none."""
        text = self._client.get(f"{self._prefix}join:{uid}")
        merge: MergeRecord | None = None if text is None else json.loads(text)
        return merge

    def record(self, uid: str) -> ArticleFields | None:
        """The record of an article that was merged into another instead of being stored; None if there is none."""
        text = self._client.get(f"{self._prefix}joined_record:{uid}")
        record: ArticleFields | None = None if text is None else json.loads(text)
        return record

    def undone(self, pipe: Pipeline, uid: str) -> None:
        """Queues removing a merge that was undone."""
        pipe.delete(f"{self._prefix}join:{uid}")
        pipe.delete(f"{self._prefix}joined_record:{uid}")
        pipe.zrem(f"{self._prefix}joins", uid)

    # --- pairs that stay apart ---

    def part(self, pipe: Pipeline, uid: str, other: str) -> None:
        """Queues that two articles are never merged again."""
        pipe.sadd(self._apart(uid), other)
        pipe.sadd(self._apart(other), uid)

    def query_apart(self, pipe: Pipeline, uid: str) -> None:
        """Queues the query which articles must never be merged with this one."""
        pipe.smembers(self._apart(uid))

    def _bucket(self, kind: str, digest: str) -> str:
        return f"{keys.shard(shard_of(digest, self._shards))}same_{kind}:{digest}"

    def _apart(self, uid: str) -> str:
        return f"{keys.shard(shard_of(uid, self._shards))}apart:{uid}"
