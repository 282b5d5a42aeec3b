"""Sources that were said over the API, by name, each as the JSON of an entry of the file of sources."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from feedcrawl.domain.frontier.tasks import compact
from feedcrawl.store.redis import keys

if TYPE_CHECKING:
    from collections.abc import Mapping

    from feedcrawl.store.redis.client import Client


class SaidSources:
    """Methods may raise redis-py's errors."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def all(self) -> dict[str, dict[str, Any]]:
        """Those that there are."""
        return {name: json.loads(text) for name, text in sorted(self._client.hgetall(keys.SOURCES).items())}

    def put(self, name: str, entry: Mapping[str, Any]) -> bool:
        """Keeps one; whether it is new."""
        return bool(self._client.hset(keys.SOURCES, name, compact(dict(entry))))

    def drop(self, name: str) -> bool:
        """Forgets one; False if it is not there."""
        return bool(self._client.hdel(keys.SOURCES, name))
