"""The list of dead letters, which other programs read too: page by page, and letters taken out wherever they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.domain.frontier.dead_letters import read_letter, shown
from feedcrawl.domain.secrets import MASK
from feedcrawl.store.redis import keys
from feedcrawl.store.redis.scripts import lua_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from feedcrawl.store.redis.client import Client, Pipeline

PAGE = 200


KEPT_SEC = 30 * 86_400


def keep(pipe: Pipeline, text: str) -> None:
    """Queues on a pipeline the storing of a letter as the frontier wrote it, if the list has it without its secrets."""
    uid = read_letter(text).said.get("uid")
    if uid and shown(text) != text:
        pipe.set(keys.letter(str(uid)), text, ex=KEPT_SEC)


def original(client: Client, text: str) -> str:
    """The letter as the frontier wrote it, for one out of the list; the text itself where nothing else is stored."""
    uid = read_letter(text).said.get("uid") if MASK in text else None
    found = client.get(keys.letter(str(uid))) if uid else None
    return text if found is None else str(found)


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
