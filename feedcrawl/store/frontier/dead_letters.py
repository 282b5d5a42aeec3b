"""The list of dead letters, which other programs read too: reads pages, and removes dead letters anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.domain.frontier.dead_letters import read_dead_letter, shown
from feedcrawl.domain.secrets import MASK
from feedcrawl.store.redis import keys
from feedcrawl.store.redis.scripts import lua_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from feedcrawl.store.redis.client import Client, Pipeline

PAGE = 200


KEPT_SEC = 30 * 86_400


def keep(pipe: Pipeline, text: str) -> None:
    """Queues on a pipeline the storing of the original dead letter, if the list has it with its secrets masked."""
    uid = read_dead_letter(text).fields.get("uid")
    if uid and shown(text) != text:
        pipe.set(keys.dead_letter(str(uid)), text, ex=KEPT_SEC)


def original(client: Client, text: str) -> str:
    """The original of a dead letter of the list, with its secrets; the text itself if no original is stored."""
    uid = read_dead_letter(text).fields.get("uid") if MASK in text else None
    found = client.get(keys.dead_letter(str(uid))) if uid else None
    return text if found is None else str(found)


class DeadLetters:
    """The list, oldest dead letter first. Methods may raise StoreUnavailable."""

    def __init__(self, client: Client, name: str = keys.DEAD_LETTERS) -> None:
        self._client = client
        self._name = name
        self._remove = client.register_script(lua_text(__package__, "remove_dead_letters"))

    def count(self) -> int:
        """The number of dead letters."""
        return int(self._client.llen(self._name))

    def page(self, start: int) -> list[str]:
        """Up to `PAGE` dead letters from an index on, as the list has them."""
        texts: list[str] = self._client.lrange(self._name, start, start + PAGE - 1)
        return texts

    def remove(self, start: int, texts: Sequence[str]) -> int:
        """Removes dead letters of the page that begins at `start`; returns how many were still in the list."""
        return int(self._remove(keys=[self._name], args=[start, start + PAGE - 1, *texts])) if texts else 0
