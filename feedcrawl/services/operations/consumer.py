"""Consumers of the event stream: each sends every event to its target, at least once and in order.

The stream is the outbox. A source gives the next events and remembers which were processed; a target processes them.
`GroupSource` is a consumer group: an event is acknowledged after the target has confirmed it, so that after a kill in
between it is given again with the same id. The stream is never trimmed beyond a group's position, so a target may be
away as long as the server has room. One process of a fleet consumes a group at a time, as two would break the order;
the others wait to take its place.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from redis.exceptions import ResponseError

from feedcrawl.domain.errors import FeedcrawlError
from feedcrawl.store.disk.files import DiskUnavailable
from feedcrawl.store.redis.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from feedcrawl.domain.operations.events import Unprocessable
    from feedcrawl.store.operations.streams import Backlog, Events, StoredEvent

logger = logging.getLogger(__name__)

CONSUMER: Final = "relay"
"""One consumer name for every leading process, so that a process finds the events that its predecessor was given."""
BATCH: Final = 500
LEAD_SEC: Final = 60
"""Seconds of leadership. Longer than any batch takes, and a few server commands."""
IDLE_SEC: Final = 0.5
REPORT_SEC: Final = 60.0
DRAIN_SEC: Final = 5.0
"""The time limit, in seconds, of the batch in flight when a consumer is stopped."""
WAITS_SEC: Final = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""Waits, in seconds, while the target or the server is away."""


RESULTS: Final = ("sent", "refused", "failed")
"""Results that are counted for each consumer group: events that the target got, events that it can never get, and
attempts at a batch that failed and are repeated.
"""


class TargetAway(FeedcrawlError):
    """The target does not accept events now; the same events may succeed later."""


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The result of a batch: the number of events that the target got, and the events that it can never get."""

    sent: int
    refused: Sequence[tuple[StoredEvent, Unprocessable]] = ()


class Target(Protocol):
    """The receiver of a consumer's events."""

    async def deliver(self, stored: Sequence[StoredEvent]) -> BatchResult:
        """Process events in order. Raises TargetAway."""

    async def close(self) -> None:
        """Release what the target uses."""


class Source(Protocol):
    """The events of a consumer. Methods block, and may raise StoreUnavailable, DiskUnavailable, TargetAway."""

    leads: bool
    """True if this process was the consumer at the last call of `take`."""
    is_busy: bool
    """True if `take` does other work too, and has more of it."""

    def take(self) -> list[StoredEvent]:
        """The next events; the same events again after a failure."""

    def finish(self, stored: Sequence[StoredEvent], done: BatchResult) -> None:
        """Store that events were processed. A refused event stops no other event."""

    def retry(self) -> None:
        """Have `take` return the events again that were taken and not finished, since an attempt failed."""

    def leave(self) -> None:
        """Let another process consume at once."""

    def waiting(self) -> int | None:
        """The number of events that wait; None if it is unknown."""


