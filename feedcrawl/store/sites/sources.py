"""Sources that were set over the API, by name, each as the JSON of an entry of the sources file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from feedcrawl.domain.frontier.tasks import compact
from feedcrawl.store.redis import keys

if TYPE_CHECKING:
    from collections.abc import Mapping

    from feedcrawl.store.redis.client import Client


class StoredSources:
    """The sources by name. Methods may raise StoreUnavailable."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def all(self) -> dict[str, dict[str, object]]:
        """All sources."""
        return {name: json.loads(text) for name, text in sorted(self._client.hgetall(keys.SOURCES).items())}

    def version(self) -> str | None:
        """A value that differs after each change; None before the first."""
        found = self._client.get(keys.SOURCES_VERSION)
        return None if found is None else str(found)

    def put(self, name: str, entry: Mapping[str, object]) -> bool:
        """Stores a source; True if it is new."""
        with self._client.pipeline() as pipe:
            pipe.hset(keys.SOURCES, name, compact(dict(entry)))
            pipe.incrby(keys.SOURCES_VERSION)
            return bool(pipe.execute()[0])

    def drop(self, name: str) -> bool:
        """Removes a source; False if it did not exist."""
        with self._client.pipeline() as pipe:
            pipe.hdel(keys.SOURCES, name)
            pipe.incrby(keys.SOURCES_VERSION)
            return bool(pipe.execute()[0])
