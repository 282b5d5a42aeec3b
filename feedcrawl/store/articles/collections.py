"""Collections: the articles that belong to an actor of the API, by the time at which they came into it."""

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
"""Members that are let go together."""


class Collections:
    """A collection is named `<actor>/<name>`; each actor has one of the name `default`. They never expire."""

    def __init__(self, client: Client, *, shards: int = 1) -> None:
        self._client = client
        self._shards = shards

    # --- which there are ---

    def make(self, actor: str, name: str, at: str) -> bool:
        """Lists a collection of an actor's; False if it is there already."""
        return bool(self._client.hsetnx(self._of(actor), name, at))

    def forget(self, actor: str, name: str) -> None:
        """Lists it no more."""
        self._client.hdel(self._of(actor), name)

    def knows(self, actor: str, name: str) -> bool:
        """Whether an actor has a collection of this name."""
        return name == DEFAULT or bool(self._client.hexists(self._of(actor), name))

    def listed(self, actor: str) -> dict[str, str]:
        """The collections that an actor has made, each with the time."""
        return dict(self._client.hgetall(self._of(actor)))

    def sizes(self, collections: Sequence[str]) -> list[int]:
        """How many articles each collection holds."""
        with self._client.pipeline(transaction=False) as pipe:
            for collection in collections:
                pipe.zcard(self._members(collection))
            return list(pipe.execute())

    # --- what they hold ---

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
        return [media_id for media_id, _ in self.page(collection, limit)]

    def page(self, collection: str, limit: int, before: tuple[float, str] | None = None) -> list[tuple[str, float]]:
        """The media_ids of a collection with the times at which they came, the last first, those after a place."""
        return newest_of(self._client, self._members(collection), limit, before=before)

    def holds(self, collection: str, media_id: str) -> bool:
        """Whether a collection holds an article."""
        return self._client.zscore(self._members(collection), media_id) is not None

    def _of(self, actor: str) -> str:
        return f"{keys.shard(shard_of(actor, self._shards))}collections:{actor}"

    def _members(self, collection: str) -> str:
        return f"{keys.shard(shard_of(collection, self._shards))}collection:{collection}"

    def _holders(self, media_id: str) -> str:
        return f"{keys.shard(shard_of(media_id, self._shards))}holders:{media_id}"


def full_name(actor: str, name: str) -> str:
    """The name of an actor's collection among those of all."""
    return f"{actor}/{name}"
