"""Media records: what became of each article, for longer than the article itself is kept.

A record that is in someone's collection stays, with the fragments of its versions; others leave after their time, and
their fragments are what the article's HASH holds.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from feedcrawl.domain.shards import shard_of
from feedcrawl.domain.states import Media, media_from
from feedcrawl.store import keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from feedcrawl.store.connection import Client, Pipeline


class MediaRecords:
    """Records by media_id. Methods that take a pipeline queue commands on it; writing twice is writing once."""

    def __init__(self, client: Client, *, life_sec: int, shards: int = 1) -> None:
        self._client = client
        self._life_sec = life_sec
        self._shards = shards

    def ask(self, pipe: Pipeline, media_id: str) -> None:
        """Asks for a record; `read` makes it of the reply."""
        pipe.get(self._record(media_id))

    @staticmethod
    def read(reply: str | None) -> Media | None:
        """The record in a reply."""
        return None if reply is None else media_from(json.loads(reply))

    def get(self, media_id: str) -> Media | None:
        """One record."""
        return self.read(self._client.get(self._record(media_id)))

    def create(self, media: Media) -> bool:
        """Keeps a record unless there is one; whether it is this one."""
        return bool(self._client.set(self._record(media.media_id), _text(media), nx=True, ex=self._life_sec))

    def write(self, pipe: Pipeline, media: Media) -> None:
        """The record as it is now; one that is held stays so."""
        key, text = self._record(media.media_id), _text(media)
        pipe.set(key, text, nx=True, ex=self._life_sec)
        pipe.set(key, text, keepttl=True)

    def hold(self, pipe: Pipeline, media: Media) -> None:
        """A record stays without end; where there is none yet, this one."""
        pipe.set(self._record(media.media_id), _text(media), nx=True)
        pipe.persist(self._record(media.media_id))

    def write_fragments(self, pipe: Pipeline, media: Media, fragments: Sequence[dict[str, Any]]) -> None:
        """The fragments of the record's version, unless they are there: they never change."""
        if media.content_hash is not None:
            pipe.hsetnx(self._fragments(media.media_id), media.content_hash, json.dumps(fragments, ensure_ascii=False))

    def fragments(self, media: Media) -> list[dict[str, Any]]:
        """The kept fragments of the record's version; none where nothing was kept."""
        if media.content_hash is None:
            return []
        text = self._client.hget(self._fragments(media.media_id), media.content_hash)
        return [] if text is None else list(json.loads(text))

    def _record(self, media_id: str) -> str:
        return f"{keys.shard(shard_of(media_id, self._shards))}media:{media_id}"

    def _fragments(self, media_id: str) -> str:
        return f"{keys.shard(shard_of(media_id, self._shards))}fragments:{media_id}"


def _text(media: Media) -> str:
    return json.dumps(media.to_record(), separators=(",", ":"), ensure_ascii=False)
