"""Read-only operations of one shard of the frontier."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from feedcrawl.domain.frontier.scopes import SCOPES
from feedcrawl.domain.frontier.statistics import FrontierStatistics, HostStatistics, host_statistics, statistics_from
from feedcrawl.domain.frontier.tasks import LANES, History, Task, lane_of, task_from_record
from feedcrawl.store.frontier.interface import Frontier
from feedcrawl.store.frontier.packed import unpacked
from feedcrawl.store.redis.connection import is_cluster, key_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from feedcrawl.store.frontier.scripts import FrontierPolicy
    from feedcrawl.store.redis.client import Client

HOUR_MS = 3_600_000
"""The time that one step of priority is worth in a queue's ranks."""
PLACES = ("ready", "waiting", "blocked", "delayed")
"""The sets of a lane: hosts that are ready, waiting or blocked, and tasks that are delayed."""


class ShardReads(Frontier):
    """The read-only part of `Shard`."""

    _client: Client
    _policy: FrontierPolicy
    _prefix: str

    def _clock_ms(self) -> int:
        raise NotImplementedError

    def find(self, task_id: str) -> tuple[Task, History] | None:
        """As `Frontier.find`."""
        with self._client.pipeline(transaction=False) as pipe:
            pipe.get(f"{self._prefix}t:{task_id}")
            pipe.hexists(f"{self._prefix}holders", task_id)
            text, leased = pipe.execute()
        if text is None:
            return None
        task, history = task_from_record(unpacked(task_id, text))
        return task, replace(history, status="fetching") if leased else history

    def histories(self, task_ids: Sequence[str]) -> dict[str, History]:
        """As `Frontier.histories`."""
        texts = self._client.mget([f"{self._prefix}t:{each}" for each in task_ids]) if task_ids else []
        found = {each: unpacked(each, str(text)) for each, text in zip(task_ids, texts, strict=True) if text}
        return {each: task_from_record(record)[1] for each, record in found.items()}

    def due(self, tasks: Sequence[Task]) -> dict[str, int]:
        """As `Frontier.due`: the time in the task's queue (`queues.lua`), or its host's next turn if later."""
        with self._client.pipeline(transaction=False) as pipe:
            for task in tasks:
                lane = lane_of(task)
                pipe.zscore(f"{self._prefix}delayed:{lane}", f"{task.priority} {len(task.host)} {task.host}{task.id}")
                pipe.zscore(f"{self._prefix}q:{lane}:{task.host}", task.id)
                pipe.hget(f"{self._prefix}h:{task.host}", "next_at")
            replies = iter(pipe.execute())
        found = {}
        for task, delayed, rank, turn in zip(tasks, replies, replies, replies, strict=True):
            since = rank + task.priority * HOUR_MS if rank is not None else delayed
            if since is not None:
                found[task.id] = round(max(since, float(turn or 0)))
        return found

    def counts(self) -> dict[str, int]:
        """As `Frontier.counts`."""
        with self._client.pipeline(transaction=False) as pipe:
            pipe.hgetall(f"{self._prefix}counts")
            pipe.zcard(f"{self._prefix}leases")
            counts, leased = pipe.execute()
        return {**statistics_from(counts).by("status", "kind"), "leased": leased}

    def statistics(self) -> FrontierStatistics:
        """As `Frontier.statistics`."""
        lanes = [*LANES, *sorted(map(str, self._client.smembers(f"{self._prefix}lanes")))]
        sets, now = [(lane, place) for lane in lanes for place in PLACES], self._clock_ms()
        with self._client.pipeline(transaction=False) as pipe:
            pipe.hgetall(f"{self._prefix}counts")
            pipe.hgetall(f"{self._prefix}late")
            pipe.zcard(f"{self._prefix}leases")
            for lane, place in sets:
                pipe.zcount(f"{self._prefix}{place}:{lane}", f"({now}" if place == "delayed" else "-inf", "+inf")
            counts, late, leased, *sizes = pipe.execute()
        return statistics_from(counts, late, leased, dict(zip(sets, sizes, strict=True)))

    def host(self, name: str) -> HostStatistics:
        """As `Frontier.host`."""
        keys, now = {scope: key for scope in SCOPES if (key := scope.key(name))}, self._clock_ms()
        with self._client.pipeline(transaction=False) as pipe:
            pipe.hgetall(f"{self._prefix}h:{name}")
            for scope, key in keys.items():
                pipe.get(f"{self._prefix}{scope.record}{key}")
            host, *texts = pipe.execute()
        records = list(map(_scope, texts))
        shared = (record["hosts_delay"] for record in records if "hosts_delay" in record)
        delay = next(shared, 1000 * self._policy.host_delay_sec) / 1000
        its = host_statistics(name, host, now, delay_sec=delay, concurrency=self._policy.host_concurrency)
        scopes = {}
        for (scope, key), record in zip(keys.items(), records, strict=True):
            delay, concurrency = self._policy.scope_pace(scope.name)
            found = host_statistics(key, record, now, delay_sec=delay, concurrency=concurrency)
            scopes[scope.name] = replace(found, tasks=None)  # its hosts have the numbers
        return replace(its, scopes=scopes)

    def circuits(self, limit: int = 1000) -> list[HostStatistics]:
        """As `Frontier.circuits`."""
        names = list(map(str, self._client.zrange(f"{self._prefix}circuits", 0, limit - 1, desc=True)))
        with self._client.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.hgetall(f"{self._prefix}h:{name}")
            records, now = pipe.execute(), self._clock_ms()
        pace = {"delay_sec": self._policy.host_delay_sec, "concurrency": self._policy.host_concurrency}
        found = (host_statistics(name, record, now, **pace) for name, record in zip(names, records, strict=True))  # type: ignore[arg-type]
        return [host for host in found if host.circuit != "closed"]

    def hosts(self, cursor: int = 0, *, count: int = 1000) -> tuple[int, dict[str, int]]:
        """As `Frontier.hosts`."""
        prefix = f"{self._prefix}h:"
        cursor, names = self._scan(cursor, prefix, count)
        with self._client.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.hget(name, "tasks")
            found = pipe.execute()
        return cursor, {name.removeprefix(prefix): int(n) for name, n in zip(names, found, strict=True) if n}

    def urls(self, cursor: int = 0, *, count: int = 1000) -> tuple[int, list[tuple[Task, History]]]:
        """As `Frontier.urls`."""
        prefix = f"{self._prefix}t:"
        cursor, names = self._scan(cursor, prefix, count)
        if not names:
            return cursor, []
        ids = [name.removeprefix(prefix) for name in names]
        with self._client.pipeline(transaction=False) as pipe:
            pipe.mget(names)
            pipe.hmget(f"{self._prefix}holders", ids)
            texts, holders = pipe.execute()
        rows = zip(ids, texts, holders, strict=True)
        found = [(*task_from_record(unpacked(each, text)), is_leased) for each, text, is_leased in rows if text]
        return cursor, [(task, replace(old, status="fetching") if is_leased else old) for task, old, is_leased in found]

    def _scan(self, cursor: int, prefix: str, count: int) -> tuple[int, list[str]]:
        """Some keys with this prefix, and the next cursor; on a cluster, of the node that holds them."""
        client: Any = self._client
        node = client.get_node_from_key(prefix) if is_cluster(self._client) else None
        return key_page(self._client, cursor, f"{prefix}*", count, node)


def _scope(text: str | None) -> dict[str, float]:
    """A scope's record; most records are just the time of the next turn and the number of open requests."""
    if text and text.startswith("{"):
        record: dict[str, float] = json.loads(text)
        return record
    return dict(zip(("next_at", "busy"), map(int, (text or "0 0").split()), strict=True))
