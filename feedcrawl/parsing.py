"""The child processes in which hostile bytes are parsed.

    pool = ParserPool(2)
    outcome = await pool.run(parse, body, url=url, wall_sec=20)      # Done(value) or Failed(code, detail)
    await pool.close(drain_sec=5)

A parser that hangs, eats memory or crashes costs one child and one document; the caller gets a value, never an
exception. A document whose child was killed from outside, or ran out of wall time, is read once more. Children are
forked from a server process that has imported the parsers and nothing else: no reactor, no connection, no thread is
there to be inherited. They end when their parent does, however it dies.

Whatever a child is sent and sends back is pickled, so functions must be importable, and children are trusted as far
as the parsers in them are.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
from concurrent.futures import TimeoutError as FutureTimeout
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pebble import ProcessExpired, ProcessPool

from feedcrawl.domain.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

logger = logging.getLogger(__name__)

T = TypeVar("T")

PARSERS = (
    "feedcrawl.domain.entries.reading",
    "feedcrawl.domain.sitemaps",
    "feedcrawl.domain.extraction",
    "readability",  # these two are imported by the extraction when a page first needs them: once for all children
    "trafilatura.core",
)
_TALKATIVE = ("readability", "trafilatura")
"""Loggers of libraries that print tracebacks for hostile pages; what they fail at comes back as an outcome."""
# macOS takes RLIMIT_AS and does not enforce it (setrlimit(2) there: "not implemented").
MEMORY_IS_LIMITED = sys.platform != "darwin"
_AHEAD = 2  # tasks in flight per child: one is worked on and one waits in the pipe, so that no child waits for the loop
_LOOK_SEC = 1.0
_POLL_SEC = 0.02
_STALL_SEC = 30.0
_STOP_SEC = 10.0
_DETAIL_CHARS = 500
_KILLED = {-signal.SIGKILL, -signal.SIGTERM, 255}  # 255: multiprocessing's word for a fork server that is gone
_SIGNALS = {number.value: number.name for number in signal.Signals}


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """What the function answered, and the seconds it took in the child."""

    value: T
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Failed:
    """Why there is no answer.

    `code` is that of the Refusal which the function raised, or `parse_timeout` (CPU or wall time), `parse_memory`,
    `parse_crash` (the child died), `parse_error` (any other exception, its text in `detail`), `parse_cancelled` (the
    pool closes).
    """

    code: str
    detail: str
    seconds: float = 0.0


class ParserPool:
    """Up to `processes` children, each limited to `cpu_sec` per task and `memory_bytes`, replaced after `max_tasks`.

    It belongs to one event loop and starts with its first task; starting, sending and receiving happen on threads of
    its own. `on_answer` is told the function's name and each answer. Where an operating system has no limit for memory,
    a warning says so.
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
        self._preload = [__name__, *preload]
        self._cpu_sec = cpu_sec
        self._memory_bytes = memory_bytes
        self._max_tasks = max_tasks
        self._pool: ProcessPool | None = None
        self._starting = asyncio.Lock()
        self._slots = asyncio.Semaphore(_AHEAD * processes)
        self._futures: set[Any] = set()
        self._closing = False
        self.on_answer: Callable[[str, Done[Any] | Failed], None] = lambda _name, _outcome: None
        if not MEMORY_IS_LIMITED:
            logger.warning("%s has no limit for the memory of the parsing processes", sys.platform)

    async def run(
        self, function: Callable[..., T], /, *args: Any, wall_sec: float = 20.0, **kwargs: Any
    ) -> Done[T] | Failed:
        """`function(*args, **kwargs)` as a child answers it. `wall_sec` counts from the moment a child takes it up.

        Raises only for a call that cannot be pickled, which is the caller's bug. A cancelled call is stopped.
        """
        async with self._slots:
            # Pickled here and not before: what waits for its turn must not cost a copy, nor the loop the time for all.
            task = _pickled((function, args, kwargs))
            began = time.monotonic()
            try:
                try:
                    outcome = await self._ask(task, wall_sec)
                except (BrokenProcessPool, ProcessExpired, FutureTimeout):
                    # Pebble gives up a whole pool when an idle child dies, a machine without memory kills any child,
                    # a supervisor that ends a crawl signals all of its processes, and a machine that slept has used
                    # up the wall time of all: the task need not be to blame. Its own cost is limited in CPU time.
                    outcome = await self._ask(task, wall_sec)
            except (BrokenProcessPool, FutureTimeout, OSError, EOFError) as error:
                outcome = self._failure(error, wall_sec)
            outcome = outcome if outcome.seconds else replace(outcome, seconds=time.monotonic() - began)
        self.on_answer(function.__name__, outcome)
        return outcome

    async def close(self, drain_sec: float = 0.0) -> None:
        """Ends the pool. What runs has `drain_sec` to finish; everything else is answered with `parse_cancelled`."""
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

    async def _ask(self, task: bytes, wall_sec: float) -> Done[Any] | Failed:
        pool = await self._running_pool()
        if pool is None:
            return Failed("parse_cancelled", "the pool is closing")
        try:
            future = pool.schedule(_call, args=(task, self._cpu_sec), timeout=wall_sec)
        except RuntimeError as error:
            raise BrokenProcessPool(str(error)) from error
        self._futures.add(future)
        try:
            return await self._answer(pool, asyncio.wrap_future(future), wall_sec)
        finally:
            self._futures.discard(future)

    async def _running_pool(self) -> ProcessPool | None:
        """The pool, started or replaced if need be; None when it closes."""
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
        context = _Context()
        context.set_forkserver_preload(self._preload)
        pool = ProcessPool(
            self._processes, self._max_tasks, initializer=_limit, initargs=(self._memory_bytes,), context=context
        )
        if not pool.active:  # asking starts it
            raise BrokenProcessPool("the parsing processes cannot be started")
        return pool

    async def _answer(self, pool: ProcessPool, asked: asyncio.Future[Any], wall_sec: float) -> Done[Any] | Failed:
        deadline = time.monotonic() + _AHEAD * wall_sec + _STALL_SEC
        try:
            while not (await asyncio.wait([asked], timeout=_LOOK_SEC))[0]:
                if time.monotonic() > deadline:
                    # A child that is killed while it holds the pipe's lock blocks all others.
                    pool.stop()  # type: ignore[no-untyped-call]
                if not pool.active:
                    raise BrokenProcessPool("the parsing processes do not answer")
            if asked.cancelled():
                return Failed("parse_cancelled", "the pool is closing")
            error = asked.exception()
            if error is not None and (isinstance(error, (BrokenProcessPool, FutureTimeout)) or _was_killed(error)):
                raise error
            outcome: Done[Any] | Failed = self._failure(error, wall_sec) if error else asked.result()
            return outcome
        finally:
            asked.cancel()

    def _failure(self, error: BaseException, wall_sec: float) -> Failed:
        if isinstance(error, FutureTimeout):
            return Failed("parse_timeout", f"no answer within {wall_sec:g} s")
        if not isinstance(error, ProcessExpired):
            return Failed("parse_crash", _plain(error))
        if error.exitcode == -signal.SIGPROF:
            return Failed("parse_timeout", f"more than {self._cpu_sec:g} s of CPU")
        if error.exitcode == -signal.SIGKILL:
            return Failed("parse_crash", "the child was killed by SIGKILL (memory of the machine?)")
        if error.exitcode < 0:
            return Failed("parse_crash", f"the child was killed by {_SIGNALS.get(-error.exitcode, -error.exitcode)}")
        return Failed("parse_crash", f"the child ended with status {error.exitcode}")


