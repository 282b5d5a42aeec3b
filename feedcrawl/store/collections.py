"""Collections: the articles that belong to an actor of the API, by the time at which they came into it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from feedcrawl.domain.shards import shard_of
from feedcrawl.store import keys

if TYPE_CHECKING:
    from collections.abc import Iterable

    from feedcrawl.store.connection import Client, Pipeline

DEFAULT: Final = "default"


class Collections:
    """A collection is named `<actor>/<name>`; each actor has one of the name `default`. They never expire."""

    def __init__(self, client: Client, *, shards: int = 1) -> None:
        self._client = client
        self._shards = shards

    def attach(self, pipe: Pipeline, collections: Iterable[str], media_id: str, at: float) -> None:
        """Queues that collections hold an article; what they held before keeps its time."""
        for collection in collections:
            pipe.zadd(self._members(collection), {media_id: at}, nx=True)
            pipe.sadd(self._holders(media_id), collection)

    def detach(self, pipe: Pipeline, collections: Iterable[str], media_id: str) -> None:
        """Queues that collections hold an article no more."""
        for collection in collections:
            pipe.zrem(self._members(collection), media_id)
            pipe.srem(self._holders(media_id), collection)

    def ask_holders(self, pipe: Pipeline, media_id: str) -> None:
        """Asks which collections hold an article; the reply is a set of their names."""
        pipe.smembers(self._holders(media_id))

    def holders(self, media_id: str) -> set[str]:
        """The collections that hold an article."""
        return set(self._client.smembers(self._holders(media_id)))

    def members(self, collection: str, limit: int = 100) -> list[str]:
        """The media_ids of a collection, the last that came first."""
        return list(self._client.zrevrange(self._members(collection), 0, limit - 1))

    def _members(self, collection: str) -> str:
        return f"{keys.shard(shard_of(collection, self._shards))}collection:{collection}"

    def _holders(self, media_id: str) -> str:
        return f"{keys.shard(shard_of(media_id, self._shards))}holders:{media_id}"


def default_of(actor: str) -> str:
    """The name of an actor's own collection."""
    return f"{actor}/{DEFAULT}"
