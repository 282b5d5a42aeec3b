"""The leases in this worker's hands: taken from the frontier, kept alive, and ended once."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from feedcrawl.domain.frontier.outage import AGAIN_SEC
from feedcrawl.domain.frontier.tasks import POLL_KINDS, Lease, compact
from feedcrawl.domain.urls import hostname
from feedcrawl.services.frontier.batched_ends import Endings
from feedcrawl.services.frontier.own_network import Way
from feedcrawl.store.frontier.interface import Ending
from feedcrawl.store.redis.errors import StoreUnavailable
from feedcrawl.telemetry.tracing import Untraced

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence

    from feedcrawl.domain.frontier.tasks import Again, Kind, Task
    from feedcrawl.store.frontier.interface import Finished, Frontier, Pushed, Released, Returned, Signal, Taken
    from feedcrawl.telemetry.tracing import Tracer

RETRY_SEC = 1.0
"""How long after a failure it is worth asking the store again."""


class TurnDenied(Exception):
    """A host that is busy, or whose circuit is open, gave no turn in time."""


class Leases:
    """What this worker holds, by task id. Every method may raise StoreUnavailable.

    `on_change(seconds)` is told when work may have come up: at once after a push, after the host's delay when a host
    is free again.
    """

    def __init__(self, frontier: Frontier, *, lease_sec: float = 60.0, tracer: Tracer | None = None) -> None:
        self._frontier = frontier
        self._lease_sec = lease_sec
        self._endings = Endings(frontier)
        self.held: dict[str, Lease] = {}
        self._sure_until = float("-inf")
        self._ending: set[str] = set()
        self._abandoned: dict[str, tuple[Lease, dict[str, Any]]] = {}
        self.way = Way()
        self._tracer = tracer or Untraced()
        self.on_change: Callable[[float], None] = lambda _: None

    def holds(self, lease: Lease) -> bool:
        """Whether this very lease is still ours."""
        held = self.held.get(lease.id)
        return held is not None and held.token == lease.token

    def count(self, kind: Kind) -> int:
        """How many tasks of a kind are held."""
        return sum(lease.task.kind == kind for lease in self.held.values())

    def confirms(self, lease: Lease) -> bool:
        """Whether this very lease is still ours, asked of the store where this worker has slept through its time.

        For what cannot be undone: the frontier refuses what a lost lease ends, but a line on the disk stays.
        """
        if self.holds(lease) and time.monotonic() >= self._sure_until:
            self.heartbeat()
        return self.holds(lease)

    def take(self, wanted: int, lanes: Sequence[str]) -> Taken:
        """Leases of hosts that may be asked now."""
        began = time.monotonic()
        taken = self._frontier.take(wanted, lanes=lanes)
        if self._tracer.on:
            taken = replace(taken, leases=tuple(map(self._tracer.begin, taken.leases)))
        if not self.held:
            self._sure_until = began + self._lease_sec
        self.held.update({lease.id: lease for lease in taken.leases})
        return taken

    def push(self, tasks: Iterable[Task], *, delay_sec: float = 0, again: Again = "") -> list[Pushed]:
        """Adds tasks to the frontier."""
        pushed = self._frontier.push(tasks, delay_sec=delay_sec, again=again)
        self.on_change(delay_sec)
        return pushed

    def push_each(self, tasks: Iterable[tuple[Task, float, Again]]) -> list[Pushed]:
        """Adds tasks, each with its delay in seconds and its reason to come again."""
        pushed = self._frontier.push_each(tasks)
        self.on_change(0)
        return pushed

    def forgive(self, failed: Mapping[str, Task]) -> None:
        """Forgets the failures of hosts that were our own; their feeds and the like are polled again soon."""
        polls = [replace(task, payload={}) for task in failed.values() if task.kind in POLL_KINDS]
        self._frontier.forgive(failed)
        self._frontier.push_each((task, AGAIN_SEC, "own_outage") for task in polls)

    def turn(self, lease: Lease) -> float | None:
        """Seconds to wait for the host's next turn under this lease; None if it is lost."""
        return self._frontier.turn(lease)

    @asynccontextmanager
    async def visit(self, url: str, *, patience_sec: float) -> AsyncIterator[Lease]:
        """A turn at a URL's host for a request that is no task's; TurnDenied where there is none within the time."""
        until = time.monotonic() + patience_sec
        while True:
            turn = self._frontier.visit(hostname(url), url)
            if isinstance(turn, Lease):
                break
            if time.monotonic() + turn > until:
                raise TurnDenied(f"{hostname(url)} has no turn within {patience_sec:g} s")
            await asyncio.sleep(turn)
        try:
            yield turn
        finally:
            with suppress(StoreUnavailable):  # it then runs out by itself
                self._frontier.give_back(turn, reason="visited")
            self.on_change(0)

    def release(self, lease: Lease, signal: Signal, *, wait_sec: float | None = None) -> Released:
        """Frees the host's slot, with what the answer said of the host."""
        released = self._frontier.release(lease, signal, wait_sec=wait_sec)
        self.on_change(released.wait_sec)
        return released

    def done(self, lease: Lease, **ending: Any) -> Finished:
        """Ends the task as `Frontier.done` does; the lease is no longer held."""
        finished = self._frontier.done(lease, **ending)
        self._forget(lease, **ending)
        return finished

    async def done_soon(self, lease: Lease, **ending: Any) -> Finished:
        """As `done`, in one step with others that end meanwhile; the event loop goes on while the server works."""
        self._ending.add(lease.id)
        try:
            finished = await self._endings.add(Ending(lease, **ending))
        finally:
            self._ending.discard(lease.id)
        self._forget(lease, **ending)
        return finished

    def close(self) -> None:
        """No more ends are sent; those under way are waited for."""
        self._endings.close()

    def give_back(self, lease: Lease, **reason: Any) -> Returned:
        """Returns the task as `Frontier.give_back` does; the lease is no longer held."""
        returned = self._frontier.give_back(lease, **reason)
        self._forget(lease, status="given_back", **reason)
        return returned

    def redirect(self, lease: Lease, url: str, chain: Sequence[str], *, limit: int, permanent: bool = False) -> bool:
        """Returns a task that was redirected to another host, with its new target, so that its rules apply.

        `chain` are the URLs asked under this lease; `permanent` tells that all of them said so, and the payload keeps
        that one was `temporary`. False, and nothing done, where more than `limit` have redirected.
        """
        whole = [*lease.task.payload.get("redirect_chain", ()), *chain]
        if len(whole) > limit:
            return False
        temporary = {} if permanent else {"temporary": True}
        payload = compact({**lease.task.payload, "redirect_chain": whole, **temporary})
        self.give_back(lease, reason="redirected", patch={"url": url, "host": hostname(url), "payload": payload})
        return True

    def abandon(self, lease: Lease, **reason: Any) -> None:
        """Gives a lease back, now or, while the store is away, as soon as it is back. Never raises.

        While others wait the store is not asked, since each question may take as long as its time limit.
        """
        if not self.holds(lease):
            return
        self._abandoned[lease.id] = lease, reason
        if len(self._abandoned) == 1:
            self.give_back_abandoned()
        if self._abandoned:
            self.on_change(RETRY_SEC)

    @property
    def abandoned(self) -> int:
        """How many leases wait for the store to come back, so that they can be returned."""
        return len(self._abandoned)

    def give_back_abandoned(self) -> None:
        """Returns what could not be returned while the store was away, up to the first that fails. Never raises."""
        for lease, reason in list(self._abandoned.values()):
            try:
                if self.holds(lease):
                    self.give_back(lease, **reason)
            except StoreUnavailable:
                return
            self._abandoned.pop(lease.id, None)

    def return_strays(self) -> int:
        """Returns what the store counts as this worker's and this worker does not hold; answers how many.

        A reply that was lost on its way, or an end that a killed server has lost again, leaves such a lease.
        """
        returned = self._frontier.return_strays(self.held.values())
        if returned:
            self.on_change(0)
        return returned

    def heartbeat(self) -> set[str]:
        """Extends all that is held; what was lost meanwhile is forgotten, and named.

        What is being ended tells by itself what became of it: the store may have ended it a moment ago.
        """
        self.give_back_abandoned()
        began = time.monotonic()
        lost = self._frontier.heartbeat(self.held.values()) - self._ending
        self._sure_until = began + self._lease_sec
        for task_id in lost:
            self._lose(self.held.pop(task_id, None))
        return lost

    def give_all_back(self, reason: str) -> int:
        """Returns all that is held, without an attempt; answers how many. Never raises: leases run out anyway.

        What the store did not confirm counts as `abandoned`.
        """
        held = list(self.held.values())
        self.give_back_abandoned()  # each for its own reason
        for lease in held:
            if lease.id not in self._abandoned:
                self.abandon(lease, reason=reason)
        self._drop_all()
        return len(held) - len(self._abandoned)

    def lose_all(self) -> None:
        """Holds nothing any more, and gives nothing back: the server that it was taken from is gone."""
        self._drop_all()
        self._abandoned.clear()

    def _drop_all(self) -> None:
        for lease in self.held.values():
            self._lose(lease)
        self.held.clear()

    def _lose(self, lease: Lease | None) -> None:
        if lease is not None:
            self._tracer.end(lease, "lost")

    def _forget(self, lease: Lease, *, status: str = "fetched", reason: str = "", **_: Any) -> None:
        self._tracer.end(lease, status, reason)
        if self.holds(lease):
            del self.held[lease.id]
            self._abandoned.pop(lease.id, None)
        self.on_change(0)
