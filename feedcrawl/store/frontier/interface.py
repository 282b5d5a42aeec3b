"""The frontier as services use it: the operations, and the values that go in and come out.

One shard (`queue.Shard`) and several of them together (`shards.Shards`) implement it. Every method may raise
StoreUnavailable.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from feedcrawl.domain.frontier.tasks import LANES, compact
from feedcrawl.domain.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from feedcrawl.domain.frontier.figures import Figures, HostFigures
    from feedcrawl.domain.frontier.tasks import Again, History, Lease, Task

Pushed = Literal["queued", "raised", "pending", "leased", "known", "again", "moved"]
"""new | pending, priority raised | pending | in a worker's hands | ended and remembered | ended, queued anew | now in
another shard, where it shall come again (returned to `Shards` only).
"""
Returned = Literal["pending", "dead", "quarantined", "lost"]
Finished = Literal["done", "rescheduled", "lost"]
Signal = Literal["ok", "answered", "site", "soft", "throttled", "none"]
"""2xx and 3xx | 4xx | the host fails | the host may be failing | 429 | says nothing of the host."""


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
        lease, delay, letter = self.lease, ms(self.delay_sec), int(self.dead_letter)
        texts = (patch_text(self.patch), compact(list(self.commit)), self.signal or "")
        recovered = "" if self.recovered_sec is None else ms(self.recovered_sec)
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


class Frontier(Protocol):
    """All future work, leased to workers and paced per host."""

    def push(self, tasks: Iterable[Task], *, delay_sec: float = 0, again: Again = "") -> list[Pushed]:
        """Adds tasks, each due after `delay_sec`; idempotent and atomic per task.

        Unknown → queued; pending → its priority raised if the new one is higher; ended and still remembered → refused
        (`known`), unless `again` says why it comes again: then it is queued with its stored validators, and a pending
        one becomes due after `delay_sec`.
        """
        return self.push_each((task, delay_sec, again) for task in tasks)

    @abstractmethod
    def push_each(self, tasks: Iterable[tuple[Task, float, Again]]) -> list[Pushed]:
        """As `push`, with a delay in seconds and a reason to come again ("" = none) for each task."""

    @abstractmethod
    def take(self, wanted: int, *, lanes: Sequence[str] = LANES) -> Taken:
        """Leases up to `wanted` tasks of hosts that may be asked now, best first; reclaims leases that ran out."""

    def done(self, lease: Lease, **ending: Any) -> Finished:
        """Ends or reschedules the task; `ending` are the fields of `Ending`."""
        return self.end([Ending(lease, **ending)])[0]

    @abstractmethod
    def end(self, endings: Iterable[Ending]) -> list[Finished]:
        """Ends or reschedules tasks, all in one step; answers what became of each."""

    @abstractmethod
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

    @abstractmethod
    def return_strays(self, held: Iterable[Lease]) -> int:
        """Returns the leases that this worker took and that are none of `held`; answers how many.

        Those whose `take` was not answered, and those whose end the server lost when it was killed.
        """

    @abstractmethod
    def release(self, lease: Lease, signal: Signal, *, wait_sec: float | None = None) -> Released:
        """Frees the host's slot once the answer is read, and tells the host's circuit and pace what came of it."""

    @abstractmethod
    def turn(self, lease: Lease) -> float | None:
        """Reserves the host's next turn under a lease; seconds to wait for it, or None if the lease is lost."""

    @abstractmethod
    def visit(self, host: str, url: str) -> Lease | float:
        """The host's turn and slot for a request that is no task's, as a lease to be given back (it then is `lost`).

        Or the seconds after which it is worth asking again: nothing is reserved, so that who waits holds up nobody.
        """

    @abstractmethod
    def heartbeat(self, leases: Iterable[Lease]) -> set[str]:
        """Extends leases; answers the ids of those that are lost."""

    @abstractmethod
    def pace(self, host: str, *, delay_sec: float | None = None, concurrency: int | None = None) -> None:
        """Sets a host's own delay (Crawl-delay, a source's setting) and concurrency."""

    @abstractmethod
    def pace_domain(self, domain: str, *, delay_sec: float | None = None, concurrency: int | None = None) -> None:
        """Sets the delay and concurrency that all hosts of a registered domain share."""

    @abstractmethod
    def forgive(self, hosts: Iterable[str]) -> int:
        """Forgets failures of hosts that were our own, and their domains'; answers how many circuits it closed."""

    @abstractmethod
    def remove(self, task_id: str) -> bool:
        """Takes a task out altogether, whoever holds it; False if there was none."""

    @abstractmethod
    def record(self, task_id: str) -> str | None:
        """All that is remembered of a task, as text for `adopt`."""

    @abstractmethod
    def adopt(
        self, record: str, *, delay_sec: float = 0, polled: bool = False
    ) -> Literal["queued", "pending", "known"]:
        """Takes over the record of a task from another shard; `polled` counts the fetch that ended there.

        Safe to repeat: one that is pending here stays as it is. One that has ended is remembered as such.
        """

    @abstractmethod
    def sweep(self, task_ids: Sequence[str], *, shard: int = 0) -> dict[str, str]:
        """Those of the tasks that have no future, or had none until now, by how that is (`sweep.lua`).

        What was only out of place is put right in the same step. `shard` is where most of them are.
        """

    @abstractmethod
    def audit(self) -> tuple[int, int]:
        """Mends what no lease could end: holders without one, and hosts that wait for an answer that nobody reads.

        Answers how many there were of each.
        """

    @abstractmethod
    def deliver_dead_letters(
        self, limit: int = 1000, keep: int = 100_000, *, first: Callable[[list[str]], None] = lambda _: None
    ) -> int:
        """Moves dead letters from the shard to the list that consumers read; at most `keep` stay there.

        `first` sees them before they are moved; the list gets them without secrets. In one step, but for a cluster:
        there the list is another node's, and a letter may come twice.
        """

    @abstractmethod
    def find(self, task_id: str) -> tuple[Task, History] | None:
        """A task and what is remembered of it; its status is `fetching` while a worker holds it."""

    @abstractmethod
    def histories(self, task_ids: Sequence[str]) -> dict[str, History]:
        """What is remembered of those of the tasks that there are, in one round trip; one in hand counts as pending."""

    @abstractmethod
    def counts(self) -> dict[str, int]:
        """Tasks by `status:kind` (`pending:feed`, `dead:article`, …; ended ones since the beginning) and `leased`."""

    @abstractmethod
    def figures(self) -> Figures:
        """Tasks by all that they are counted by, where their hosts stand, and how late they were taken."""

    @abstractmethod
    def host(self, name: str) -> HostFigures:
        """A host's pace and circuit, and those of its registered domain, as they are now."""

    @abstractmethod
    def circuits(self, limit: int = 1000) -> list[HostFigures]:
        """Hosts whose circuit is not closed, those that changed last first."""

    @abstractmethod
    def hosts(self, cursor: int = 0, *, count: int = 1000) -> tuple[int, dict[str, int]]:
        """Some hosts with their pending tasks, and where to go on (0: these were the last); costs as SCAN does."""

    @abstractmethod
    def urls(self, cursor: int = 0, *, count: int = 1000) -> tuple[int, list[tuple[Task, History]]]:
        """Some tasks with their history, and where to go on (0: these were the last); costs as SCAN does."""


def ms(seconds: float) -> int:
    """Seconds as scripts take them."""
    return round(seconds * 1000)


def patch_text(patch: Mapping[str, Any] | None) -> str:
    """As the record has it: the payload is a text of its own there; a host comes with where its domain begins."""
    if not patch:
        return "{}"
    said = dict(patch)
    if isinstance(said.get("payload"), dict):
        said["payload"] = compact(said["payload"])
    if said.get("host"):
        said["site"] = len(site_of(said["host"]) or "")
    return compact(said)


def patched(record: dict[str, Any], patch: Mapping[str, Any] | None, *, without: Iterable[str]) -> dict[str, Any]:
    """A record with a patch as the scripts apply it: None removes a field, the payload is a text of its own."""
    record = {name: value for name, value in record.items() if name not in without} | dict(patch or {})
    if isinstance(record.get("payload"), dict):
        record["payload"] = compact(record["payload"])
    return {name: value for name, value in record.items() if value is not None}
