"""Events for other programs: one Redis stream with at-least-once delivery; a repeated event has the same id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from redis.exceptions import ResponseError

from feedcrawl.store.redis import keys

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from feedcrawl.domain.operations.events import Event
    from feedcrawl.store.redis.client import Client, GroupInfo, Pipeline

TRIM_EVERY = 500
REFUSED_KEPT: Final = 10_000
"""Most events that are stored after a consumer refused them; older ones are dropped."""


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """One entry of the stream: its stream id, and its fields (empty if it was deleted)."""

    at: str
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Backlog:
    """The entries that a consumer group still needs: `unacknowledged` ones, `waiting` ones not yet delivered to
    the group (None: the server does not know), and the Unix time of the oldest of both (None if there is none).
    """

    group: str
    unacknowledged: int
    waiting: int | None
    oldest_at: float | None


class Events:
    """The stream `feedcrawl:events`. Methods may raise StoreUnavailable."""

    def __init__(self, client: Client, *, ttl_sec: int) -> None:
        self._client = client
        self._ttl_sec = ttl_sec
        self._since_trim = 0

    def add(self, pipe: Pipeline, events: Iterable[Event], traceparent: str | None = None) -> None:
        """Queues events on a pipeline, in order; with tracing, each has the traceparent of its span."""
        trace = {"traceparent": traceparent} if traceparent else {}
        for event in events:
            pipe.xadd(keys.EVENTS, {"type": event.type, "id": event.id, "data": event.data, **trace})
            self._since_trim += 1

    def trim(self, now: float, *, force: bool = False) -> None:
        """Removes events older than their time to live, except those that a consumer group still needs."""
        if self._since_trim < TRIM_EVERY and not force:
            return
        self._since_trim = 0
        oldest = (int((now - self._ttl_sec) * 1000), 0)
        for group in self._groups():
            oldest = min(oldest, group)
        self._client.xtrim(keys.EVENTS, minid=f"{oldest[0]}-{oldest[1]}", approximate=True)

    def after(self, last: str, limit: int) -> list[StoredEvent]:
        """Up to `limit` events after the stream id `last`, in order; "0" is before the first event."""
        return _stored_events(self._client.xrange(keys.EVENTS, min=f"({last}", count=limit))

    def last(self) -> str:
        """The stream id of the newest event; "0" if there is none."""
        found = self._client.xrevrange(keys.EVENTS, count=1)
        return str(found[0][0]) if found else "0"

    def open_group(self, group: str) -> None:
        """Creates a consumer group that starts at the oldest event; an existing group keeps its position."""
        try:
            self._client.xgroup_create(keys.EVENTS, group, id="0", mkstream=True)
        except ResponseError as error:
            if not str(error).startswith("BUSYGROUP"):
                raise

    def give(self, group: str, consumer: str, count: int, *, again: bool) -> list[StoredEvent]:
        """The next events for a consumer; with `again` the oldest that it has received and not acknowledged."""
        found = self._client.xreadgroup(group, consumer, {keys.EVENTS: "0" if again else ">"}, count=count)
        return _stored_events(found[0][1]) if found else []

    def acknowledge(self, group: str, stored: Sequence[StoredEvent]) -> None:
        """Acknowledges events: the group does not need them any more."""
        if stored:
            self._client.xack(keys.EVENTS, group, *(each.at for each in stored))

    def refuse(self, stored: StoredEvent, group: str, reason: str, detail: str) -> None:
        """Stores for the operator an event that a group can never process, with the reason."""
        more = {"at": stored.at, "group": group, "reason": reason, "detail": detail}
        self._client.xadd(keys.EVENTS_REFUSED, {**stored.fields, **more}, maxlen=REFUSED_KEPT)

    def count(self, group: str, result: str, number: int = 1) -> None:
        """Adds to the number of events with this result for a consumer group."""
        self._client.hincrby(keys.EVENTS_COUNTS, f"{result}:{group}", number)

    def counts(self) -> dict[tuple[str, str], int]:
        """The numbers that `count` has added up, by group and result."""
        found = self._client.hgetall(keys.EVENTS_COUNTS)
        return {
            (group, result): int(number) for name, number in found.items() for result, group in [name.split(":", 1)]
        }

    def lead(self, group: str, worker: str, sec: int) -> bool:
        """True if this worker is the consumer of the group for the next `sec` seconds."""
        key = keys.leader(group)
        if self._client.set(key, worker, nx=True, ex=sec):
            return True
        return self._client.get(key) == worker and bool(self._client.expire(key, sec))

    def leave(self, group: str, worker: str) -> None:
        """Lets another worker become the consumer of the group at once."""
        if self._client.get(keys.leader(group)) == worker:
            self._client.delete(keys.leader(group))

    def backlogs(self) -> list[Backlog]:
        """The backlog of each consumer group."""
        if not self._client.exists(keys.EVENTS):
            return []
        return [self._backlog(group) for group in self._client.xinfo_groups(keys.EVENTS)]

    def _backlog(self, group: GroupInfo) -> Backlog:
        needed = self._client.xpending(keys.EVENTS, group["name"])["min"] or f"({group['last-delivered-id']}"
        return Backlog(group["name"], group["pending"], group.get("lag"), self._oldest_at(needed))

    def behind_since(self, last: str) -> float | None:
        """Unix time of the oldest event after the stream id `last`; None if there is none."""
        return self._oldest_at(f"({last}")

    def _oldest_at(self, start: str) -> float | None:
        oldest = self._client.xrange(keys.EVENTS, min=start, count=1)
        return _number(oldest[0][0])[0] / 1000 if oldest else None

    def _groups(self) -> list[tuple[int, int]]:
        """For each group, the id of the oldest event that it still needs."""
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


def _stored_events(found: Iterable[tuple[str, Mapping[str, str] | None]]) -> list[StoredEvent]:
    return [StoredEvent(at, fields or {}) for at, fields in found]
