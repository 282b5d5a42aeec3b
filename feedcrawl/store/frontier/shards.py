"""The frontier on several shards, each with the hosts of its own registered domains (docs/decisions/0008-shards.md).

A script touches only one shard's keys, so that the nodes of a Redis Cluster share the work. An operation on two shards
is a sequence of steps, each safe to repeat: a kill in between repeats work and loses none.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, Unpack

from feedcrawl.domain.frontier.shards import shard_of_host
from feedcrawl.domain.frontier.statistics import FrontierStatistics
from feedcrawl.domain.frontier.tasks import LANES, task_from_record
from feedcrawl.domain.urls import hostname
from feedcrawl.store.frontier.interface import Ending, Finished, Frontier, GivenUp, Taken, patched
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.redis import keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from feedcrawl.domain.frontier.payloads import Patch
    from feedcrawl.domain.frontier.statistics import HostStatistics
    from feedcrawl.domain.frontier.tasks import Again, History, Lease, StoredTask, Task
    from feedcrawl.store.frontier.interface import Enqueued, Released, Return, Returned, SharedPace, Signal
    from feedcrawl.store.frontier.scripts import FrontierPolicy
    from feedcrawl.store.redis.client import Client

LOOK_SEC = 1.0
"""Longest time between two takes from a shard: other programs and workers add tasks too."""
_ENDED = ("attempts", "deaths", "again", "quarantined", "site_failures", "site_failed_at", "again_queued")
_RETURNED = ("site_failures", "site_failed_at", "again_queued")
"""Fields that a task loses when it moves to another shard: at the end of its poll, and when it is given back."""


class Shards(Frontier):
    """All shards as one frontier. Priority and order hold within a shard; shards take turns.

    The only state kept here is when each shard may next have a due task. Two threads may use it: at worst a take from a
    shard is `LOOK_SEC` late.
    """

    def __init__(
        self,
        client: Client,
        policy: FrontierPolicy,
        *,
        shards: int,
        dlq_name: str = keys.DEAD_LETTERS,
        clock: Callable[[], int] | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`dlq_name` and `clock` as in `Shard`; `now` returns this worker's monotonic time in seconds."""
        self._client = client
        self._now = now
        self._frontiers = [
            Shard(client, policy, shard=number, dlq_name=dlq_name, clock=clock) for number in range(shards)
        ]
        self._due: list[float | None] = [0.0] * shards
        self._last_take = [float("-inf")] * shards
        self._blocked = [0] * shards
        self._lanes: Sequence[str] = ()
        self._turn = 0

    def enqueue_each(self, tasks: Iterable[tuple[Task, float, Again]]) -> list[Enqueued]:
        """As `Frontier.enqueue_each`, with at least one round trip for each shard of the tasks' hosts."""
        items = list(tasks)
        places: dict[int, list[int]] = defaultdict(list)
        for place, (task, _, _) in enumerate(items):
            places[self._home(task.host)].append(place)
        answers: dict[int, Enqueued] = {}
        for number, own in places.items():
            enqueued = self._frontiers[number].enqueue_each(items[place] for place in own)
            answers.update(zip(own, enqueued, strict=True))
            self._expect(number, min(items[place][1] for place in own))
        for place, answer in answers.items():
            if answer == "moved":
                answers[place] = self._enqueue_moved(*items[place])
        return [answers[place] for place in range(len(items))]

    def _enqueue_moved(self, task: Task, delay_sec: float, again: Again) -> Enqueued:
        """Enqueues a task again that has moved to another shard: there if it is pending, else in its home shard."""
        home, found = self._home(task.host), self._where(task.id)
        if found is not None and found[0] != home:
            number, record = found
            old, history = task_from_record(record)
            if history.status == "pending":
                self._expect(number, delay_sec)
                there = replace(task, url=old.url, host=old.host)
                return self._frontiers[number].enqueue([there], delay_sec=delay_sec, again=again)[0]
            self._frontiers[home].remove(task.id)
            self._frontiers[home].adopt(record)
            self._frontiers[number].remove(task.id)
        elif found is None:
            self._frontiers[home].remove(task.id)
        return self._frontiers[home].enqueue([task], delay_sec=delay_sec, again=again)[0]

    def take(self, limit: int, *, lanes: Sequence[str] = LANES) -> Taken:
        """As `Frontier.take`, from the next shard that has due tasks: one round trip if all shards have some.

        `wait_sec` and `blocked` of the result are for all shards, as far as they are known.
        """
        if lanes != self._lanes:
            self._lanes, self._due = lanes, [0.0] * len(self._frontiers)
        now, given_up = self._now(), list[GivenUp]()
        leases: tuple[Lease, ...] = ()
        for number in [(self._turn + step) % len(self._frontiers) for step in range(len(self._frontiers))]:
            if not self._worth_asking(number, now):
                continue
            taken = self._frontiers[number].take(limit, lanes=lanes)
            self._last_take[number], self._blocked[number] = now, taken.blocked
            self._due[number] = None if taken.wait_sec is None else now + taken.wait_sec
            given_up += taken.given_up
            if taken.leases:
                leases, self._turn = taken.leases, number + 1
                break
        due = [max(0.0, at - now) for at in self._due if at is not None]
        return Taken(leases, min(due, default=None), sum(self._blocked), tuple(given_up))

    def end(self, endings: Iterable[Ending]) -> list[Finished]:
        """As `Frontier.end`, in one step for each shard; an ending on two shards takes several (`_end_across`)."""
        items = list(endings)
        answers: dict[int, Finished] = {}
        together: dict[int, list[int]] = defaultdict(list)
        for place, ending in enumerate(items):
            if self._goes_to(ending.lease, ending.patch if ending.status == "pending" else None) is not None:
                answers[place] = self._reschedule_across(ending)
            elif self._commits_to(ending) != ending.lease.shard:
                answers[place] = self._end_across(ending)
            else:
                together[ending.lease.shard].append(place)
        for number, own in together.items():
            ended = self._frontiers[number].end(items[place] for place in own)
            answers.update(zip(own, ended, strict=True))
            self._expect(number, 0)
        return [answers[place] for place in range(len(items))]

    def give_back(self, lease: Lease, **fields: Unpack[Return]) -> Returned:
        """As `Frontier.give_back`; a `patch` with a host of another shard moves the task there."""
        patch = fields.get("patch")
        number = self._goes_to(lease, patch)
        if number is None:
            returned = self._frontiers[lease.shard].give_back(lease, **fields)
            self._expect(lease.shard, 0)
            return returned
        record = self._record_of(lease)
        if record is None:
            return "lost"
        record = patched(record, patch, without=_RETURNED) | {"last_error": fields["reason"]}
        self._frontiers[number].adopt(record, delay_sec=fields.get("delay_sec", 0))
        self._leave(Ending(lease), number)
        return "pending"

    def release(self, lease: Lease, signal: Signal, *, wait_sec: float | None = None) -> Released:
        """As `Frontier.release`."""
        released = self._frontiers[lease.shard].release(lease, signal, wait_sec=wait_sec)
        self._expect(lease.shard, released.wait_sec)
        return released

    def turn(self, lease: Lease) -> float | None:
        """As `Frontier.turn`."""
        return self._frontiers[lease.shard].turn(lease)

    def visit(self, host: str, url: str) -> Lease | float:
        """As `Frontier.visit`."""
        return self._frontiers[self._home(host)].visit(host, url)

    def heartbeat(self, leases: Iterable[Lease]) -> set[str]:
        """As `Frontier.heartbeat`, one round trip for each shard."""
        by_shard: dict[int, list[Lease]] = defaultdict(list)
        for lease in leases:
            by_shard[lease.shard].append(lease)
        return {lost for number, own in by_shard.items() for lost in self._frontiers[number].heartbeat(own)}

    def pace(self, host: str, *, delay_sec: float | None = None, concurrency: int | None = None) -> None:
        """As `Frontier.pace`."""
        self._frontiers[self._home(host)].pace(host, delay_sec=delay_sec, concurrency=concurrency)

    def crawl_delay(self, origin: str, delay_sec: float | None) -> None:
        """As `Frontier.crawl_delay`."""
        self._frontiers[self._home(hostname(origin))].crawl_delay(origin, delay_sec)

    def pace_scope(self, kind: str, key: str, **pace: Unpack[SharedPace]) -> None:
        """As `Frontier.pace_scope`."""
        self._frontiers[self._home(key)].pace_scope(kind, key, **pace)

    def forgive(self, hosts: Iterable[str]) -> int:
        """As `Frontier.forgive`, one round trip (at least) for each shard."""
        by_shard: dict[int, list[str]] = defaultdict(list)
        for host in hosts:
            by_shard[self._home(host)].append(host)
        return sum(self._frontiers[number].forgive(own) for number, own in by_shard.items())

    def remove(self, task_id: str) -> bool:
        """As `Frontier.remove`, in every shard."""
        removed = [frontier.remove(task_id) for frontier in self._frontiers]
        return any(removed)

    def record(self, task_id: str) -> StoredTask | None:
        """As `Frontier.record`."""
        found = self._where(task_id)
        return None if found is None else found[1]

    def adopt(
        self, record: StoredTask, *, delay_sec: float = 0, polled: bool = False
    ) -> Literal["queued", "pending", "known"]:
        """As `Frontier.adopt`, in the shard of the task's host."""
        number = self._home(record["host"])
        self._expect(number, delay_sec)
        return self._frontiers[number].adopt(record, delay_sec=delay_sec, polled=polled)

    def find(self, task_id: str) -> tuple[Task, History] | None:
        """As `Frontier.find`."""
        found = self._where(task_id)
        return None if found is None else self._frontiers[found[0]].find(task_id)

    def histories(self, task_ids: Sequence[str]) -> dict[str, History]:
        """As `Frontier.histories`, one round trip for each shard."""
        found: dict[str, History] = {}
        for frontier in self._frontiers:
            own = frontier.histories(task_ids)
            found.update({each: history for each, history in own.items() if history.status != "moved"})
        return found

    def due(self, tasks: Sequence[Task]) -> dict[str, int]:
        """As `Frontier.due`; a shard answers for no other's tasks."""
        return {each: at for frontier in self._frontiers for each, at in frontier.due(tasks).items()}

    def sweep(self, task_ids: Sequence[str], *, shard: int = 0) -> dict[str, str]:
        """As `Frontier.sweep`; tasks that the first shard does not have are looked up in the others."""
        found = self._frontiers[shard].sweep(task_ids)
        for number, frontier in enumerate(self._frontiers):
            missing = [each for each, state in found.items() if state in ("absent", "ended")]
            if missing and number != shard:
                there = frontier.sweep(missing)
                for each in missing:
                    if each not in there:
                        del found[each]
                    elif there[each] != "absent":
                        found[each] = there[each]
        return found

    def return_strays(self, leased: Iterable[Lease]) -> int:
        """As `Frontier.return_strays`, of all shards together."""
        leases = list(leased)
        self._due = [0.0] * len(self._frontiers)  # returned tasks are due at once
        return sum(frontier.return_strays(leases) for frontier in self._frontiers)

    def first_end_sec(self) -> float | None:
        """As `Frontier.first_end_sec`, of all shards together."""
        ends = [frontier.first_end_sec() for frontier in self._frontiers]
        return min((end for end in ends if end is not None), default=None)

    def audit(self) -> tuple[int, int]:
        """As `Frontier.audit`, of all shards together."""
        found = [frontier.audit() for frontier in self._frontiers]
        return sum(unleased for unleased, _ in found), sum(freed for _, freed in found)

    def counts(self) -> dict[str, int]:
        """As `Frontier.counts`, of all shards together."""
        total: Counter[str] = Counter()
        for frontier in self._frontiers:
            total.update(frontier.counts())
        return {name: number for name, number in total.items() if not name.startswith("moved:")}

    def statistics(self) -> FrontierStatistics:
        """As `Frontier.statistics`, of all shards together."""
        total = sum((frontier.statistics() for frontier in self._frontiers), start=FrontierStatistics())
        return replace(total, tasks={key: number for key, number in total.tasks.items() if key[0] != "moved"})

    def host(self, name: str) -> HostStatistics:
        """As `Frontier.host`."""
        return self._frontiers[self._home(name)].host(name)

    def circuits(self, limit: int = 1000) -> list[HostStatistics]:
        """As `Frontier.circuits`, one shard after the other."""
        return [host for frontier in self._frontiers for host in frontier.circuits(limit)][:limit]

    def hosts(self, cursor: int = 0, *, count: int = 1000) -> tuple[int, dict[str, int]]:
        """As `Frontier.hosts`, one shard after the other."""
        number, own = cursor % len(self._frontiers), cursor // len(self._frontiers)
        own, found = self._frontiers[number].hosts(own, count=count)
        return self._cursor(number, own), found

    def urls(self, cursor: int = 0, *, count: int = 1000) -> tuple[int, list[tuple[Task, History]]]:
        """As `Frontier.urls`, one shard after the other."""
        number, own = cursor % len(self._frontiers), cursor // len(self._frontiers)
        own, found = self._frontiers[number].urls(own, count=count)
        return self._cursor(number, own), [each for each in found if each[1].status != "moved"]

    def _cursor(self, number: int, own: int) -> int:
        """The cursor for the next page of a shard, or for the first page of the next shard; 0 after the last."""
        return own * len(self._frontiers) + number if own else (number + 1) % len(self._frontiers)

    def deliver_dead_letters(
        self, limit: int = 1000, keep: int = 100_000, *, first: Callable[[list[str]], None] = lambda _: None
    ) -> int:
        """As `Frontier.deliver_dead_letters`, of all shards."""
        moved = 0
        for frontier in self._frontiers:
            moved += frontier.deliver_dead_letters(limit - moved, keep, first=first)
        return moved

    # --- operations on two shards ---

    def _end_across(self, ending: Ending) -> Finished:
        """Ends a task whose commands are for another shard: its feed's record is not in its host's shard.

        The commands run first, under a lease that was just extended; a kill after that repeats the poll.
        """
        if self._record_of(ending.lease) is None:
            return "lost"
        self._commit(ending)
        self._expect(ending.lease.shard, 0)
        return self._frontiers[ending.lease.shard].end([replace(ending, commit=())])[0]

    def _reschedule_across(self, ending: Ending) -> Finished:
        """Reschedules a task at a host of another shard; commands for the task's own shard run last."""
        lease, record = ending.lease, self._record_of(ending.lease)
        if record is None:
            return "lost"
        if self._commits_to(ending) != lease.shard:
            self._commit(ending)
            ending = replace(ending, commit=())
        number = self._goes_to(lease, ending.patch)
        assert number is not None
        record = patched(record, ending.patch, without=_ENDED) | {"reason": ending.reason}
        self._frontiers[number].adopt(record, delay_sec=ending.delay_sec, polled=True)
        self._leave(ending, number)
        return "rescheduled"

    def _leave(self, ending: Ending, number: int) -> None:
        """Ends a task in the shard that it has left; a record `moved` keeps it from being enqueued there again."""
        self._frontiers[ending.lease.shard].end([replace(ending, status="moved", reason=str(number), patch=None)])
        self._expect(ending.lease.shard, 0)
        self._expect(number, 0)

    def _record_of(self, lease: Lease) -> StoredTask | None:
        """The record of a task that this worker still holds, its lease extended for the next steps; None if lost."""
        frontier = self._frontiers[lease.shard]
        return None if frontier.heartbeat([lease]) else frontier.record(lease.id)

    def _commit(self, ending: Ending) -> None:
        with self._client.pipeline(transaction=True) as pipe:
            for command in ending.commit:
                pipe.execute_command(*command)
            pipe.execute()

    def _commits_to(self, ending: Ending) -> int:
        return keys.shard_number(str(ending.commit[0][1])) if ending.commit else ending.lease.shard

    def _goes_to(self, lease: Lease, patch: Patch | None) -> int | None:
        """The other shard to which a patch moves a task; None if the task stays in its shard."""
        host = patch.get("host") if patch else None
        number = self._home(host) if host else lease.shard
        return None if number == lease.shard else number

    def _where(self, task_id: str) -> tuple[int, StoredTask] | None:
        """The shard that has a task, and the task's record; a record `moved` does not count."""
        for number, frontier in enumerate(self._frontiers):
            record = frontier.record(task_id)
            if record is not None and record.get("status") != "moved":
                return number, record
        return None

    # --- when a shard may have a due task ---

    def _home(self, host: str) -> int:
        return shard_of_host(host, len(self._frontiers))

    def _expect(self, number: int, seconds: float) -> None:
        """Notes that a shard may have a due task after this time."""
        at, due = self._now() + seconds, self._due[number]
        if due is None or at < due:
            self._due[number] = at

    def _worth_asking(self, number: int, now: float) -> bool:
        due = self._due[number]
        return (due is not None and due <= now) or now >= self._last_take[number] + LOOK_SEC
