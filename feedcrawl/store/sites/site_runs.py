"""Running crawls of sites: their start, and how many listing pages they have fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from feedcrawl.store.redis import keys

if TYPE_CHECKING:
    from feedcrawl.store.redis.client import Client

LIFE_SEC = 6 * 3600
"""A run without a new page for this time is over, whether or not its worker ended it."""


class Run(NamedTuple):
    """One run. `since_ms` is its start by the server's clock; `joined` is True if the run existed already:
    another worker started it, or an earlier one was killed.
    """

    since_ms: int
    joined: bool


class SiteRuns:
    """At most one run per source at a time, shared by its workers. Methods may raise StoreUnavailable."""

    def __init__(self, client: Client, *, shard: int = 0) -> None:
        self._client = client
        self._prefix = keys.shard(shard)

    def join(self, source: str) -> Run:
        """The current run of a source; a new one if there is none."""
        seconds, micros = self._client.time()
        now = seconds * 1000 + micros // 1000
        began = self._client.set(self._run(source), now, nx=True, ex=LIFE_SEC)
        return Run(now if began else int(self._client.get(self._run(source)) or now), not began)

    def count(self, source: str, pages: int) -> int:
        """Adds pages to the count of the current run; returns the new count."""
        with self._client.pipeline(transaction=True) as pipe:
            pipe.incrby(self._pages(source), pages)
            pipe.expire(self._pages(source), LIFE_SEC)
            pipe.expire(self._run(source), LIFE_SEC)
            return int(pipe.execute()[0])

    def end(self, source: str) -> None:
        """Ends the run."""
        self._client.delete(self._run(source), self._pages(source))

    def _run(self, source: str) -> str:
        return f"{self._prefix}site_run:{source}"

    def _pages(self, source: str) -> str:
        return f"{self._prefix}site_pages:{source}"
