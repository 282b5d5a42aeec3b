"""Lists tasks of the frontier, a part at a time."""

from __future__ import annotations

from datetime import UTC, datetime
from heapq import nlargest
from itertools import count
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.frontier.selection import task_record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from feedcrawl.domain.frontier.records import TaskRecord
    from feedcrawl.domain.frontier.selection import TaskFilter
    from feedcrawl.domain.frontier.statistics import FrontierStatistics, HostStatistics, Key, Lateness
    from feedcrawl.domain.frontier.statistics_records import (
        FrontierRecord,
        LatenessRecord,
        PacedHostRecord,
        PacedRecord,
        RobotsWaitRecord,
        TaskCount,
    )
    from feedcrawl.domain.frontier.tasks import History, Task
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.frontier.hosts import Hosts
    from feedcrawl.store.frontier.interface import Frontier

MAX_CURSOR: Final = 1 << 63
"""The largest accepted cursor: SCAN's are far below, and Redis accepts none above 64 bits."""


def urls(
    frontier: Frontier,
    articles: Articles,
    conditions: TaskFilter,
    *,
    cursor: int = 0,
    limit: int = 50,
    parts: int | None = None,
    part: int = 1000,
) -> tuple[int, list[tuple[Task, History]]]:
    """At least `limit` of the tasks from a cursor on, and the next cursor (0: no more tasks).

    The frontier is read as by SCAN: each part costs the server the same, tasks present the whole time are returned at
    least once, and all matches of a part are returned together. With `parts`, at most that many parts of about `part`
    keys each are read, and there may be fewer matches. Raises Refusal (`bad_cursor`) for a cursor that SCAN never
    returns.
    """
    if not 0 <= cursor < MAX_CURSOR:
        raise Refusal("bad_cursor", "cursor must be the `next` of a page, unchanged")
    found: list[tuple[Task, History]] = []
    for _ in range(parts) if parts else count():
        cursor, some = frontier.urls(cursor, count=part)
        some = [each for each in some if conditions.matches(*each)]
        if conditions.has_due_times:
            due = _due(frontier, some)
            some = [each for each in some if conditions.is_due_then(due.get(each[0].id))]
        if conditions.content_hash:
            hashes = content_hashes(articles, some)
            some = [each for each in some if hashes.get(each[0].id) == conditions.content_hash]
        found += some
        if not cursor or len(found) >= limit:
            break
    return cursor, found


def busiest(frontier: Frontier, limit: int, *, parts: int | None = None) -> list[tuple[str, int]]:
    """The hosts with the most pending tasks, among all hosts or those in the given number of parts."""
    found: dict[str, int] = {}
    cursor = 0
    for _ in range(parts) if parts else count():
        cursor, some = frontier.hosts(cursor)
        found.update(some)
        if not cursor:
            break
    return nlargest(limit, found.items(), key=itemgetter(1))


def task_records(frontier: Frontier, articles: Articles, found: Sequence[tuple[Task, History]]) -> list[TaskRecord]:
    """Tasks as programs read them, with the time of their next fetch and the hash of their stored article."""
    due = _due(frontier, found)
    hashes = content_hashes(articles, found)
    return [task_record(task, history, due.get(task.id), hashes.get(task.id)) for task, history in found]


def _due(frontier: Frontier, found: Sequence[tuple[Task, History]]) -> dict[str, int]:
    return frontier.due([task for task, history in found if history.status == "pending"])


def content_hashes(articles: Articles, found: Sequence[tuple[Task, History]]) -> dict[str, str]:
    """The hash of the text of each article that is stored, by uid, in one round trip."""
    uids = [
        task.id
        for task, history in found
        if task.kind == "article" and (history.fetch_count or history.status == "fetched")
    ]
    outlines = articles.outlines(uids, ["content_hash"]) if uids else []
    return {uid: each["content_hash"] for uid, each in zip(uids, outlines, strict=True) if each.get("content_hash")}


def statistics_record(statistics: FrontierStatistics) -> FrontierRecord:
    """The frontier's statistics, as programs read them."""
    return {
        "tasks": [_task_count(key, number) for key, number in sorted(statistics.tasks.items())],
        "leased": statistics.leased,
        "places": [{"lane": lane, "place": place, "number": n} for (lane, place), n in statistics.places.items()],
        "lateness": {lane: _lateness(late) for lane, late in statistics.lateness.items()},
    }


def _task_count(key: Key, number: int) -> TaskCount:
    status, kind, origin, source = key
    return {"status": status, "kind": kind, "origin": origin, "source": source, "tasks": number}


def _lateness(late: Lateness) -> LatenessRecord:
    buckets: list[list[float | None]] = [[None if bound == inf else bound, number] for bound, number in late.buckets]
    return {"buckets": buckets, "count": late.count, "total_sec": late.total_sec}


def host_record(host: HostStatistics, robots: list[RobotsWaitRecord]) -> PacedHostRecord:
    """A host with its registered domain, as programs read them."""
    scopes = {name: paced_record(scope) for name, scope in host.scopes.items()}
    return {**paced_record(host), "robots": robots, "domain": scopes.get("domain")}


def robots_waits(hosts: Hosts, host: str, *, grace_sec: float, on_error: str) -> list[RobotsWaitRecord]:
    """The robots.txt of a host that fail, for which its pages wait or have waited."""
    return [
        {
            "origin": each.origin,
            "reason": each.reason,
            "failing_since": rfc3339(datetime.fromtimestamp(each.since, UTC)),
            "wait_until": rfc3339(datetime.fromtimestamp(each.since + grace_sec, UTC)),
            "then": "allow" if on_error == "allow" else "disallow",
        }
        for each in hosts.failing(host)
    ]


def paced_record(host: HostStatistics) -> PacedRecord:
    """The pace and circuit of a host or scope; `waits_for` is a key of `statistics.WHY`."""
    return {
        "name": host.name,
        "tasks": host.tasks,
        "busy": host.busy,
        "concurrency": host.concurrency,
        "delay_sec": host.delay_sec,
        "doublings": host.doublings,
        "circuit": host.circuit,
        "failures": host.failures,
        "wait_sec": host.wait_sec,
        "waits_for": host.waits_for,
    }
