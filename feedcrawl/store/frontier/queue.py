"""One shard of the frontier: tasks leased to workers and paced per host (docs/decisions/0002-frontier.md).

Every operation is one Lua script on one shard's keys. The scripts read the server's clock, so that the clocks of
workers need not agree; arguments and results are relative times. A lease has a token; a worker whose lease has expired
changes nothing.
"""

from __future__ import annotations

import secrets
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal, Unpack

from feedcrawl.domain.frontier.dead_letters import shown
from feedcrawl.domain.frontier.scopes import OF_MARK, OF_NAME, stored_scopes
from feedcrawl.domain.frontier.tasks import (
    LANES,
    Again,
    History,
    Lease,
    StoredTask,
    Task,
    compact,
    lane_of,
    task_from_record,
)
from feedcrawl.domain.urls import hostname
from feedcrawl.store.frontier.dead_letters import keep
from feedcrawl.store.frontier.interface import (
    Ending,
    Enqueued,
    Finished,
    GivenUp,
    Released,
    Returned,
    ScopeChange,
    Signal,
    Taken,
    ms,
    patch_text,
)
from feedcrawl.store.frontier.packed import packed, unpacked
from feedcrawl.store.frontier.reads import ShardReads
from feedcrawl.store.frontier.scripts import register
from feedcrawl.store.redis import keys
from feedcrawl.store.redis.connection import is_cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from feedcrawl.store.frontier.interface import Return, SharedPace
    from feedcrawl.store.frontier.scripts import FrontierPolicy
    from feedcrawl.store.redis.client import Client

BATCH = 64
"""Tasks or hosts per script call: limits the longest script on the server."""
AUDITED = 10_000
"""Most leased tasks, and most blocked hosts of a lane, that `audit` checks in one step."""
DELIVERED = 64
"""Dead letters per round trip."""


