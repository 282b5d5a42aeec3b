"""This worker's own way to the web: what hosts came to in the last minute, and whether it is we who are away."""

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
    """What was heard of a host at a moment: an answer, or with `task` that it could not be reached."""

    at: float
    task: Task | None


class Way:
    """A host that was away when an outage was judged to be the hosts' own is no evidence until it answers."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._heard: OrderedDict[str, Heard] = OrderedDict()
        self._failed = 0
        self._away: set[str] = set()
        self._tried_at = float("-inf")
        self.since: float | None = None

    @property
    def failing(self) -> dict[str, Task]:
        """The hosts that failed last, each with the task that did."""
        return {host: heard.task for host, heard in self._heard.items() if heard.task is not None}

    @property
    def asked(self) -> int:
        """Hosts heard of in the last minute."""
        return len(self._heard)

    @property
    def is_silent(self) -> bool:
        """Whether it is our own outage and nobody answers at all."""
        return self.since is not None and self._failed == len(self._heard)

    @property
    def lasts_sec(self) -> float:
        """For how long it has been our own outage."""
        return 0.0 if self.since is None else self._clock() - self.since

    def wait_sec(self) -> float:
        """How long to ask nobody: while nobody answers, one host is asked from time to time."""
        return max(0.0, self._tried_at + outage.LOOK_SEC - self._clock()) if self.is_silent else 0.0

    def tried(self) -> None:
        """A host is being asked."""
        self._tried_at = self._clock()

    def answered(self, host: str) -> Literal["begun", "ended"] | None:
        """A host has answered; whether the outage has ended by it."""
        self._away.discard(host)
        return self._note(host, None)

    def failed(self, task: Task) -> Literal["begun", "ended"] | None:
        """A task's host could not be reached; whether it has become our own outage by it."""
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
