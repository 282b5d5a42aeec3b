"""Events for other programs: one Redis stream, at least once, each with an id that a repetition carries too."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from feedcrawl.store import keys

if TYPE_CHECKING:
    from collections.abc import Iterable

    from feedcrawl.domain.events import Event
    from feedcrawl.store.connection import Client, Pipeline

TRIM_EVERY = 500


class Events:
    """The stream `feedcrawl:events`. Methods may raise redis-py's errors."""

    def __init__(self, client: Client, *, ttl_sec: int) -> None:
        self._client = client
        self._ttl_sec = ttl_sec
        self._since_trim = 0

    def add(self, pipe: Pipeline, events: Iterable[Event]) -> None:
        """Queues events on a pipeline, in order."""
        for event in events:
            pipe.xadd(keys.EVENTS, {"type": event.type, "id": event.id, "data": event.data})
            self._since_trim += 1

    def trim(self, *, force: bool = False) -> None:
        """Drops events older than their life, never one that a consumer group has not been given or acknowledged."""
        if self._since_trim < TRIM_EVERY and not force:
            return
        self._since_trim = 0
        oldest = (int((time.time() - self._ttl_sec) * 1000), 0)
        for group in self._groups():
            oldest = min(oldest, group)
        self._client.xtrim(keys.EVENTS, minid=f"{oldest[0]}-{oldest[1]}", approximate=True)

    def _groups(self) -> list[tuple[int, int]]:
        """The oldest event that each group still needs."""
        if not self._client.exists(keys.EVENTS):
            return []
        needed = []
        for group in self._client.xinfo_groups(keys.EVENTS):
            pending = self._client.xpending(keys.EVENTS, group["name"])
            needed.append(_number(pending["min"] or group["last-delivered-id"]))
        return needed


def _number(event_id: str) -> tuple[int, int]:
    time_ms, _, sequence = event_id.partition("-")
    return int(time_ms), int(sequence or 0)