class Shard(ShardReads):
    """One shard of the frontier: each operation is one script."""

    def __init__(
        self,
        client: Client,
        policy: FrontierPolicy,
        *,
        shard: int = 0,
        dlq_name: str = keys.DEAD_LETTERS,
        clock: Callable[[], int] | None = None,
    ) -> None:
        """`dlq_name` names the list of dead letters; `clock` returns milliseconds and replaces the server's clock in
        tests.
        """
        self._client = client
        self._policy = policy
        self._shard = shard
        self._dlq_name = dlq_name
        self._prefix = keys.shard(shard)
        self._clock = clock
        self._nonce = secrets.token_hex(4)
        self._scripts = register(client, policy)

    def enqueue_each(self, tasks: Iterable[tuple[Task, float, Again]]) -> list[Enqueued]:
        """As `Frontier.enqueue_each`."""
        answers: list[Enqueued] = []
        rest = iter(tasks)
        while batch := list(islice(rest, BATCH)):
            answers += self._run("enqueue", *chain.from_iterable(_arguments_of(*each) for each in batch))
        return answers

    def take(self, limit: int, *, lanes: Sequence[str] = LANES) -> Taken:
        """As `Frontier.take`."""
        leases, wait, blocked, given_up = self._run("take", limit, self._nonce, *lanes)
        return Taken(
            leases=tuple(_lease(self._shard, *lease) for lease in leases),
            wait_sec=None if wait < 0 else wait / 1000,
            blocked=blocked,
            given_up=tuple(GivenUp(*each) for each in given_up),
        )

    def end(self, endings: Iterable[Ending]) -> list[Finished]:
        """As `Frontier.end`."""
        answers: list[Finished] = self._run("done", *chain.from_iterable(each.arguments() for each in endings))
        return answers

    def give_back(self, lease: Lease, **fields: Unpack[Return]) -> Returned:
        """As `Frontier.give_back`."""
        flags = int(fields.get("counted", False)), int(fields.get("site_wide", False)), fields.get("http_status") or ""
        arguments = fields["reason"], ms(fields.get("delay_sec", 0)), *flags, patch_text(fields.get("patch"))
        answer: Returned = self._run("give_back", lease.id, lease.token, *arguments)
        return answer

    def return_strays(self, leased: Iterable[Lease]) -> int:
        """As `Frontier.return_strays`."""
        tokens = [lease.token for lease in leased if lease.shard == self._shard]
        return int(self._run("strays", self._nonce, *tokens))

    def first_end_sec(self) -> float | None:
        """As `Frontier.first_end_sec`."""
        wait = self._run("first_end")
        return None if wait < 0 else wait / 1000

    def release(self, lease: Lease, signal: Signal, *, wait_sec: float | None = None) -> Released:
        """As `Frontier.release`."""
        wait = "" if wait_sec is None else ms(wait_sec)
        before, after, until, changes = self._run("release", lease.id, lease.token, signal, wait)
        scopes = tuple(ScopeChange(OF_MARK[name[0]].name, name[1:], *states) for name, *states in changes)
        return Released(before, after, until / 1000, scopes)

    def turn(self, lease: Lease) -> float | None:
        """As `Frontier.turn`."""
        wait = self._run("turn", lease.id, lease.token)
        return None if wait < 0 else wait / 1000

    def visit(self, host: str, url: str) -> Lease | float:
        """As `Frontier.visit`."""
        task = Task(f"visit:{secrets.token_hex(8)}", "page", url, host)
        lease = Lease(task, History(), secrets.token_hex(8), shard=self._shard)
        wait = self._run("visit", lease.id, lease.token, host, *stored_scopes(host))
        return wait / 1000 if wait else lease

    def heartbeat(self, leases: Iterable[Lease]) -> set[str]:
        """As `Frontier.heartbeat`."""
        arguments = [part for lease in leases for part in (lease.id, lease.token)]
        return set(self._run("heartbeat", *arguments)) if arguments else set()

    def pace(self, host: str, *, delay_sec: float | None = None, concurrency: int | None = None) -> None:
        """As `Frontier.pace`."""
        self._run("pace", host, _ms_or_empty(delay_sec), "" if concurrency is None else concurrency, "", "")

    def crawl_delay(self, origin: str, delay_sec: float | None) -> None:
        """As `Frontier.crawl_delay`."""
        self._run("pace", hostname(origin), _ms_or_empty(delay_sec), "", "", origin)

    def pace_scope(self, kind: str, key: str, **pace: Unpack[SharedPace]) -> None:
        """As `Frontier.pace_scope`."""
        concurrency = pace.get("concurrency")
        shared = _ms_or_empty(pace.get("delay_sec")), "" if concurrency is None else concurrency
        self._run("pace", OF_NAME[kind].named(key), *shared, _ms_or_empty(pace.get("hosts_delay_sec")), "")

    def forgive(self, hosts: Iterable[str]) -> int:
        """As `Frontier.forgive`."""
        names = sorted(set(hosts))
        return sum(self._run("forgive", *names[at : at + BATCH]) for at in range(0, len(names), BATCH))

    def remove(self, task_id: str) -> bool:
        """As `Frontier.remove`."""
        answer: str = self._run("remove", task_id)
        return answer == "removed"

    def _clock_ms(self) -> int:
        return int(self._run("now"))

    def record(self, task_id: str) -> StoredTask | None:
        """As `Frontier.record`."""
        text = self._client.get(f"{self._prefix}t:{task_id}")
        return None if text is None else unpacked(task_id, str(text))

    def adopt(
        self, record: StoredTask, *, delay_sec: float = 0, polled: bool = False
    ) -> Literal["queued", "pending", "known"]:
        """As `Frontier.adopt`."""
        arguments = compact(dict(record)), ms(delay_sec), int(polled), *stored_scopes(record["host"])
        answer: Literal["queued", "pending", "known"] = self._run("adopt", *arguments)
        return answer

    def sweep(self, task_ids: Sequence[str], *, shard: int = 0) -> dict[str, str]:  # noqa: ARG002 - of Shards
        """As `Frontier.sweep`."""
        found: list[list[str]] = self._run("sweep", *task_ids)
        return dict(found)

    def audit(self) -> tuple[int, int]:
        """As `Frontier.audit`."""
        unleased, freed = self._run("audit", AUDITED)
        return unleased, freed

    def deliver_dead_letters(
        self, limit: int = 1000, keep: int = 100_000, *, first: Callable[[list[str]], None] = lambda _: None
    ) -> int:
        """As `Frontier.deliver_dead_letters`."""
        moved, found = 0, 1
        while found and moved < limit:
            texts = list(map(str, self._client.lrange(f"{self._prefix}dlq", 0, min(DELIVERED, limit - moved) - 1)))
            first(texts)
            found = self._deliver(texts)
            moved += found
        if moved:
            self._client.ltrim(self._dlq_name, -keep, -1)
        return moved

    def _deliver(self, texts: list[str]) -> int:
        if not texts:
            return 0
        across = is_cluster(self._client)
        with self._client.pipeline(transaction=not across) as pipe:
            for dead_letter in texts:
                keep(pipe, dead_letter)
            pipe.rpush(self._dlq_name, *map(shown, texts))
            if across:
                pipe.execute()
            for dead_letter in texts:
                pipe.lrem(f"{self._prefix}dlq", 1, dead_letter)
            pipe.execute()
        return len(texts)

    def _run(self, script: str, *arguments: str | float) -> Any:
        clock: str | int = self._clock() if self._clock else ""
        return self._scripts[script](keys=[self._prefix], args=[clock, *arguments])


def _ms_or_empty(seconds: float | None) -> int | str:
    return "" if seconds is None else ms(seconds)


def _arguments_of(task: Task, delay: float, again: Again) -> tuple[str | int, ...]:
    label = f"{task.kind}:{task.origin}:{task.source or ''}"
    queue = lane_of(task), task.host, task.priority, ms(delay), again, label
    return task.id, *packed(task), *queue, *stored_scopes(task.host)


def _lease(shard: int, task_id: str, text: str, token: str, probe: int) -> Lease:
    task, history = task_from_record(unpacked(task_id, text))
    return Lease(task, history, token, bool(probe), shard)
