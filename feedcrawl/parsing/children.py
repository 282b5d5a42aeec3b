"""The code that runs in the children, and how children are started.

Children are forked from a server process that has imported the parsers and nothing else, so that they inherit no
reactor, connection or thread. They end when their parent ends, however it dies.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any, Final

from feedcrawl.domain.errors import Refusal
from feedcrawl.parsing.answers import Answer, ParentEnd, encode, pipe

if TYPE_CHECKING:
    from collections.abc import Iterator

# macOS accepts RLIMIT_AS and does not enforce it (setrlimit(2) there: "not implemented").
MEMORY_IS_LIMITED: Final = sys.platform != "darwin"
OPEN_FILES: Final = 64
"""Most open files of a child: its pipes, and one module or table at a time that a parser loads late."""
COLLECT_AFTER: Final = (50_000, 20, 20)
"""Thresholds of `gc.set_threshold`: trees are freed by reference counting, and a page has some 10,000 objects."""
_DETAIL_CHARS = 500
_TALKATIVE = ("readability", "trafilatura")
"""Loggers of libraries that print tracebacks for hostile pages; their failures are returned as outcomes."""


def call(task: bytes, cpu_sec: float) -> Answer:
    """Calls a pickled (function, args, kwargs); the answer has the result or the failure, whatever happens."""
    began = time.monotonic()
    try:
        with _cpu_limit(cpu_sec):
            function, args, kwargs = ForkingPickler.loads(task)
            value = function(*args, **kwargs)
            return encode(value, time.monotonic() - began)
    except Refusal as refusal:
        code, detail = refusal.code, refusal.detail
    except MemoryError:
        code, detail = "parse_memory", "more memory than a parsing process may have"
    except BaseException as error:  # noqa: BLE001 (whatever a document provokes, SystemExit included, is its outcome)
        code, detail = "parse_error", f"{type(error).__name__}: {error}"
    return Answer(time.monotonic() - began, code, detail[:_DETAIL_CHARS].encode(errors="replace").decode())


@contextlib.contextmanager
def _cpu_limit(cpu_sec: float) -> Iterator[None]:
    """SIGPROF ends the process, even in C code that holds the interpreter's lock, where no Python handler would run."""
    signal.setitimer(signal.ITIMER_PROF, cpu_sec)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def limit(memory_bytes: int) -> None:
    """Runs once in each child: limits memory and open files, and forbids writing to files.

    Garbage collection skips the objects that existed at the fork: visiting them would copy shared memory.
    """
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: 0, resource.RLIMIT_NOFILE: OPEN_FILES}
    if MEMORY_IS_LIMITED:
        limits[resource.RLIMIT_AS] = memory_bytes
    for kind, value in limits.items():
        _, hard = resource.getrlimit(kind)
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (most, most))
    for name in _TALKATIVE:
        logging.getLogger(name).disabled = True
    # Pebble stops a child with SIGTERM and waits 3 s; a Python handler would not run inside a parser's C code.
    for number in (signal.SIGTERM, signal.SIGPROF):
        signal.signal(number, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, name="feedcrawl-parent-watch", daemon=True).start()


def _end_with_parent() -> None:
    """Waits on a pipe that the kernel closes when the real parent ends; getppid(2) would name the fork server."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


class _Process(ForkServerProcess):
    """A child that does not import its parent's main module: that is all of Scrapy under `scrapy` and Scrapyd."""

    @staticmethod
    def _Popen(process_obj: Any) -> Any:  # noqa: N802 (multiprocessing's name)
        with _main_without_origin():
            return ForkServerProcess._Popen(process_obj)  # noqa: SLF001


class Context(ForkServerContext):
    """Starts children whose answers are plain."""

    Process = _Process

    def Pipe(self, duplex: bool = True) -> tuple[ParentEnd, ParentEnd]:  # noqa: N802, FBT001, FBT002 - multiprocessing's
        """A pipe in one direction, as pebble requests it."""
        assert not duplex
        return pipe()


_main_mutex = threading.Lock()


@contextlib.contextmanager
def _main_without_origin() -> Iterator[None]:
    """Hides the origin of the main module: multiprocessing would make each child import that module again."""
    with _main_mutex:
        names = vars(sys.modules["__main__"])
        origin: dict[str, object] = {name: names.pop(name) for name in ("__file__", "__spec__") if name in names}
        names["__spec__"] = None
        try:
            yield
        finally:
            names.update(origin)
