"""A pool of parsing children that belongs to one event loop.

A document whose child was killed from outside, or ran out of wall time, is read once more. Called functions must be
importable and declare the type of their result, as which the result is decoded.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import threading
import time
from concurrent.futures import TimeoutError as FutureTimeout
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any, TypeVar

from pebble import ProcessExpired, ProcessPool

from feedcrawl.parsing import children
from feedcrawl.parsing.answers import Answer, Done, Failed, decode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

logger = logging.getLogger(__name__)

T = TypeVar("T")

PARSERS = (
    "feedcrawl.domain.discovery.choice",
    "feedcrawl.domain.entries.reading",
    "feedcrawl.domain.extraction.reading",
    "feedcrawl.domain.feeds.formats.document",  # the package imports its public names at their first use
    "feedcrawl.domain.sitemaps.gaps",
    "feedcrawl.domain.sitemaps.news",
    "feedcrawl.domain.sites.links",
    "feedcrawl.domain.sites.sources",  # the type of an argument
    "feedcrawl.domain.subscriptions.lists",
    "readability",  # these two are imported by the extraction when a page first needs them: once for all children
    "trafilatura.core",
)
"""Modules that the children's server imports before it forks them: once for all children, and in shared memory."""
_AHEAD = 2  # tasks in flight per child: one is worked on and one waits in the pipe, so that no child waits for the loop
_LOOK_SEC = 1.0
_POLL_SEC = 0.02
_STALL_SEC = 30.0
_STOP_SEC = 10.0
_KILLED = {-signal.SIGKILL, -signal.SIGTERM, 255}  # 255: multiprocessing's word for a fork server that is gone
_SIGNALS = {number.value: number.name for number in signal.Signals}


