"""Ends of many tasks in few steps: what ends while the server works on the last step goes into the next.

A thread waits for the server, so that the event loop does not. Nothing is delayed for the sake of company: the first
end is sent with the turn of the loop in which it came.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from feedcrawl.store.frontier.interface import Ending, Finished, Frontier

TOGETHER = 16
"""Ends per step: keeps the server's longest script short."""


class Endings:
    """Belongs to one event loop."""

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier
        self._waiting: list[tuple[Ending, asyncio.Future[Finished]]] = []
        self._sending = False
        self._thread = ThreadPoolExecutor(1, "endings")

    def add(self, ending: Ending) -> asyncio.Future[Finished]:
        """What becomes of the task; StoreUnavailable where the store is away."""
        loop = asyncio.get_running_loop()
        told: asyncio.Future[Finished] = loop.create_future()
        self._waiting.append((ending, told))
        if not self._sending:
            self._sending = True
            loop.call_soon(self._send)
        return told

    def close(self) -> None:
        """Ends the thread once it has sent what it was given."""
        self._thread.shutdown()

    def _send(self) -> None:
        """What goes together is of one shard: where a node of a cluster is away, the ends of others are no failures."""
        shard = self._waiting[0][0].lease.shard if self._waiting else 0
        mine = [each for each in self._waiting if each[0].lease.shard == shard]
        others = [each for each in self._waiting if each[0].lease.shard != shard]
        batch, self._waiting = mine[:TOGETHER], others + mine[TOGETHER:]
        self._sending = bool(batch)
        if batch:
            sent = asyncio.get_running_loop().run_in_executor(self._thread, self._end, [each for each, _ in batch])
            sent.add_done_callback(partial(self._tell, batch))

    def _end(self, endings: list[Ending]) -> list[Finished]:
        return self._frontier.end(endings)

    def _tell(self, batch: list[tuple[Ending, asyncio.Future[Finished]]], sent: asyncio.Future[list[Finished]]) -> None:
        error = sent.exception()
        for number, (_, told) in enumerate(batch):
            if told.done():  # whoever asked is gone
                continue
            if error is None:
                told.set_result(sent.result()[number])
            else:
                told.set_exception(error)
        self._send()
