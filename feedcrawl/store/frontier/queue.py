"""The frontier: all future work, leased to workers and paced per host (docs/decisions/0002-frontier.md).

Every operation is one Lua script on one shard's keys. The scripts read the server's clock, so that workers need not
agree on the time; delays go in and waits come out as relative times. A lease carries a token, and a worker whose lease
ran out changes nothing.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal

from feedcrawl.domain.frontier.tasks import LANES, Again, History, Lease, Task, compact, lane_of, task_from_json
from feedcrawl.domain.urls import site_of
from feedcrawl.store.frontier.reads import FrontierReads
from feedcrawl.store.frontier.scripts import FrontierPolicy, register
from feedcrawl.store.redis import keys
from feedcrawl.store.redis.connection import is_cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import redis

__all__ = [
    "Ending",
    "Finished",
    "Frontier",
    "FrontierPolicy",
    "GivenUp",
    "Pushed",
    "Released",
    "Returned",
    "Signal",
    "Taken",
]

Pushed = Literal["queued", "raised", "pending", "leased", "known", "again", "moved"]
"""new | pending, priority raised | pending | in a worker's hands | ended and remembered | ended, queued anew | now in
another shard, where it shall come again (told to `Shards` only).
"""
Returned = Literal["pending", "dead", "quarantined", "lost"]
Finished = Literal["done", "rescheduled", "lost"]
Signal = Literal["ok", "answered", "site", "soft", "throttled", "none"]
"""2xx and 3xx | 4xx | the host fails | the host may be failing | 429 | says nothing of the host."""

PUSH_BATCH = 64
"""Tasks per script call: keeps the server's longest script short."""
AUDITED = 10_000
"""Tasks in hand, and hosts that are asked, up to which all of them are looked at in one step."""
DELIVERED = 64
"""Dead letters per round trip."""


@dataclass(frozen=True, slots=True)
class GivenUp:
    """A task that ended in `take`, because the workers that held it died."""

    id: str
    outcome: str
    reason: str


