"""Selects tasks of the frontier by their fields, and shows a task as programs read it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.urls import url_hash, url_uid

if TYPE_CHECKING:
    from feedcrawl.domain.frontier.records import TaskRecord
    from feedcrawl.domain.frontier.tasks import History, Task


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """A filter for tasks: every given condition must hold. Times are inclusive."""

    host: str | None = None
    source: str | None = None
    status: str | None = None
    kind: str | None = None
    text: str | None = None
    """A part of the URL."""
    origin: str | None = None
    category: str | None = None
    parent: str | None = None
    depth: int | None = None
    priority: int | None = None
    error: str | None = None
    """The reason code of the last failure, or of the end."""
    min_retries: int | None = None
    min_fetches: int | None = None
    url_hash: str | None = None
    content_hash: str | None = None
    discovered_after: datetime | None = None
    discovered_before: datetime | None = None
    fetched_after: datetime | None = None
    fetched_before: datetime | None = None
    next_fetch_after: datetime | None = None
    next_fetch_before: datetime | None = None

    def matches(self, task: Task, history: History) -> bool:
        """True if a task matches the filter. The caller checks `content_hash`, which the article has, and the time of
        the next fetch (`is_due_then`), which the queues have.
        """
        pairs = (
            (self.host, task.host),
            (self.source, task.source),
            (self.status, status_of(history)),
            (self.kind, task.kind),
            (self.origin, task.origin),
            (self.category, task.category),
            (self.parent, task.parent),
            (self.depth, task.depth),
            (self.priority, task.priority),
        )
        return (
            all(expected in (None, found) for expected, found in pairs)
            and (self.text or "") in task.url
            and self.error in (None, history.last_error, history.reason)
            and history.attempts >= (self.min_retries or 0)
            and history.fetch_count >= (self.min_fetches or 0)
            and _within(history.discovered_at, self.discovered_after, self.discovered_before)
            and _within(history.last_fetched_at, self.fetched_after, self.fetched_before)
            and self.url_hash in (None, hash_of(task))
        )

    @property
    def has_due_times(self) -> bool:
        """True if the filter has a condition on the time of the next fetch."""
        return self.next_fetch_after is not None or self.next_fetch_before is not None

    def is_due_then(self, due_ms: int | None) -> bool:
        """True if a time of the next fetch (Unix milliseconds) matches the filter; None, if there is none, never
        does.
        """
        return _within(due_ms, self.next_fetch_after, self.next_fetch_before)


def status_of(history: History) -> str:
    """The status that people see: that of the record, or `quarantined`."""
    return "quarantined" if history.status == "pending" and history.quarantined else history.status


def hash_of(task: Task) -> str | None:
    """sha256 of a task's canonical URL; None for a URL without canonical form.

    A trailing slash counts if the id of an article was made with it. Nothing of this is stored with a task.
    """
    chain = task.payload.get("redirect_chain")
    url = str(chain[0]) if chain else task.url
    try:
        return url_hash(url, keep_trailing_slash=task.kind == "article" and url_uid(url) != task.id)
    except InvalidUrl:
        return None


def task_record(task: Task, history: History, due_ms: int | None, content_hash: str | None) -> TaskRecord:
    """A task and its history as programs read them; `due_ms` is the time of the next fetch (Unix)."""
    return {
        "id": task.id,
        "url": task.url,
        "url_hash": hash_of(task),
        "host": task.host,
        "kind": task.kind,
        "source": task.source,
        "category": task.category,
        "origin": task.origin,
        "parent": task.parent,
        "depth": task.depth,
        "priority": task.priority,
        "status": status_of(history),  # type: ignore[typeddict-item]  # the words of the frontier's scripts
        "reason": history.reason,
        "discovered_at": _time(history.discovered_at),
        "next_fetch_at": _time(due_ms),
        "last_fetched_at": _time(history.last_fetched_at),
        "updated_at": _time(history.updated_at),
        "fetch_count": history.fetch_count,
        "retry_count": history.attempts,
        "deaths": history.deaths,
        "last_error": history.last_error,
        "content_hash": content_hash or history.content_hash,
        "etag": history.etag,
        "last_modified": history.last_modified,
    }


def _time(ms: int | None) -> str | None:
    return None if ms is None else rfc3339(datetime.fromtimestamp(ms / 1000, UTC))


def _within(ms: int | None, after: datetime | None, before: datetime | None) -> bool:
    if after is None and before is None:
        return True
    at = None if ms is None else datetime.fromtimestamp(ms / 1000, UTC)
    return at is not None and (after or at) <= at <= (before or at)
