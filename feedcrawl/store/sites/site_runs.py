"""Crawls of sites that are under way: since when, and how many listing pages they have come to."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from feedcrawl.store.redis import keys

if TYPE_CHECKING:
    from feedcrawl.store.redis.client import Client

LIFE_SEC = 6 * 3600
"""A run that comes to no new page for so long is over, whoever left it."""


class Run(NamedTuple):
    """One run. `since_ms` is the server's time; `joined` tells that another worker began it, or that it was killed."""

    since_ms: int
    joined: bool


class SiteRuns:
    """One run per source at a time, whoever takes part in it. Methods may raise redis-py's errors."""

    def __init__(self, client: Client, *, shard: int = 0) -> None:
        self._client = client
        self._prefix = keys.shard(shard)

    def join(self, source: str) -> Run:
        """The run of a source that is under way, or a new one."""
        seconds, micros = self._client.time()
        now = seconds * 1000 + micros // 1000
        began = self._client.set(self._run(source), now, nx=True, ex=LIFE_SEC)
        return Run(now if began else int(self._client.get(self._run(source)) or now), not began)

    def count(self, source: str, pages: int) -> int:
        """Counts pages of a run that is under way; answers how many there are now."""
        with self._client.pipeline(transaction=True) as pipe:
            pipe.incrby(self._pages(source), pages)
            pipe.expire(self._pages(source), LIFE_SEC)
            pipe.expire(self._run(source), LIFE_SEC)
            return int(pipe.execute()[0])

    def end(self, source: str) -> None:
        """The run is over."""
        self._client.delete(self._run(source), self._pages(source))

    def _run(self, source: str) -> str:
        return f"{self._prefix}site_run:{source}"

    def _pages(self, source: str) -> str:
        return f"{self._prefix}site_pages:{source}"
