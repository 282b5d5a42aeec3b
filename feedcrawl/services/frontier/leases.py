"""The leases of this worker: taken from the frontier, kept alive, and ended once."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

from feedcrawl.domain.frontier.outage import RETRY_WAIT_SEC
from feedcrawl.domain.frontier.tasks import POLL_KINDS, Lease
from feedcrawl.domain.urls import hostname
from feedcrawl.services.frontier.batched_ends import Endings
from feedcrawl.services.frontier.own_network import OwnNetwork
from feedcrawl.store.frontier.interface import Ending
from feedcrawl.store.redis.errors import StoreUnavailable
from feedcrawl.telemetry.tracing import Untraced

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence

    from feedcrawl.domain.frontier.payloads import CookieRecord, Patch, Payload
    from feedcrawl.domain.frontier.tasks import Again, Kind, Origin, Task
    from feedcrawl.store.frontier.interface import (
        EndingFields,
        Enqueued,
        Finished,
        Frontier,
        Released,
        Return,
        Returned,
        Signal,
        Taken,
    )
    from feedcrawl.telemetry.tracing import Tracer

RETRY_SEC = 1.0
"""Seconds after a failure until the store is tried again."""


class TurnDenied(Exception):
    """A host that is busy, or whose circuit is open, gave no turn in time."""


class Leases:
    """The leases that this worker holds, by task id. Every method may raise StoreUnavailable.

    `on_change(seconds)` is called when work may have become available: at once after an enqueue, after the host's delay
    when a host is free again.
    """

    def __init__(self, frontier: Frontier, *, lease_sec: float = 60.0, tracer: Tracer | None = None) -> None:
        self._frontier = frontier
        self._lease_sec = lease_sec
        self._endings = Endings(frontier)
        self.leased: dict[str, Lease] = {}
        self._sure_until = float("-inf")
        self._ending: set[str] = set()
        self._unreturned: dict[str, tuple[Lease, Return]] = {}
        self.own_network = OwnNetwork()
        self._tracer = tracer or Untraced()
        self.on_change: Callable[[float], None] = lambda _: None

    def holds(self, lease: Lease) -> bool:
        """True if this very lease is still held."""
        own = self.leased.get(lease.id)
        return own is not None and own.token == lease.token

    def count(self, kind: Kind) -> int:
        """The number of leased tasks of a kind."""
        return sum(lease.task.kind == kind for lease in self.leased.values())

    @property
    def ending(self) -> int:
        """The number of tasks whose end is on its way to the store."""
        return len(self._ending)

    def confirms(self, lease: Lease) -> bool:
        """True if this very lease is still held; checked in the store if this process was suspended beyond the lease's
        time.

        For steps that cannot be undone: the frontier rejects the end of a lost lease, but a line on the disk stays.
        """
        if self.holds(lease) and time.monotonic() >= self._sure_until:
            self.heartbeat()
        return self.holds(lease)

    def take(self, limit: int, lanes: Sequence[str]) -> Taken:
        """Take leases of tasks whose hosts may be requested now."""
        began = time.monotonic()
        taken = self._frontier.take(limit, lanes=lanes)
        if self._tracer.on:
            taken = replace(taken, leases=tuple(map(self._tracer.begin, taken.leases)))
        if not self.leased:
            self._sure_until = began + self._lease_sec
        self.leased.update({lease.id: lease for lease in taken.leases})
        return taken

    def enqueue(self, tasks: Iterable[Task], *, delay_sec: float = 0, again: Again = "") -> list[Enqueued]:
        """Enqueue tasks in the frontier."""
        enqueued = self._frontier.enqueue(tasks, delay_sec=delay_sec, again=again)
        self.on_change(delay_sec)
        return enqueued

    def enqueue_each(self, tasks: Iterable[tuple[Task, float, Again]]) -> list[Enqueued]:
        """Enqueue tasks, each with its delay in seconds and the reason why a known task comes again."""
        enqueued = self._frontier.enqueue_each(tasks)
        self.on_change(0)
        return enqueued

    def pending(self, origin: Origin) -> int:
        """The number of pending tasks of an origin, over all workers."""
        return self._frontier.statistics().by("status", "origin").get(f"pending:{origin}", 0)

    def forgive(self, failed: Mapping[str, Task]) -> None:
        """Forget the failures of hosts that our own outage caused; their feeds and other recurring tasks are
        polled again soon.
        """
        polls = [replace(task, payload={}) for task in failed.values() if task.kind in POLL_KINDS]
        self._frontier.forgive(failed)
        self._frontier.enqueue_each((task, RETRY_WAIT_SEC, "own_outage") for task in polls)

    def turn(self, lease: Lease) -> float | None:
        """Seconds until the host's next turn under this lease; None if the lease is lost."""
        return self._frontier.turn(lease)

    @asynccontextmanager
    async def visit(self, url: str, *, patience_sec: float) -> AsyncIterator[Lease]:
        """A turn at a URL's host for a request that belongs to no task; TurnDenied if there is none in time."""
        until = time.monotonic() + patience_sec
        while True:
            turn = self._frontier.visit(hostname(url), url)
            if isinstance(turn, Lease):
                break
            if time.monotonic() + turn > until:
                raise TurnDenied(f"{hostname(url)} gave no turn within {patience_sec:g} s")
            await asyncio.sleep(turn)
        try:
            yield turn
        finally:
            with suppress(StoreUnavailable):  # the turn then expires by itself
                self._frontier.give_back(turn, reason="visited")
            self.on_change(0)

    def release(self, lease: Lease, signal: Signal, *, wait_sec: float | None = None) -> Released:
        """Release the host's slot, with the signal of the response about the host."""
        released = self._frontier.release(lease, signal, wait_sec=wait_sec)
        self.on_change(released.wait_sec)
        return released

    def done(self, lease: Lease, **ending: Unpack[EndingFields]) -> Finished:
        """End the task as `Frontier.done` does; the lease is no longer held."""
        finished = self._frontier.done(lease, **ending)
        self._forget(lease, ending.get("status", "fetched"), ending.get("reason", ""))
        return finished

    async def done_soon(self, lease: Lease, **ending: Unpack[EndingFields]) -> Finished:
        """Like `done`, but batched with other completions; the event loop goes on while the server works."""
        self._ending.add(lease.id)
        try:
            finished = await self._endings.add(Ending(lease, **ending))
        finally:
            self._ending.discard(lease.id)
        self._forget(lease, ending.get("status", "fetched"), ending.get("reason", ""))
        return finished

    def close(self) -> None:
        """Send no more completions; those in flight are waited for."""
        self._endings.close()

    def give_back(self, lease: Lease, **fields: Unpack[Return]) -> Returned:
        """Return the task as `Frontier.give_back` does; the lease is no longer held."""
        returned = self._frontier.give_back(lease, **fields)
        self._forget(lease, "given_back", fields["reason"])
        return returned

    def redirect(
        self,
        lease: Lease,
        url: str,
        chain: Sequence[str],
        *,
        limit: int,
        permanent: bool = False,
        reason: str = "redirected",
        task: Task | None = None,
        cookies: Sequence[CookieRecord] = (),
    ) -> bool:
        """Return a task that was redirected to another host, with its new target, so that the rules of that host apply.

        `chain` are the URLs requested under this lease. `permanent` is True if all of their redirects were permanent;
        otherwise the payload records that one was `temporary`. `task` has the settings that hold at the target.
        `cookies` are those that all redirects so far have set. False, and nothing is changed, after more than `limit`
        redirects.
        """
        task = task or lease.task
        whole = [*lease.task.payload.get("redirect_chain", ()), *chain]
        if len(whole) > limit:
            return False
        payload: Payload = {**task.payload, "redirect_chain": whole}
        if not permanent:
            payload["temporary"] = True
        if cookies:
            payload["redirect_cookies"] = list(cookies)
        patch: Patch = {"url": url, "host": hostname(url), "payload": payload}
        if task.source != lease.task.source:
            patch["source"], patch["category"] = task.source, task.category
        self.give_back(lease, reason=reason, patch=patch)
        return True

    def give_back_eventually(self, lease: Lease, **fields: Unpack[Return]) -> None:
        """Give a lease back, now or, while the store is away, as soon as it is back. Never raises.

        While other leases wait, the store is not called, since each call may take as long as its time limit.
        """
        if not self.holds(lease):
            return
        self._unreturned[lease.id] = lease, fields
        if len(self._unreturned) == 1:
            self.give_back_unreturned()
        if self._unreturned:
            self.on_change(RETRY_SEC)

    @property
    def unreturned(self) -> int:
        """The number of leases that wait to be returned until the store is back."""
        return len(self._unreturned)

    def give_back_unreturned(self) -> None:
        """Return the leases that could not be returned while the store was away, up to the first failure. Never
        raises.
        """
        for lease, fields in list(self._unreturned.values()):
            try:
                if self.holds(lease):
                    self.give_back(lease, **fields)
            except StoreUnavailable:
                return
            self._unreturned.pop(lease.id, None)

    def return_strays(self) -> int:
        """Give back leases that the store assigns to this worker and this worker does not hold; returns their number.

        A lost reply leaves such a lease, and so does an end that a killed server has lost.
        """
        returned = self._frontier.return_strays(self.leased.values())
        if returned:
            self.on_change(0)
        return returned

    def awaits_the_dead(self) -> bool:
        """True if a lease of a worker that died will end soon: live workers renew theirs before half of it is over."""
        end_sec = self._frontier.first_end_sec()
        return end_sec is not None and end_sec < self._lease_sec / 2

    def heartbeat(self) -> set[str]:
        """Extend all leases; lost leases are forgotten and returned.

        A task that is being ended is left out: its end reports the result itself, and the store may have ended it a
        moment ago.
        """
        self.give_back_unreturned()
        began = time.monotonic()
        lost = self._frontier.heartbeat(self.leased.values()) - self._ending
        self._sure_until = began + self._lease_sec
        for task_id in lost:
            self._lose(self.leased.pop(task_id, None))
        return lost

    def give_all_back(self, reason: str) -> int:
        """Give back all leases, without an attempt; returns their number. Never raises: leases expire anyway.

        Leases whose return the store did not confirm count as `unreturned`.
        """
        leased = list(self.leased.values())
        self.give_back_unreturned()  # each with its own reason
        for lease in leased:
            if lease.id not in self._unreturned:
                self.give_back_eventually(lease, reason=reason)
        self._drop_all()
        return len(leased) - len(self._unreturned)

    def lose_all(self) -> None:
        """Forget all leases without giving them back: the server that granted them is gone."""
        self._drop_all()
        self._unreturned.clear()

    def _drop_all(self) -> None:
        for lease in self.leased.values():
            self._lose(lease)
        self.leased.clear()

    def _lose(self, lease: Lease | None) -> None:
        if lease is not None:
            self._tracer.end(lease, "lost")

    def _forget(self, lease: Lease, status: str, reason: str) -> None:
        self._tracer.end(lease, status, reason)
        if self.holds(lease):
            del self.leased[lease.id]
            self._unreturned.pop(lease.id, None)
        self.on_change(0)
