"""Batches task completions: those that arrive while a batch is in flight are sent with the next one.

A thread waits for the server, so that the event loop does not. No completion is delayed to fill a batch: the first is
sent in the turn of the loop in which it came.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from feedcrawl.store.frontier.interface import Ending, Finished, Frontier

MAX_BATCH = 16
"""The most completions per batch: keeps the server's longest script short."""


class Endings:
    """The queue of completions of one event loop."""

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier
        self._waiting: list[tuple[Ending, asyncio.Future[Finished]]] = []
        self._sending = False
        self._thread = ThreadPoolExecutor(1, "endings")

    def add(self, ending: Ending) -> asyncio.Future[Finished]:
        """The result of the task's end; StoreUnavailable if the store is away."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Finished] = loop.create_future()
        self._waiting.append((ending, future))
        if not self._sending:
            self._sending = True
            loop.call_soon(self._send)
        return future

    def close(self) -> None:
        """End the thread after it has sent all completions."""
        self._thread.shutdown()

    def _send(self) -> None:
        """Send a batch. A batch belongs to one shard: if one node of a cluster is away, completions of other
        shards do not fail.
        """
        shard = self._waiting[0][0].lease.shard if self._waiting else 0
        mine = [each for each in self._waiting if each[0].lease.shard == shard]
        others = [each for each in self._waiting if each[0].lease.shard != shard]
        batch, self._waiting = mine[:MAX_BATCH], others + mine[MAX_BATCH:]
        self._sending = bool(batch)
        if batch:
            sent = asyncio.get_running_loop().run_in_executor(self._thread, self._end, [each for each, _ in batch])
            sent.add_done_callback(partial(self._resolve, batch))

    def _end(self, endings: list[Ending]) -> list[Finished]:
        return self._frontier.end(endings)

    def _resolve(
        self, batch: list[tuple[Ending, asyncio.Future[Finished]]], sent: asyncio.Future[list[Finished]]
    ) -> None:
        error = sent.exception()
        for number, (_, future) in enumerate(batch):
            if future.done():  # the caller is gone
                continue
            if error is None:
                future.set_result(sent.result()[number])
            else:
                future.set_exception(error)
        self._send()
