"""The list of dead letters, which other programs read too: page by page, and letters taken out wherever they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.store.redis import keys
from feedcrawl.store.redis.scripts import lua_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from feedcrawl.store.redis.client import Client

PAGE = 200


class DeadLetters:
    """Oldest first. Methods may raise redis-py's errors."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._remove = client.register_script(lua_text(__package__, "remove_letters"))

    def count(self) -> int:
        """How many there are."""
        return int(self._client.llen(keys.DEAD_LETTERS))

    def page(self, start: int) -> list[str]:
        """Up to `PAGE` letters from a place on, as they stand there."""
        letters: list[str] = self._client.lrange(keys.DEAD_LETTERS, start, start + PAGE - 1)
        return letters

    def remove(self, start: int, letters: Sequence[str]) -> int:
        """Takes out letters of the page that begins at `start`; answers how many were still there."""
        return int(self._remove(keys=[keys.DEAD_LETTERS], args=[start, start + PAGE - 1, *letters])) if letters else 0
