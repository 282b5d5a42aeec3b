"""The interface of the frontier for services: its operations, and the types of their arguments and results.

`queue.Shard` (one shard) and `shards.Shards` (several shards) implement it. Every method may raise StoreUnavailable.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, NotRequired, Protocol, TypedDict, Unpack

from feedcrawl.domain.frontier.scopes import stored_scopes
from feedcrawl.domain.frontier.tasks import LANES, compact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from feedcrawl.domain.frontier.payloads import Patch
    from feedcrawl.domain.frontier.statistics import FrontierStatistics, HostStatistics
    from feedcrawl.domain.frontier.tasks import Again, History, Lease, StoredTask, Task

Enqueued = Literal["queued", "raised", "pending", "leased", "known", "again", "moved"]
"""The result of enqueueing a task.

queued: the task is new. raised: pending, now with a higher priority. pending: pending, unchanged. leased: a worker
holds the task. known: the task has ended and is still remembered. again: the task is enqueued once more. moved: the
task is in another shard and must be enqueued there (returned to `Shards` only).
"""
Returned = Literal["pending", "dead", "quarantined", "lost"]
Finished = Literal["done", "rescheduled", "lost"]
Signal = Literal["ok", "answered", "site", "soft", "throttled", "none"]
"""ok: 2xx and 3xx | answered: 4xx | site: the host fails | soft: the host may be failing | throttled: 429 | none:
the result tells nothing about the host.
"""


@dataclass(frozen=True, slots=True)
class GivenUp:
    """A task that `take` gave up because too many workers died while they held it."""

    id: str
    outcome: str
    reason: str


@dataclass(frozen=True, slots=True)
class Taken:
    """The result of `take`.

    `wait_sec` is the time until more tasks may be due (0: at once; None: no task is pending). `blocked` is the number
    of hosts whose tasks wait because a response of the host is still being read.
    """

    leases: tuple[Lease, ...]
    wait_sec: float | None
    blocked: int
    given_up: tuple[GivenUp, ...] = ()


class EndingFields(TypedDict, total=False):
    """The fields of an `Ending` beside its lease, as named arguments."""

    status: Literal["fetched", "dead", "pending", "moved"]
    reason: str
    delay_sec: float
    patch: Patch | None
    commit: Sequence[Sequence[str | int | float]]
    signal: Signal | None
    dead_letter: bool
    http_status: int | None
    recovered_sec: float | None


class Return(TypedDict):
    """The named arguments of `Frontier.give_back` beside the lease."""

    reason: str
    delay_sec: NotRequired[float]
    counted: NotRequired[bool]
    site_wide: NotRequired[bool]
    http_status: NotRequired[int | None]
    patch: NotRequired[Patch | None]


class SharedPace(TypedDict, total=False):
    """The named arguments of `Frontier.pace_scope`."""

    delay_sec: float | None
    concurrency: int | None
    hosts_delay_sec: float | None


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a task; with status `pending` the task is due again after `delay_sec`.

    `patch` sets fields of the task's record (None removes a field). `commit` are Redis commands on this shard's keys,
    which run in the same step if the lease still holds, and otherwise not at all. `signal` is the signal for `release`,
    if the release is to happen in the same step. With `dead_letter`, the task goes to the list of dead letters with
    `http_status`, the last HTTP status. `recovered_sec` is for a poll that failed because of its host: if the host is
    failing and answers any request meanwhile, the poll is due after `recovered_sec`.
    """

    lease: Lease
    status: Literal["fetched", "dead", "pending", "moved"] = "fetched"
    reason: str = ""
    delay_sec: float = 0
    patch: Patch | None = None
    commit: Sequence[Sequence[str | int | float]] = ()
    signal: Signal | None = None
    dead_letter: bool = False
    http_status: int | None = None
    recovered_sec: float | None = None

    def arguments(self) -> tuple[str | int, ...]:
        """The arguments of done.lua for this ending, in order."""
        lease, delay, dead_letter = self.lease, ms(self.delay_sec), int(self.dead_letter)
        texts = (patch_text(self.patch), compact(list(self.commit)), self.signal or "")
        recovered = "" if self.recovered_sec is None else ms(self.recovered_sec)
        ended = (self.status, self.reason, delay)
        return (lease.id, lease.token, *ended, *texts, dead_letter, self.http_status or "", recovered)