@dataclass(frozen=True, slots=True)
class Taken:
    """What `take` handed out.

    `wait_sec` is the time until more may be due (0: at once; None: nothing waits), `blocked` the number of hosts whose
    tasks wait for an answer that someone is still reading.
    """

    leases: tuple[Lease, ...]
    wait_sec: float | None
    blocked: int
    given_up: tuple[GivenUp, ...] = ()


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a task, or with status `pending` its next time after `delay_sec`.

    `patch` sets fields of its record (None removes one). `commit` are Redis commands on this shard's keys that happen
    in the same step if the lease still holds, and not at all otherwise. `signal` is what `release` would have been
    told, where both come at once. A `dead_letter` goes to the list of dead letters, with the last HTTP status. A poll
    that its host failed comes after `recovered_sec` if the host is failing and answers anyone again meanwhile.
    """

    lease: Lease
    status: Literal["fetched", "dead", "pending", "moved"] = "fetched"
    reason: str = ""
    delay_sec: float = 0
    patch: Mapping[str, Any] | None = None
    commit: Sequence[Sequence[str | int | float]] = ()
    signal: Signal | None = None
    dead_letter: bool = False
    http_status: int | None = None
    recovered_sec: float | None = None

    def arguments(self) -> tuple[str | int, ...]:
        """As done.lua reads them."""
        lease, delay, letter = self.lease, _ms(self.delay_sec), int(self.dead_letter)
        texts = (_patch(self.patch), compact(list(self.commit)), self.signal or "")
        recovered = "" if self.recovered_sec is None else _ms(self.recovered_sec)
        ended = (self.status, self.reason, delay)
        return (lease.id, lease.token, *ended, *texts, letter, self.http_status or "", recovered)


@dataclass(frozen=True, slots=True)
class Released:
    """What became of the host's circuit, the time until the host may be asked again, and its domain's circuit."""

    before: str
    after: str
    wait_sec: float
    domain_before: str = "closed"
    domain_after: str = "closed"


class Frontier(FrontierReads):
    """One shard of the frontier. Every method may raise StoreUnavailable."""

    def __init__(
        self, client: redis.Redis, policy: FrontierPolicy, *, shard: int = 0, clock: Callable[[], int] | None = None
    ) -> None:
        """`clock` gives milliseconds and stands for the server's in tests."""
        self._client = client
        self._policy = policy
        self._shard = shard
        self._prefix = keys.shard(shard)
        self._clock = clock
        self._nonce = secrets.token_hex(4)
        self._scripts = register(client, policy)

    def push(self, tasks: Iterable[Task], *, delay_sec: float = 0, again: Again = "") -> list[Pushed]:
        """Adds tasks, each due after `delay_sec`; idempotent and atomic per task.

        Unknown → queued; pending → its priority raised if the new one is higher; ended and still remembered → refused
        (`known`), unless `again` says why it comes again: then it is queued with its stored validators, and a pending
        one becomes due after `delay_sec`.
        """
        return self.push_each((task, delay_sec, again) for task in tasks)

    def push_each(self, tasks: Iterable[tuple[Task, float, Again]]) -> list[Pushed]:
        """As `push`, with a delay in seconds and a reason to come again ("" = none) for each task."""
        answers: list[Pushed] = []
        rest = iter(tasks)
        while batch := list(islice(rest, PUSH_BATCH)):
            answers += self._run("push", *chain.from_iterable(_pushed(*each) for each in batch))
        return answers

    def take(self, wanted: int, *, lanes: Sequence[str] = LANES) -> Taken:
        """Leases up to `wanted` tasks of hosts that may be asked now, best first; reclaims leases that ran out."""
        leases, wait, blocked, given_up = self._run("take", wanted, self._nonce, *lanes)
        return Taken(
            leases=tuple(_lease(self._shard, *lease) for lease in leases),
            wait_sec=None if wait < 0 else wait / 1000,
            blocked=blocked,
            given_up=tuple(GivenUp(*each) for each in given_up),
        )

    def done(self, lease: Lease, **ending: Any) -> Finished:
        """Ends or reschedules the task; `ending` are the fields of `Ending`."""
        return self.end([Ending(lease, **ending)])[0]

    def end(self, endings: Iterable[Ending]) -> list[Finished]:
        """Ends or reschedules tasks, all in one step; answers what became of each."""
        answers: list[Finished] = self._run("done", *chain.from_iterable(each.arguments() for each in endings))
        return answers

    def give_back(
        self,
        lease: Lease,
        *,
        reason: str,
        delay_sec: float = 0,
        counted: bool = False,
        site_wide: bool = False,
        http_status: int | None = None,
        patch: Mapping[str, Any] | None = None,
    ) -> Returned:
        """Returns the task, due again after `delay_sec`.

        A `counted` one has used an attempt; after the last it is dead (or quarantined, if it is a feed or its like). A
        `site_wide` failure uses none, but four of them while the host answers others end the URL. `patch` may name
        another `url` and `host`: the same task then waits for that host's turn.
        """
        flags = (int(counted), int(site_wide), http_status or "")
        arguments = (lease.id, lease.token, reason, _ms(delay_sec), *flags, _patch(patch))
        answer: Returned = self._run("give_back", *arguments)
        return answer

    def return_strays(self, held: Iterable[Lease]) -> int:
        """Returns the leases that this worker took and that are none of `held`; answers how many.

        Those whose `take` was not answered, and those whose end the server lost when it was killed.
        """
        tokens = [lease.token for lease in held if lease.shard == self._shard]
        return int(self._run("strays", self._nonce, *tokens))

    def release(self, lease: Lease, signal: Signal, *, wait_sec: float | None = None) -> Released:
        """Frees the host's slot once the answer is read, and tells the host's circuit and pace what came of it."""
        wait = "" if wait_sec is None else _ms(wait_sec)
        before, after, until, wider, widest = self._run("release", lease.id, lease.token, signal, wait)
        return Released(before, after, until / 1000, wider, widest)

    def turn(self, lease: Lease) -> float | None:
        """Reserves the host's next turn under a lease; seconds to wait for it, or None if the lease is lost."""
        wait = self._run("turn", lease.id, lease.token)
        return None if wait < 0 else wait / 1000

    def visit(self, host: str, url: str) -> Lease | float:
        """The host's turn and slot for a request that is no task's, as a lease to be given back (it then is `lost`).

        Or the seconds after which it is worth asking again: nothing is reserved, so that who waits holds up nobody.
        """
        task = Task(f"visit:{secrets.token_hex(8)}", "page", url, host)
        lease = Lease(task, History(), secrets.token_hex(8), shard=self._shard)
        wait = self._run("visit", lease.id, lease.token, host, len(site_of(host) or ""))
        return wait / 1000 if wait else lease

    def heartbeat(self, leases: Iterable[Lease]) -> set[str]:
        """Extends leases; answers the ids of those that are lost."""
        arguments = [part for lease in leases for part in (lease.id, lease.token)]
        return set(self._run("heartbeat", *arguments)) if arguments else set()

    def pace(self, host: str, *, delay_sec: float | None = None, concurrency: int | None = None) -> None:
        """Sets a host's own delay (Crawl-delay, a source's setting) and concurrency."""
        self._pace(host, delay_sec, concurrency, "host")

    def pace_domain(self, domain: str, *, delay_sec: float | None = None, concurrency: int | None = None) -> None:
        """Sets the delay and concurrency that all hosts of a registered domain share."""
        self._pace(domain, delay_sec, concurrency, "domain")

    def forgive(self, hosts: Iterable[str]) -> int:
        """Forgets failures of hosts that were our own, and their domains'; answers how many circuits it closed."""
        names = sorted(set(hosts))
        return sum(self._run("forgive", *names[at : at + PUSH_BATCH]) for at in range(0, len(names), PUSH_BATCH))

    def remove(self, task_id: str) -> bool:
        """Takes a task out altogether, whoever holds it; False if there was none."""
        answer: str = self._run("remove", task_id)
        return answer == "removed"

    def _clock_ms(self) -> int:
        return int(self._run("now"))

    def record(self, task_id: str) -> str | None:
        """All that is remembered of a task, as text for `adopt`."""
        text = self._client.get(f"{self._prefix}t:{task_id}")
        return None if text is None else str(text)

    def adopt(
        self, record: str, *, delay_sec: float = 0, polled: bool = False
    ) -> Literal["queued", "pending", "known"]:
        """Takes over the record of a task from another shard; `polled` counts the fetch that ended there.

        Safe to repeat: one that is pending here stays as it is. One that has ended is remembered as such.
        """
        site = len(site_of(json.loads(record)["host"]) or "")
        answer: Literal["queued", "pending", "known"] = self._run("adopt", record, _ms(delay_sec), int(polled), site)
        return answer

    def sweep(self, task_ids: Sequence[str], *, shard: int = 0) -> dict[str, str]:  # noqa: ARG002 - of Shards
        """Those of the tasks that have no future, or had none until now, by how that is (`sweep.lua`).

        What was only out of place is put right in the same step. `shard` is where most of them are.
        """
        found: list[list[str]] = self._run("sweep", *task_ids)
        return dict(found)

    def audit(self) -> tuple[int, int]:
        """Mends what no lease could end: holders without one, and hosts that wait for an answer that nobody reads.

        Answers how many there were of each.
        """
        unleased, freed = self._run("audit", AUDITED)
        return unleased, freed

    def deliver_dead_letters(
        self, limit: int = 1000, keep: int = 100_000, *, first: Callable[[list[str]], None] = lambda _: None
    ) -> int:
        """Moves dead letters from the shard to the list that consumers read; at most `keep` stay there.

        `first` sees them before they are moved. Each in one step, but for a cluster: there the list is another node's,
        and a letter may come twice.
        """
        deliver = self._deliver_across if is_cluster(self._client) else self._deliver
        moved, found = 0, 1
        while found and moved < limit:
            letters = list(map(str, self._client.lrange(f"{self._prefix}dlq", 0, min(DELIVERED, limit - moved) - 1)))
            first(letters)
            found = deliver(letters)
            moved += found
        if moved:
            self._client.ltrim(keys.DEAD_LETTERS, -keep, -1)
        return moved

    def _deliver(self, letters: list[str]) -> int:
        with self._client.pipeline(transaction=False) as pipe:
            for _ in letters:
                pipe.lmove(f"{self._prefix}dlq", keys.DEAD_LETTERS, "LEFT", "RIGHT")
            return sum(letter is not None for letter in pipe.execute())

    def _deliver_across(self, letters: list[str]) -> int:
        if letters:
            self._client.rpush(keys.DEAD_LETTERS, *letters)
            with self._client.pipeline(transaction=False) as pipe:
                for letter in letters:
                    pipe.lrem(f"{self._prefix}dlq", 1, letter)
                pipe.execute()
        return len(letters)

    def _pace(self, name: str, delay_sec: float | None, concurrency: int | None, what: str) -> None:
        delay = "" if delay_sec is None else _ms(delay_sec)
        self._run("pace", name, delay, "" if concurrency is None else concurrency, what)

    def _run(self, script: str, *arguments: str | float) -> Any:
        clock: str | int = self._clock() if self._clock else ""
        return self._scripts[script](keys=[self._prefix], args=[clock, *arguments])


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


def _pushed(task: Task, delay: float, again: Again) -> tuple[str | int, ...]:
    label = f"{task.kind}:{task.origin}:{task.source or ''}"
    site = len(site_of(task.host) or "")
    return task.to_json(), task.id, lane_of(task), task.host, task.priority, _ms(delay), again, label, site


def _patch(patch: Mapping[str, Any] | None) -> str:
    """As the record has it: the payload is a text of its own there; a host comes with where its domain begins."""
    if not patch:
        return "{}"
    said = dict(patch)
    if isinstance(said.get("payload"), dict):
        said["payload"] = compact(said["payload"])
    if said.get("host"):
        said["site"] = len(site_of(said["host"]) or "")
    return compact(said)


def _lease(shard: int, text: str, token: str, probe: int) -> Lease:
    task, history = task_from_json(text)
    return Lease(task, history, token, bool(probe), shard)
