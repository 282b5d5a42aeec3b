"""Detects an outage of this worker's own network from the last minute's successes and failures per host."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Literal

from feedcrawl.domain.frontier import outage
from feedcrawl.domain.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from feedcrawl.domain.frontier.tasks import Task


@dataclass(frozen=True, slots=True)
class HostResult:
    """The latest result of a host: a response (`task` is None), or the task that could not reach the host.

    `lost`: True if the failure is one of a machine without network.
    """

    at: float
    task: Task | None
    lost: bool = False


class OwnNetwork:
    """The state of this worker's own network.

    A host is no evidence until it responds, if it failed while an outage was found to be the hosts' own, or if it
    failed during our outage and fails again after the end.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._results: OrderedDict[str, HostResult] = OrderedDict()
        self._failed = 0
        self._lost = 0
        self._away: set[str] = set()
        self._suspected: set[str] = set()
        self._tried_at = float("-inf")
        self.since: float | None = None

    @property
    def failing(self) -> dict[str, Task]:
        """The hosts whose last result was a failure, each with the task that failed."""
        return {host: result.task for host, result in self._results.items() if result.task is not None}

    @property
    def requested(self) -> int:
        """The number of hosts with a result in the last minute."""
        return len(self._results)

    @property
    def is_silent(self) -> bool:
        """True during our own outage if no host responds at all."""
        return self.since is not None and self._failed == len(self._results)

    @property
    def lasts_sec(self) -> float:
        """Seconds since our own outage began; 0 if there is none."""
        return 0.0 if self.since is None else self._clock() - self.since

    def wait_sec(self) -> float:
        """Seconds to wait before the next request: while no host responds, one host is tried from time to time."""
        return max(0.0, self._tried_at + outage.TRIAL_SEC - self._clock()) if self.is_silent else 0.0

    def tried(self) -> None:
        """Note that a host is being requested."""
        self._tried_at = self._clock()

    def answered(self, host: str) -> Literal["begun", "ended"] | None:
        """Note that a host has responded; `ended` if our own outage ends by it."""
        self._away.discard(host)
        self._suspected.discard(host)
        return self._note(host, HostResult(self._clock(), None))

    def failed(self, task: Task, reason: int | str) -> Literal["begun", "ended"] | None:
        """Note that a task's host could not be reached, for a reason in OF_OWN_NETWORK; `begun` if our own outage
        begins by it.
        """
        if self.since is None and task.host in self._suspected:
            self._away.add(task.host)
        if task.host in self._away:
            return None
        return self._note(task.host, HostResult(self._clock(), task, reason in outage.OF_A_LOST_NETWORK))

    def _note(self, host: str, result: HostResult) -> Literal["begun", "ended"] | None:
        now = result.at
        self._forget(host)
        self._results[host] = result
        self._failed += result.task is not None
        self._lost += result.lost
        while (oldest := next(iter(self._results))) != host and self._results[oldest].at < now - outage.WINDOW_SEC:
            self._forget(oldest)
        lost = self._lost if self._lost and self._is_varied() else 0
        counts = {"failed": self._failed, "requested": len(self._results), "lost": lost}
        before, self.since = self.since, outage.step(self.since, now, **counts)
        if (before is None) == (self.since is None):
            return None
        if before is None:
            return "begun"
        self._suspected = set(self.failing)
        if now - before > outage.LONGEST_SEC:
            self._away.update(self.failing)
        return "ended"

    def _is_varied(self) -> bool:
        """True if the hosts are of several registered domains: one domain that fails as a whole is itself at fault."""
        domains = {site_of(host) or host for host in islice(self._results, outage.MANY_HOSTS)}
        return len(domains) > 1

    def _forget(self, host: str) -> None:
        result = self._results.pop(host, None)
        if result is not None:
            self._failed -= result.task is not None
            self._lost -= result.lost
