"""Detects an outage of this worker's own network from the last minute's successes and failures per host."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from feedcrawl.domain.frontier import outage

if TYPE_CHECKING:
    from collections.abc import Callable

    from feedcrawl.domain.frontier.tasks import Task


@dataclass(frozen=True, slots=True)
class Heard:
    """The latest result of a host: a response (`task` is None), or the task that could not reach the host."""

    at: float
    task: Task | None


class Way:
    """The state of this worker's own network.

    A host that was away when an outage proved to be the hosts' own is no evidence until it responds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._heard: OrderedDict[str, Heard] = OrderedDict()
        self._failed = 0
        self._away: set[str] = set()
        self._tried_at = float("-inf")
        self.since: float | None = None

    @property
    def failing(self) -> dict[str, Task]:
        """The hosts whose last result was a failure, each with the task that failed."""
        return {host: heard.task for host, heard in self._heard.items() if heard.task is not None}

    @property
    def asked(self) -> int:
        """The number of hosts with a result in the last minute."""
        return len(self._heard)

    @property
    def is_silent(self) -> bool:
        """True during our own outage if no host responds at all."""
        return self.since is not None and self._failed == len(self._heard)

    @property
    def lasts_sec(self) -> float:
        """Seconds since our own outage began; 0 if there is none."""
        return 0.0 if self.since is None else self._clock() - self.since

    def wait_sec(self) -> float:
        """Seconds to wait before the next request: while no host responds, one host is tried from time to time."""
        return max(0.0, self._tried_at + outage.LOOK_SEC - self._clock()) if self.is_silent else 0.0

    def tried(self) -> None:
        """Note that a host is being requested."""
        self._tried_at = self._clock()

    def answered(self, host: str) -> Literal["begun", "ended"] | None:
        """Note that a host has responded; `ended` if our own outage ends by it."""
        self._away.discard(host)
        return self._note(host, None)

    def failed(self, task: Task) -> Literal["begun", "ended"] | None:
        """Note that a task's host could not be reached; `begun` if our own outage begins by it."""
        return None if task.host in self._away else self._note(task.host, task)

    def _note(self, host: str, task: Task | None) -> Literal["begun", "ended"] | None:
        now = self._clock()
        self._forget(host)
        self._heard[host] = Heard(now, task)
        self._failed += task is not None
        while (oldest := next(iter(self._heard))) != host and self._heard[oldest].at < now - outage.WINDOW_SEC:
            self._forget(oldest)
        before, self.since = self.since, outage.step(self.since, now, failed=self._failed, asked=len(self._heard))
        if (before is None) == (self.since is None):
            return None
        if before is None:
            return "begun"
        if now - before > outage.LONGEST_SEC:
            self._away.update(self.failing)
        return "ended"

    def _forget(self, host: str) -> None:
        heard = self._heard.pop(host, None)
        self._failed -= heard is not None and heard.task is not None
