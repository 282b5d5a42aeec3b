"""Limits of concurrent work: places with a share for each caller, and a lane for heavy work."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool

from feedcrawl.api.problems import RetryLater

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

HEAVY_AT_ONCE: Final = 2
"""Heavy requests at a time: more would only share one interpreter, and delay light requests."""
HEAVY_SEC: Final = 30.0
"""Seconds that a request waits for its turn."""
RETRY_SEC: Final = 30.0
Made = TypeVar("Made")


class Places:
    """A number of places, of which one caller has a share at most. For one event loop."""

    def __init__(self, total: int, share: int, code: str, things: str) -> None:
        self._total, self._share = total, share
        self._code, self._things = code, things
        self._taken = Counter[str]()

    @contextmanager
    def taken(self, caller: str) -> Iterator[None]:
        """Takes a place for as long as the block runs; RetryLater (the code of these places) without a free one."""
        if self._taken[caller] >= self._share or self._taken.total() >= self._total:
            limits = f"{self._total} {self._things} at a time, {self._share} of them for one caller"
            raise RetryLater(self._code, f"there may be {limits}: try again later", RETRY_SEC)
        self._taken[caller] += 1
        try:
            yield
        finally:
            self._taken[caller] -= 1
            if not self._taken[caller]:
                del self._taken[caller]


class Heavy:
    """The lane of heavy work, in which requests wait for their turn."""

    def __init__(self) -> None:
        self._turns = asyncio.Semaphore(HEAVY_AT_ONCE)
        self._next: dict[str, asyncio.Task[Any]] = {}

    @asynccontextmanager
    async def turn(self, within_sec: float | None = HEAVY_SEC) -> AsyncIterator[None]:
        """A turn for as long as the block runs; RetryLater (`too_busy`) if none comes in time."""
        try:
            async with asyncio.timeout(within_sec):
                await self._turns.acquire()
        except TimeoutError:
            raise RetryLater("too_busy", "other work of this kind is under way: try again later", RETRY_SEC) from None
        try:
            yield
        finally:
            self._turns.release()

    async def shared(self, name: str, make: Callable[[], Made]) -> Made:
        """The result of `make`: one call, begun after all of its callers came, serves all of them."""
        task = self._next.get(name)
        if task is None:
            task = self._next[name] = asyncio.create_task(self._made(name, make))
        made: Made = await asyncio.shield(task)
        return made

    async def _made(self, name: str, make: Callable[[], Made]) -> Made:
        try:
            async with self.turn():
                del self._next[name]  # callers from here on may have changed the data that is read
                return await run_in_threadpool(make)
        finally:
            if self._next.get(name) is asyncio.current_task():
                del self._next[name]


async def _in_turn(request: Request) -> AsyncIterator[None]:
    heavy: Heavy = request.app.state.heavy
    async with heavy.turn():
        yield


HEAVY: Final = Depends(_in_turn, scope="function")
"""The dependency of a route whose work is heavy: it waits for its turn, and ends it before the answer is sent."""
