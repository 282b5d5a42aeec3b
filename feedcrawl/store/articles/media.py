"""Page records: the states of each requested URL, kept for longer than the article itself.

The record of an article in a collection does not expire, nor do the fragments of its versions and the fields of its
last version. Other records expire, and then only the article's HASH has this data.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.articles.media import Media, fragments, media_from
from feedcrawl.domain.articles.query import OUTLINE
from feedcrawl.domain.frontier.shards import shard_of
from feedcrawl.store.redis import keys
from feedcrawl.store.redis.connection import get_each

if TYPE_CHECKING:
    from collections.abc import Sequence

    from feedcrawl.domain.articles.fields import ArticleFields
    from feedcrawl.domain.articles.page_records import MediaFragments
    from feedcrawl.store.redis.client import Client, Pipeline

_ARTICLE: Final = "article"
"""Field of the last version's article without its text; the other fields are fragments by a version's content hash."""


class MediaRecords:
    """Page records by media_id. Methods with a pipeline queue commands on it; all writes are safe to repeat."""

    def __init__(self, client: Client, *, life_sec: int, shards: int = 1) -> None:
        self._client = client
        self._life_sec = life_sec
        self._shards = shards

    def query(self, pipe: Pipeline, media_id: str) -> None:
        """Queues the query for a record; `read` decodes the reply."""
        pipe.get(self._record(media_id))

    @staticmethod
    def read(reply: str | None) -> Media | None:
        """The record in a reply; None if there is none."""
        return None if reply is None else media_from(json.loads(reply))

    def get(self, media_id: str) -> Media | None:
        """The record of this id; None if there is none."""
        return self.read(self._client.get(self._record(media_id)))

    def get_all(self, media_ids: Sequence[str]) -> list[Media | None]:
        """The record of each id, None where there is none; in one round trip."""
        return [self.read(text) for text in get_each(self._client, [self._record(each) for each in media_ids])]

    def create(self, media: Media) -> bool:
        """Stores a record unless one exists; True if it was stored."""
        return bool(self._client.set(self._record(media.media_id), _text(media), nx=True, ex=self._life_sec))

    def write(self, pipe: Pipeline, media: Media) -> None:
        """Queues writing a record; a record that does not expire stays so."""
        key, text = self._record(media.media_id), _text(media)
        pipe.set(key, text, nx=True, ex=self._life_sec)
        pipe.set(key, text, keepttl=True)

    def hold(self, pipe: Pipeline, media: Media) -> None:
        """Queues that a record and its fragments never expire; if there is no record yet, `media` is stored."""
        pipe.set(self._record(media.media_id), _text(media), nx=True)
        pipe.persist(self._record(media.media_id))
        pipe.persist(self._fragments(media.media_id))

    def release(self, pipe: Pipeline, media_id: str) -> None:
        """Queues that a record and its fragments expire again, because no collection has the article any more."""
        pipe.expire(self._record(media_id), self._life_sec)
        pipe.expire(self._fragments(media_id), self._life_sec)

    def keep(self, pipe: Pipeline, media: Media, article: ArticleFields) -> None:
        """Queues storing the article of the record's version, and the version's fragments, which never change."""
        if media.content_hash is not None:
            parts = fragments(article["content_html"] or "", article["clean_text"])
            outline = {name: article.get(name) for name in OUTLINE if name in article}
            kept = self._fragments(media.media_id)
            pipe.hsetnx(kept, media.content_hash, json.dumps(parts, ensure_ascii=False))
            pipe.hset(kept, _ARTICLE, json.dumps(outline, ensure_ascii=False, separators=(",", ":")))

    def fragments(self, media: Media) -> list[MediaFragments]:
        """The stored fragments of the record's version; empty if none are stored."""
        if media.content_hash is None:
            return []
        text = self._client.hget(self._fragments(media.media_id), media.content_hash)
        return [] if text is None else list(json.loads(text))

    def kept(self, media: Sequence[Media]) -> list[tuple[ArticleFields | None, list[MediaFragments]]]:
        """The stored article (None if missing) and fragments of each record's version, in one round trip."""
        with self._client.pipeline(transaction=False) as pipe:
            for each in media:
                pipe.hmget(self._fragments(each.media_id), _ARTICLE, each.content_hash or "")
            return [(json.loads(about or "null"), json.loads(parts or "[]")) for about, parts in pipe.execute()]

    def _record(self, media_id: str) -> str:
        return f"{keys.shard(shard_of(media_id, self._shards))}media:{media_id}"

    def _fragments(self, media_id: str) -> str:
        return f"{keys.shard(shard_of(media_id, self._shards))}fragments:{media_id}"


def _text(media: Media) -> str:
    return json.dumps(media.to_record(), separators=(",", ":"), ensure_ascii=False)
