"""Tasks: pieces of future work that the frontier stores and leases to workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from feedcrawl.domain.frontier.payloads import Payload
from feedcrawl.domain.json_values import STRICT_JSON, compact_json, from_json_text, known_fields

# The stored form has kinds and origins by their place in these lists (`store.frontier.packed`): new ones go to the end.
Kind = Literal[
    "feed", "sitemap", "article", "archive", "page", "websub", "file", "site_search", "site", "listing", "gap"
]
Origin = Literal["feed", "sitemap", "spider", "manual", "queue"]
Lane = Literal["poll", "page"]
Again = Literal["", "edited", "retry", "operator", "queue_again", "push", "delivery", "own_outage"]
"""The reason for fetching an ended URL again within the time for which the frontier remembers it; "": it is not
fetched.
"""

MAX_CATEGORY = 256
"""Maximum length in characters of a category, the label of feeds and articles."""

StoredTask = Mapping[str, Any]
"""A task with its history as the frontier stores them: fields of `Task` and `History` that are not empty, and those
of other versions.
"""

LANES: tuple[Lane, ...] = get_args(Lane)
FILE_LANE = "file"
"""The lane of media files, taken only by workers that store media files."""
SITE_LANE = "listing"
"""The lane of listing pages, taken only by the spiders that crawl sites."""
SITE_KINDS: frozenset[Kind] = frozenset({"site", "listing"})
POLL_KINDS: frozenset[Kind] = frozenset({"feed", "sitemap", "websub", "site_search"})
"""Kinds that are taken first when several hosts are ready. An archive is not a poll: it waits as articles do."""


@dataclass(frozen=True, slots=True)
class Task:
    """One piece of future work.

    `id` is an article's uid, or a prefix and an id (`feed:<feed_id>`), so that each thing has at most one task. `host`
    is the lower-case hostname whose delay the task waits for. `priority` is 1 (last) to 10 (first), see
    `domain.frontier.priority`. `payload` is the data that the spider needs to continue, as JSON values.
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
    payload: Payload = field(default_factory=Payload)

    def to_record(self) -> StoredTask:
        """The record of the task: without the empty fields, and with the payload as JSON text.

        The payload is text inside the record because Lua's JSON cannot distinguish an empty list from an empty object.
        """
        record = {name: value for name in self.__slots__ if (value := getattr(self, name)) not in (None, {})}
        if not self.depth:
            del record["depth"]
        if self.payload:
            encode = STRICT_JSON.encode if self.kind == "page" else compact_json  # pages have values of users' requests
            record["payload"] = valid_utf8(encode(self.payload))
        if (lane := lane_of(self)) not in LANES:
            record["lane"] = lane
        return record


@dataclass(frozen=True, slots=True)
class History:
    """The state of a task that the frontier stores beside the task. Times in milliseconds of the frontier's clock.

    `attempts` is the number of failed tries, `deaths` the number of workers that died while they held the task.
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
    """A task that this worker holds until the task ends, is given back, or the lease expires.

    `token` is the fencing token: a worker whose lease has expired changes nothing. `probe` requires one light request
    to the host first, because its circuit is half open. `shard` is the shard that stores the task.
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
    """The lane of the pages that only this spider can read."""
    return f"page:{spider}"


def lane_of(task: Task) -> str:
    """The lane of a task: polls, pages (with articles and archives), media files, listings, or one spider's pages."""
    if task.kind in POLL_KINDS:
        return "poll"
    if task.kind == "file":
        return FILE_LANE
    if task.kind in SITE_KINDS:
        return SITE_LANE
    spider = task.payload.get("spider") if task.kind == "page" else None
    return own_lane(spider) if spider else "page"


def compact(value: object) -> str:
    """JSON without white space, as valid UTF-8: a lone surrogate (an escape in some JSON feeds) becomes `?`."""
    return valid_utf8(compact_json(value))


def valid_utf8(text: str) -> str:
    """The text with `?` for each lone surrogate."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def task_from_record(record: StoredTask) -> tuple[Task, History]:
    """The task and the history of a record; fields unknown to this version are ignored."""
    payload = record.get("payload")
    record = {**record, "payload": from_json_text(payload) if isinstance(payload, str) else {}}
    return Task(**known_fields(Task, record)), History(**known_fields(History, record))
