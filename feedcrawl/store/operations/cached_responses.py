"""Cached responses of requests with an Idempotency-Key: a repeated request gets the same response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from feedcrawl.store.redis import keys

if TYPE_CHECKING:
    from feedcrawl.store.redis.client import Client

OPEN_SEC: Final = 60
"""Longest duration of a running request; after that its key is free."""
LIFE_SEC: Final = 86_400


class CachedResponses:
    """Cached responses by name, as text that the caller encodes. Methods may raise StoreUnavailable."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def begin(self, name: str, mark: str) -> str | None:
        """Marks a request as running; returns the text already stored, a mark or a response, else None."""
        key = keys.cached_response(name)
        found: str | None = None
        while found is None and not self._client.set(key, mark, nx=True, ex=OPEN_SEC):
            found = self._client.get(key)
        return found

    def keep(self, name: str, response: str) -> None:
        """Stores the response."""
        self._client.set(keys.cached_response(name), response, ex=LIFE_SEC)

    def forget(self, name: str) -> None:
        """Frees the name: the request had no result that a repetition must return."""
        self._client.delete(keys.cached_response(name))