def _was_killed(error: BaseException) -> bool:
    """Whether the child ended by a signal that no limit of ours sends, or so did the server that it was forked from."""
    return isinstance(error, ProcessExpired) and error.exitcode in _KILLED


def _discard(pool: ProcessPool) -> threading.Thread:
    """Stops a pool on a thread of its own: it waits for children that may not want to go."""

    def stop() -> None:
        pool.stop()  # type: ignore[no-untyped-call]
        pool.join()

    stopping = threading.Thread(target=stop, name="feedcrawl-parsers-stop", daemon=True)
    stopping.start()
    return stopping


def _pickled(value: object) -> bytes:
    return ForkingPickler.dumps(value).tobytes()


# What follows runs in the children.


class _Packed:
    """A result that is pickled where it is made, so that a result that cannot be is that task's error, and the
    child's send, which holds the lock of the pipe, only copies bytes.
    """

    def __init__(self, outcome: Done[Any]) -> None:
        self.pickled = _pickled(outcome)

    def __reduce__(self) -> tuple[Callable[[bytes], Any], tuple[bytes]]:
        return ForkingPickler.loads, (self.pickled,)


def _call(task: bytes, cpu_sec: float) -> _Packed | Failed:
    began = time.monotonic()
    try:
        with _cpu_limit(cpu_sec):
            function, args, kwargs = ForkingPickler.loads(task)
            value = function(*args, **kwargs)
            return _Packed(Done(value, time.monotonic() - began))
    except Refusal as refusal:
        code, detail = refusal.code, refusal.detail
    except MemoryError:
        code, detail = "parse_memory", "more memory than a parsing process may have"
    except BaseException as error:  # noqa: BLE001 (whatever a document provokes, SystemExit included, is its outcome)
        code, detail = "parse_error", _plain(error)
    return Failed(code, _printable(detail), time.monotonic() - began)


@contextlib.contextmanager
def _cpu_limit(cpu_sec: float) -> Iterator[None]:
    """SIGPROF ends the process, even in C code that holds the interpreter's lock, where no Python handler would run."""
    signal.setitimer(signal.ITIMER_PROF, cpu_sec)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _limit(memory_bytes: int) -> None:
    """Runs once in each child."""
    if MEMORY_IS_LIMITED:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name in _TALKATIVE:
        logging.getLogger(name).disabled = True
    # Pebble stops a child with SIGTERM and waits 3 s; a Python handler would not run inside a parser's C code.
    for number in (signal.SIGTERM, signal.SIGPROF):
        signal.signal(number, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, name="feedcrawl-parent-watch", daemon=True).start()


def _end_with_parent() -> None:
    """getppid(2) would tell of the fork server; this waits on a pipe that the kernel closes with the real parent."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _plain(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _printable(text: str) -> str:
    return text[:_DETAIL_CHARS].encode(errors="replace").decode()


# How children are started.


class _Process(ForkServerProcess):
    """A child that does not import its parent's main module: that is all of Scrapy under `scrapy` and Scrapyd."""

    @staticmethod
    def _Popen(process_obj: Any) -> Any:  # noqa: N802 (multiprocessing's name)
        with _main_without_origin():
            return ForkServerProcess._Popen(process_obj)  # noqa: SLF001


class _Context(ForkServerContext):
    Process = _Process


_main_mutex = threading.Lock()


@contextlib.contextmanager
def _main_without_origin() -> Iterator[None]:
    """A child is told to import the main module again if that says where it came from; no setting prevents it."""
    with _main_mutex:
        names = vars(sys.modules["__main__"])
        origin: dict[str, Any] = {name: names.pop(name) for name in ("__file__", "__spec__") if name in names}
        names["__spec__"] = None
        try:
            yield
        finally:
            names.update(origin)
