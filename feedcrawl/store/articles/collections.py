"""Collections: the articles that an actor of the API has put together, ordered by the time of their addition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from feedcrawl.domain.frontier.shards import shard_of
from feedcrawl.store.redis import keys
from feedcrawl.store.redis.connection import newest_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from feedcrawl.store.redis.client import Client, Pipeline

DEFAULT: Final = "default"
PAGE: Final = 500
"""Number of members that are detached together."""


class Collections:
    """Collections of all actors, named `<actor>/<name>`; each actor has a collection `default`. They never expire."""

    def __init__(self, client: Client, *, shards: int = 1) -> None:
        self._client = client
        self._shards = shards

    # --- the collections of an actor ---

    def make(self, actor: str, name: str, at: str) -> bool:
        """Adds a collection to an actor's list; False if it is already listed."""
        return bool(self._client.hsetnx(self._of(actor), name, at))

    def forget(self, actor: str, name: str) -> None:
        """Removes a collection from an actor's list."""
        self._client.hdel(self._of(actor), name)

    def knows(self, actor: str, name: str) -> bool:
        """True if the actor has a collection of this name."""
        return name == DEFAULT or bool(self._client.hexists(self._of(actor), name))

    def listed(self, actor: str) -> dict[str, str]:
        """The collections that an actor has created, each with its time of creation."""
        return dict(self._client.hgetall(self._of(actor)))

    def sizes(self, collections: Sequence[str]) -> list[int]:
        """The number of articles in each collection."""
        with self._client.pipeline(transaction=False) as pipe:
            for collection in collections:
                pipe.zcard(self._members(collection))
            return list(pipe.execute())

    # --- the articles of a collection ---

    def attach(self, pipe: Pipeline, collections: Iterable[str], media_id: str, at: float) -> None:
        """Queues adding an article to collections; an article that is already in a collection keeps its time."""
        for collection in collections:
            pipe.zadd(self._members(collection), {media_id: at}, nx=True)
            pipe.sadd(self._holders(media_id), collection)

    def detach(self, pipe: Pipeline, collections: Iterable[str], media_id: str) -> None:
        """Queues removing an article from collections."""
        for collection in collections:
            pipe.zrem(self._members(collection), media_id)
            pipe.srem(self._holders(media_id), collection)

    def query_holders(self, pipe: Pipeline, media_id: str) -> None:
        """Queues the query which collections have an article; the reply is a set of their names."""
        pipe.smembers(self._holders(media_id))

    def holders(self, media_id: str) -> set[str]:
        """The names of the collections that have an article."""
        return set(self._client.smembers(self._holders(media_id)))

    def members(self, collection: str, limit: int = 100) -> list[str]:
        """The media_ids of a collection, the last added first."""
        return [media_id for media_id, _ in self.page(collection, limit)]

    def page(self, collection: str, limit: int, before: tuple[float, str] | None = None) -> list[tuple[str, float]]:
        """The media_ids of a collection and the times of their addition, the last first, from after `before` on."""
        return newest_of(self._client, self._members(collection), limit, before=before)

    def holds(self, collection: str, media_id: str) -> bool:
        """True if the collection has the article."""
        return self._client.zscore(self._members(collection), media_id) is not None

    def _of(self, actor: str) -> str:
        return f"{keys.shard(shard_of(actor, self._shards))}collections:{actor}"

    def _members(self, collection: str) -> str:
        return f"{keys.shard(shard_of(collection, self._shards))}collection:{collection}"

    def _holders(self, media_id: str) -> str:
        return f"{keys.shard(shard_of(media_id, self._shards))}holders:{media_id}"


def full_name(actor: str, name: str) -> str:
    """The name of an actor's collection among the collections of all actors."""
    return f"{actor}/{name}"