class ScopeChange(NamedTuple):
    """A change of the circuit of a scope, for example of the `domain` `example.com` from `closed` to `open`."""

    kind: str
    key: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Released:
    """The result of `release`: the states of the host's circuit before and after, the time until the host's next
    turn, and the changes of the circuits of its scopes.
    """

    before: str
    after: str
    wait_sec: float
    scopes: tuple[ScopeChange, ...] = ()


class Frontier(Protocol):
    """All tasks, leased to workers and paced per host."""

    def enqueue(self, tasks: Iterable[Task], *, delay_sec: float = 0, again: Again = "") -> list[Enqueued]:
        """Enqueues tasks, each due after `delay_sec`; idempotent and atomic per task.

        An unknown task is enqueued. A pending task gets the new priority if that is higher. A task that has ended and
        is still remembered is not enqueued (`known`), unless `again` gives a reason: then the task is enqueued with its
        stored validators, and a pending task becomes due after `delay_sec`.
        """
        return self.enqueue_each((task, delay_sec, again) for task in tasks)

    @abstractmethod
    def enqueue_each(self, tasks: Iterable[tuple[Task, float, Again]]) -> list[Enqueued]:
        """As `enqueue`, with a delay in seconds and a reason to enqueue again ("" for none) for each task."""

    @abstractmethod
    def take(self, limit: int, *, lanes: Sequence[str] = LANES) -> Taken:
        """Leases up to `limit` tasks of hosts that may be requested now, best first; reclaims expired leases."""

    def done(self, lease: Lease, **ending: Unpack[EndingFields]) -> Finished:
        """Ends or reschedules the task; `ending` has the fields of `Ending`."""
        return self.end([Ending(lease, **ending)])[0]

    @abstractmethod
    def end(self, endings: Iterable[Ending]) -> list[Finished]:
        """Ends or reschedules tasks, all in one step; returns the result for each task."""

    @abstractmethod
    def give_back(self, lease: Lease, **fields: Unpack[Return]) -> Returned:
        """Gives back the task, due again after `delay_sec`.

        With `counted` the task has used an attempt; after the last attempt it is dead (a feed, sitemap or hub renewal:
        quarantined). A `site_wide` failure uses no attempt, but four of them while the host answers other requests end
        the task. `patch` may set another `url` and `host`: the same task then waits for that host's turn.
        """

    @abstractmethod
    def return_strays(self, leased: Iterable[Lease]) -> int:
        """Gives back the tasks that this worker has leased and that are not in `leased`; returns their number.

        Such leases exist if the reply of a `take` was lost, or if a killed server lost the end of a task.
        """

    @abstractmethod
    def first_end_sec(self) -> float | None:
        """Seconds until the first of all workers' leases ends unless it is renewed; None if there is no lease."""

    @abstractmethod
    def release(self, lease: Lease, signal: Signal, *, wait_sec: float | None = None) -> Released:
        """Frees the host's slot once the response is read, and applies the signal to the host's circuit and pace."""

    @abstractmethod
    def turn(self, lease: Lease) -> float | None:
        """Reserves the host's next turn under a lease; returns the seconds until then, None if the lease is lost."""

    @abstractmethod
    def visit(self, host: str, url: str) -> Lease | float:
        """Takes the host's turn and slot for a request without a task; the returned lease must be given back (result
        `lost`).

        If the host may not be requested now, returns the seconds until the next try; nothing is reserved, so that a
        waiting caller delays no other.
        """

    @abstractmethod
    def heartbeat(self, leases: Iterable[Lease]) -> set[str]:
        """Extends leases; returns the ids of the lost ones."""

    @abstractmethod
    def pace(self, host: str, *, delay_sec: float | None = None, concurrency: int | None = None) -> None:
        """Sets a host's own delay (a source's setting) and concurrency."""

    @abstractmethod
    def crawl_delay(self, origin: str, delay_sec: float | None) -> None:
        """Sets the own delay of an origin's host, as the origin's robots.txt requests.

        None: it requests none, or none any more; a delay that it has requested before is unset, any other stays.
        """

    @abstractmethod
    def pace_scope(self, kind: str, key: str, **pace: Unpack[SharedPace]) -> None:
        """Sets the delay and concurrency that all hosts of a scope share, for example those of the `domain`
        `example.com`.

        `hosts_delay_sec` is the delay of each of its hosts, present and future, that has no delay of its own; 0 unsets
        it.
        """

    @abstractmethod
    def forgive(self, hosts: Iterable[str]) -> int:
        """Forgets failures of hosts and scopes that our own network caused; returns the number of closed circuits."""

    @abstractmethod
    def remove(self, task_id: str) -> bool:
        """Deletes a task, even if a worker holds it; False if there was none."""

    @abstractmethod
    def record(self, task_id: str) -> StoredTask | None:
        """The stored record of a task, for `adopt`; None if unknown."""

    @abstractmethod
    def adopt(
        self, record: StoredTask, *, delay_sec: float = 0, polled: bool = False
    ) -> Literal["queued", "pending", "known"]:
        """Stores the record of a task from another shard; `polled` counts the fetch that ended there.

        Safe to repeat: a task that is pending here stays unchanged. A record of an ended task is stored as ended.
        """

    @abstractmethod
    def sweep(self, task_ids: Sequence[str], *, shard: int = 0) -> dict[str, str]:
        """The tasks that have no future, or had none until now, each with its state (listed in `sweep.lua`).

        A task that was only misplaced is repaired in the same step. `shard` is the shard of most of the tasks.
        """

    @abstractmethod
    def audit(self) -> tuple[int, int]:
        """Repairs two faults that no expiring lease would end: holders without a lease, and hosts that count responses
        as open that no worker reads.

        Returns the number of each.
        """

    @abstractmethod
    def deliver_dead_letters(
        self, limit: int = 1000, keep: int = 100_000, *, first: Callable[[list[str]], None] = lambda _: None
    ) -> int:
        """Moves up to `limit` dead letters from the shard to the list that consumers read; the list keeps the last
        `keep`.

        `first` receives the dead letters before they are moved; the list gets them without secrets. The move is one
        step, except on a cluster: there the list is on another node, and a dead letter may be repeated.
        """

    @abstractmethod
    def find(self, task_id: str) -> tuple[Task, History] | None:
        """A task and its history; the status is `fetching` while a worker holds the task. None if unknown."""

    @abstractmethod
    def histories(self, task_ids: Sequence[str]) -> dict[str, History]:
        """The histories of the known tasks, in one round trip; a task that a worker holds counts as pending."""

    @abstractmethod
    def due(self, tasks: Sequence[Task]) -> dict[str, int]:
        """The earliest time at which each queued task may be fetched, in milliseconds of the frontier's clock, by id.

        Tasks that are not queued are left out: a worker holds them, or they have ended. One round trip for each shard.
        """

    @abstractmethod
    def counts(self) -> dict[str, int]:
        """Tasks by `status:kind` (`pending:feed`, `dead:article`, …; ended tasks since the beginning), and `leased`."""

    @abstractmethod
    def statistics(self) -> FrontierStatistics:
        """Tasks by status, kind, origin and source; hosts by lane and place; how late tasks were taken."""

    @abstractmethod
    def host(self, name: str) -> HostStatistics:
        """The current pace and circuit of a host, and those of its scopes."""

    @abstractmethod
    def circuits(self, limit: int = 1000) -> list[HostStatistics]:
        """Hosts whose circuit is not closed, the last changed first."""

    @abstractmethod
    def hosts(self, cursor: int = 0, *, count: int = 1000) -> tuple[int, dict[str, int]]:
        """Some hosts with their number of pending tasks, and the next cursor (0 at the end); costs as SCAN does."""

    @abstractmethod
    def urls(self, cursor: int = 0, *, count: int = 1000) -> tuple[int, list[tuple[Task, History]]]:
        """Some tasks with their history, and the next cursor (0 at the end); costs as much as SCAN."""


def ms(seconds: float) -> int:
    """Seconds as whole milliseconds, the unit of the scripts."""
    return round(seconds * 1000)


def patch_text(patch: Patch | None) -> str:
    """A patch as JSON for the scripts: the payload is a JSON text within it, and `scopes` is added to a host."""
    if not patch:
        return "{}"
    values = _with_text(patch)
    if host := patch.get("host"):
        values["scopes"] = stored_scopes(host)
    return compact(values)


def patched(record: Mapping[str, object], patch: Patch | None, *, without: Iterable[str]) -> dict[str, object]:
    """A record with a patch applied as the scripts do: None removes a field, the payload becomes JSON text."""
    values = {name: value for name, value in record.items() if name not in without} | _with_text(patch or {})
    return {name: value for name, value in values.items() if value is not None}


def _with_text(patch: Patch) -> dict[str, object]:
    """The fields of a patch, the payload as JSON text."""
    return {name: compact(value) if isinstance(value, dict) else value for name, value in patch.items()}
