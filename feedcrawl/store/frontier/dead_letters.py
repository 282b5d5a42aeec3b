"""The list of dead letters, which other programs read too: page by page, and letters taken out wherever they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.store.redis import keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from feedcrawl.store.redis.client import Client

PAGE = 200
# Letters are told by their text, since others may push and trim meanwhile. They become what no letter is, and go in one
# pass over the list: LREM for each would read it as often as there are letters.
_REMOVE = """
local start, wanted, found, gone = tonumber(ARGV[1]), {}, 0, '\\0'
for i = 2, #ARGV do wanted[ARGV[i]] = (wanted[ARGV[i]] or 0) + 1 end
for i, text in ipairs(redis.call('LRANGE', KEYS[1], start, start + PAGE - 1)) do
  if (wanted[text] or 0) > 0 then
    redis.call('LSET', KEYS[1], start + i - 1, gone)
    wanted[text], found = wanted[text] - 1, found + 1
  end
end
if found > 0 then redis.call('LREM', KEYS[1], found, gone) end
for text, left in pairs(wanted) do
  if left > 0 then found = found + redis.call('LREM', KEYS[1], left, text) end
end
return found
""".replace("PAGE", str(PAGE))


class DeadLetters:
    """Oldest first. Methods may raise redis-py's errors."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._remove = client.register_script(_REMOVE)

    def count(self) -> int:
        """How many there are."""
        return int(self._client.llen(keys.DEAD_LETTERS))

    def page(self, start: int) -> list[str]:
        """Up to `PAGE` letters from a place on, as they stand there."""
        letters: list[str] = self._client.lrange(keys.DEAD_LETTERS, start, start + PAGE - 1)
        return letters

    def remove(self, start: int, letters: Sequence[str]) -> int:
        """Takes out letters of the page that begins at `start`; answers how many were still there."""
        return int(self._remove(keys=[keys.DEAD_LETTERS], args=[start, *letters])) if letters else 0