class Consumer:
    """A consumer in one process. `name` begins its log lines (`relay_waits`, `relay_back`, `relay`)."""

    def __init__(self, source: Source, target: Target, *, name: str) -> None:
        self.source = source
        self._target = target
        self._name, self._waits, self._back = name, f"{name}_waits", f"{name}_back"
        self._failures = 0
        self._once = self._ends = False
        self._wake = asyncio.Event()
        self.sent = 0
        self.refused = 0

    async def run(self, stop: asyncio.Event, *, once: bool = False) -> bool:
        """Consume until `stop` is set, or with `once` until this process leads and all events are processed; False if
        that is impossible.
        """
        self._once = once
        report, stopped = asyncio.ensure_future(self._report()), asyncio.ensure_future(stop.wait())
        try:
            while not stop.is_set():
                turn = asyncio.ensure_future(self._turn())
                await asyncio.wait({turn, stopped}, return_when=asyncio.FIRST_COMPLETED)
                await asyncio.wait({turn}, timeout=DRAIN_SEC)  # after a stop
                if not turn.done():  # events that are not acknowledged are sent again
                    turn.cancel()
                    return True
                if turn.result() and (self._ends or (self._once and (self._failures or self.source.leads))):
                    return not self._failures
                woken = asyncio.ensure_future(self._wake.wait())
                await asyncio.wait({stopped, woken}, timeout=turn.result(), return_when=asyncio.FIRST_COMPLETED)
                woken.cancel()
                self._wake.clear()
            return True
        finally:
            report.cancel()
            stopped.cancel()
            await self._target.close()
            with contextlib.suppress(StoreUnavailable):
                await asyncio.to_thread(self.source.leave)

    def finish(self) -> None:
        """Have `run` end when all events are processed, or if another process consumes."""
        self._ends = True
        self._wake.set()

    async def _turn(self) -> float:
        """Process one batch; seconds until the next."""
        try:
            found = await self.step()
        except (TargetAway, StoreUnavailable, DiskUnavailable) as error:
            with contextlib.suppress(StoreUnavailable):
                await asyncio.to_thread(self.source.retry)
            wait = WAITS_SEC[min(self._failures, len(WAITS_SEC) - 1)]
            if not self._failures:
                logger.warning(self._waits, extra={"reason": error.code, "detail": error.detail})
            self._failures += 1
            return wait
        if self._failures:
            logger.warning(self._back, extra={"failures": self._failures})
            self._failures = 0
        return 0.0 if found or self.source.is_busy else IDLE_SEC

    async def step(self) -> int:
        """Process the next events; returns their number. 0: there are none, or another process consumes."""
        stored = await asyncio.to_thread(self.source.take)
        if stored:
            done = await self._target.deliver(stored)
            await asyncio.to_thread(self.source.finish, stored, done)
            for each, why in done.refused:
                extra = {"id": each.fields.get("id"), "at": each.at, "reason": why.reason, "detail": why.detail}
                logger.warning("event_refused", extra=extra)
            self.sent += done.sent
            self.refused += len(done.refused)
        return len(stored)

    async def _report(self) -> None:
        """Log the consumer's progress once a minute, if there was any."""
        before: dict[str, int] = {}
        while True:
            await asyncio.sleep(REPORT_SEC)
            counts = {"sent": self.sent, "refused": self.refused}
            if counts == before:
                continue
            before = counts
            with contextlib.suppress(StoreUnavailable):
                waiting = await asyncio.to_thread(self.source.waiting)
                logger.info(self._name, extra=counts | ({} if waiting is None else {"waiting": waiting}))


class GroupSource:
    """The events of a consumer group. `worker` is the name of this process."""

    is_busy = False

    def __init__(self, events: Events, group: str, *, worker: str) -> None:
        self._events = events
        self._group = group
        self._worker = worker
        self._opened = False
        self._again = True
        self.leads = False

    def take(self) -> list[StoredEvent]:
        """The next events, first those that a predecessor was given; none if another process leads."""
        self.leads = self._events.lead(self._group, self._worker, LEAD_SEC)
        if not self.leads:
            self._again = True  # events may be left that the previous leader was given
            return []
        if not self._opened:
            self._events.open_group(self._group)
            self._opened = True
        try:
            return self._next()
        except ResponseError as error:
            if str(error).startswith("NOGROUP"):  # the server was emptied
                self._opened = False
                return []
            raise

    def _next(self) -> list[StoredEvent]:
        if self._again:
            if left := self._events.give(self._group, CONSUMER, BATCH, again=True):
                return left
            self._again = False
        return self._events.give(self._group, CONSUMER, BATCH, again=False)

    def finish(self, stored: Sequence[StoredEvent], done: BatchResult) -> None:
        """Store the refused events, then acknowledge all."""
        for each, why in done.refused:
            self._events.refuse(each, self._group, why.reason, why.detail)
        self._events.acknowledge(self._group, stored)
        count(self._events, self._group, done)

    def retry(self) -> None:
        """Take the events again that are not acknowledged."""
        self._again = True
        self._events.count(self._group, "failed")

    def leave(self) -> None:
        """Let another process lead at once."""
        self._events.leave(self._group, self._worker)

    def waiting(self) -> int | None:
        """The number of events that the group was not given yet."""
        found = backlog(self._events, self._group)
        return None if found is None else found.waiting


def count(events: Events, group: str, done: BatchResult) -> None:
    """Add a batch to the counts of a group, which metrics read."""
    for result, number in (("sent", done.sent), ("refused", len(done.refused))):
        if number:
            events.count(group, result, number)


def log_failure(running: asyncio.Future[bool]) -> None:
    """Log the error that ended a consumer beside other work: a bug, and no reason to end the other work."""
    if not running.cancelled() and (error := running.exception()) is not None:
        logger.error("consumer_failed", exc_info=error)


def backlog(events: Events, group: str) -> Backlog | None:
    """The backlog of a consumer group; None if it never consumed. Raises StoreUnavailable."""
    return next((each for each in events.backlogs() if each.group == group), None)
