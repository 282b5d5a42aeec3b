"""Answers to requests that named an Idempotency-Key: the same request again has the same answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from feedcrawl.store.redis import keys

if TYPE_CHECKING:
    from feedcrawl.store.redis.client import Client

OPEN_SEC: Final = 60
"""How long a request that was begun may take; after that its key is free."""
LIFE_SEC: Final = 86_400


class Answers:
    """What is kept is text of the caller's making. Methods may raise redis-py's errors."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def begin(self, name: str, mark: str) -> str | None:
        """Begins a request; answers what is there already under its name: the mark of one under way, or an answer."""
        key = keys.api_answer(name)
        found: str | None = None
        while found is None and not self._client.set(key, mark, nx=True, ex=OPEN_SEC):
            found = self._client.get(key)
        return found

    def keep(self, name: str, answer: str) -> None:
        """Keeps the answer."""
        self._client.set(keys.api_answer(name), answer, ex=LIFE_SEC)

    def forget(self, name: str) -> None:
        """Frees the name: the request came to nothing that must be repeated."""
        self._client.delete(keys.api_answer(name))