class ParserPool:
    """Up to `processes` children, each limited to `cpu_sec` per task and `memory_bytes`, replaced after `max_tasks`.

    It belongs to one event loop and starts with its first task; starting, sending and receiving happen on threads of
    its own. `on_answer` is called with the function's name and each answer. Where the operating system cannot limit
    memory, a warning is logged.
    """

    def __init__(
        self,
        processes: int,
        *,
        preload: Sequence[str] = PARSERS,
        cpu_sec: float = 10.0,
        memory_bytes: int = 1 << 30,
        max_tasks: int = 500,
    ) -> None:
        self._processes = processes
        self._preload = [children.__name__, *preload]
        self._cpu_sec = cpu_sec
        self._memory_bytes = memory_bytes
        self._max_tasks = max_tasks
        self._pool: ProcessPool | None = None
        self._starting = asyncio.Lock()
        self._slots = asyncio.Semaphore(_AHEAD * processes)
        self._futures: set[Any] = set()
        self._closing = False
        self.on_answer: Callable[[str, Done[Any] | Failed], None] = lambda _name, _outcome: None
        if not children.MEMORY_IS_LIMITED:
            logger.warning("%s has no limit for the memory of the parsing processes", sys.platform)

    async def run(
        self, function: Callable[..., T], /, *args: Any, wall_sec: float = 20.0, **kwargs: Any
    ) -> Done[T] | Failed:
        """The result of `function(*args, **kwargs)` in a child; `wall_sec` counts from the moment a child begins.

        Raises only for a call that cannot be pickled, which is the caller's bug. A cancelled call is stopped.
        """
        async with self._slots:
            # Pickled in its turn: a waiting call costs no copy, and the loop does not pickle all calls at once.
            task = pickled((function, args, kwargs))
            began = time.monotonic()
            try:
                try:
                    answer = await self._ask(task, wall_sec)
                except (BrokenProcessPool, ProcessExpired, FutureTimeout):
                    # Pebble gives up a whole pool when an idle child dies, a machine without memory kills any child,
                    # a supervisor that ends a crawl signals all of its processes, and a machine that slept has used
                    # up the wall time of all: the task need not be to blame. Its own cost is limited in CPU time.
                    answer = await self._ask(task, wall_sec)
            except (BrokenProcessPool, FutureTimeout, OSError, EOFError) as error:
                answer = self._failure(error, wall_sec)
            outcome = decode(function, answer) if isinstance(answer, Answer) else answer
            outcome = outcome if outcome.seconds else replace(outcome, seconds=time.monotonic() - began)
        self.on_answer(function.__name__, outcome)
        return outcome

    async def close(self, drain_sec: float = 0.0) -> None:
        """Ends the pool. Running calls have `drain_sec` to finish; all others fail with `parse_cancelled`."""
        self._closing = True
        deadline = time.monotonic() + drain_sec
        while self._futures and time.monotonic() < deadline:
            await asyncio.sleep(_POLL_SEC)
        async with self._starting:
            pool, self._pool = self._pool, None
        # Pebble leaves the futures of a stopped pool pending for ever.
        for future in tuple(self._futures):
            future.cancel()
        if pool is not None:
            stopping = _discard(pool)
            deadline = time.monotonic() + _STOP_SEC
            while stopping.is_alive() and time.monotonic() < deadline:
                await asyncio.sleep(_POLL_SEC)

    async def _ask(self, task: bytes, wall_sec: float) -> Answer | Failed:
        pool = await self._running_pool()
        if pool is None:
            return Failed("parse_cancelled", "the pool is closing")
        try:
            future = pool.schedule(children.call, args=(task, self._cpu_sec), timeout=wall_sec)
        except RuntimeError as error:
            raise BrokenProcessPool(str(error)) from error
        self._futures.add(future)
        try:
            return await self._answer(pool, asyncio.wrap_future(future), wall_sec)
        finally:
            self._futures.discard(future)

    async def _running_pool(self) -> ProcessPool | None:
        """The pool, started or replaced if necessary; None when it closes."""
        async with self._starting:
            if self._closing:
                return None
            if self._pool is not None and not self._pool.active:
                _discard(self._pool)
                self._pool = None
            if self._pool is None:
                self._pool = await asyncio.to_thread(self._start)
            return self._pool

    def _start(self) -> ProcessPool:
        context = children.Context()
        context.set_forkserver_preload(self._preload)
        pool = ProcessPool(
            self._processes,
            self._max_tasks,
            initializer=children.limit,
            initargs=(self._memory_bytes,),
            context=context,
        )
        if not pool.active:  # asking starts it
            raise BrokenProcessPool("the parsing processes cannot be started")
        return pool

    async def _answer(self, pool: ProcessPool, future: asyncio.Future[Any], wall_sec: float) -> Answer | Failed:
        deadline = time.monotonic() + _AHEAD * wall_sec + _STALL_SEC
        try:
            while not (await asyncio.wait([future], timeout=_LOOK_SEC))[0]:
                if time.monotonic() > deadline:
                    # A child that is killed while it holds the pipe's lock blocks all others.
                    pool.stop()  # type: ignore[no-untyped-call]
                if not pool.active:
                    raise BrokenProcessPool("the parsing processes do not answer")
            if future.cancelled():
                return Failed("parse_cancelled", "the pool is closing")
            error = future.exception()
            if error is not None and (isinstance(error, (BrokenProcessPool, FutureTimeout)) or _was_killed(error)):
                raise error
            answer: Answer | Failed = self._failure(error, wall_sec) if error else future.result()
            return answer
        finally:
            future.cancel()

    def _failure(self, error: BaseException, wall_sec: float) -> Failed:
        if isinstance(error, FutureTimeout):
            return Failed("parse_timeout", f"no answer within {wall_sec:g} s")
        if not isinstance(error, ProcessExpired):
            return Failed("parse_crash", f"{type(error).__name__}: {error}")
        if error.exitcode == -signal.SIGPROF:
            return Failed("parse_timeout", f"more than {self._cpu_sec:g} s of CPU")
        if error.exitcode == -signal.SIGKILL:
            return Failed("parse_crash", "the child was killed by SIGKILL (memory of the machine?)")
        if error.exitcode < 0:
            return Failed("parse_crash", f"the child was killed by {_SIGNALS.get(-error.exitcode, -error.exitcode)}")
        return Failed("parse_crash", f"the child ended with status {error.exitcode}")


def _was_killed(error: BaseException) -> bool:
    """True if the child, or the server that it was forked from, ended by a signal that none of our limits sends."""
    return isinstance(error, ProcessExpired) and error.exitcode in _KILLED


def _discard(pool: ProcessPool) -> threading.Thread:
    """Stops a pool on a thread of its own, since stopping waits for children that may hang."""

    def stop() -> None:
        pool.stop()  # type: ignore[no-untyped-call]
        pool.join()

    stopping = threading.Thread(target=stop, name="feedcrawl-parsers-stop", daemon=True)
    stopping.start()
    return stopping


def pickled(value: object) -> bytes:
    """A call in the form that the children read."""
    return ForkingPickler.dumps(value).tobytes()
