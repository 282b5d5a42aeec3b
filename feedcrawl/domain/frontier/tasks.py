"""Pieces of future work: what the frontier holds, hands out and remembers."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Kind = Literal["feed", "sitemap", "article", "archive", "page", "websub", "file"]
Origin = Literal["feed", "sitemap", "spider", "manual", "queue"]
Lane = Literal["poll", "page"]
Again = Literal["", "edited", "retry", "operator", "queue_again", "push", "own_outage"]
"""Why a URL that ended comes again within the time for which it is remembered; "": it does not."""

LANES: tuple[Lane, ...] = get_args(Lane)
FILE_LANE = "file"
"""The lane of media files, which only those workers take that are to keep them."""
POLL_KINDS: frozenset[Kind] = frozenset({"feed", "sitemap", "websub"})
"""What comes before all else of equally ready hosts; an archive is no poll, and waits as articles do."""


@dataclass(frozen=True, slots=True)
class Task:
    """One piece of future work.

    `id` is an article's uid or `feed:<feed_id>`, so that each has one future. `host` is the lower-case hostname whose
    turn the task waits for. `priority` 1 (last) … 10 (first), see `domain.priority`. `payload` is what the spider
    needs to go on, as JSON values.
    """

    id: str
    kind: Kind
    url: str
    host: str
    priority: int = 5
    origin: Origin = "manual"
    parent: str | None = None
    depth: int = 0
    source: str | None = None
    category: str | None = None
    payload: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """The record as the frontier keeps it: fields at their default left out, payload as text of its own.

        The payload is a string inside the record because Lua's JSON cannot tell an empty list from an empty object.
        """
        record = {name: value for name in self.__slots__ if (value := getattr(self, name)) not in (None, {})}
        if not self.depth:
            del record["depth"]
        if self.payload:
            record["payload"] = compact(self.payload)
        if (lane := lane_of(self)) not in LANES:
            record["lane"] = lane
        return compact(record)


@dataclass(frozen=True, slots=True)
class History:
    """What the frontier remembers of a task beyond the task itself. Times in milliseconds of the frontier's clock.

    `attempts` are its tries that failed, `deaths` the workers that died with it in their hands.
    """

    status: str = "pending"
    reason: str | None = None
    attempts: int = 0
    discovered_at: int | None = None
    updated_at: int | None = None
    last_fetched_at: int | None = None
    fetch_count: int = 0
    last_error: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    content_hash: str | None = None
    quarantined: int = 0
    deaths: int = 0
    again: str | None = None


@dataclass(frozen=True, slots=True)
class Lease:
    """A task in this worker's hands until it is done, given back, or the lease runs out.

    `token` fences: a worker whose lease ran out changes nothing. `probe` asks that the host be tried with one light
    request first, because its circuit is half-open. `shard` is where the frontier keeps it.
    """

    task: Task
    history: History
    token: str
    probe: bool = False
    shard: int = 0

    @property
    def id(self) -> str:
        """The task's id."""
        return self.task.id


def own_lane(spider: str) -> str:
    """The lane of the pages that one spider alone can read."""
    return f"page:{spider}"


def lane_of(task: Task) -> str:
    """Among which tasks one stands: polls, pages and archives, media files, or the pages of one spider."""
    if task.kind in POLL_KINDS:
        return "poll"
    if task.kind == "file":
        return FILE_LANE
    spider = task.payload.get("spider") if task.kind == "page" else None
    return own_lane(spider) if spider else "page"


def compact(value: object) -> str:
    """JSON without white space, and valid UTF-8: a lone surrogate, which some JSON feeds escape, becomes `?`."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def task_from_json(text: str) -> tuple[Task, History]:
    """A record of the frontier as its two halves; names that this version does not know are left aside."""
    record = json.loads(text)
    payload = record.get("payload")
    record["payload"] = json.loads(payload) if isinstance(payload, str) else {}
    return Task(**_known(Task, record)), History(**_known(History, record))


def _known(kind: type[Any], record: dict[str, Any]) -> dict[str, Any]:
    return {name: record[name] for name in kind.__dataclass_fields__ if name in record}
