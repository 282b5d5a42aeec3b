"""Scrapy's command line of this project in a process of its own, as a user runs it."""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import IO

REPOSITORY = Path(__file__).resolve().parents[2]
PREFORK = Path(__file__).with_name("prefork.py")


@dataclass(frozen=True, slots=True)
class Run:
    """How a process ended, and what it wrote."""

    code: int
    out: str
    err: str


def clean_environment() -> dict[str, str]:
    """This process's environment without what would steer the product; the log has what tests look for."""
    return {"FEEDCRAWL_LOG_LEVEL": "INFO"} | {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("FEEDCRAWL_", "SCRAPY_"))
        and name != "REDIS_URL"
        and not name.lower().endswith("_proxy")
    }


class Process:
    """A process in a session of its own, forked from one that has imported everything; used as `subprocess.Popen` is.

    `words` are what follows `python` on its command line. Standard input is empty.
    """

    def __init__(
        self, words: Sequence[str], env: Mapping[str, str], out: IO[bytes] | None = None, err: IO[bytes] | None = None
    ) -> None:
        self.args = list(words)
        self.returncode: int | None = None
        ours, theirs = socket.socketpair()
        with theirs, open(os.devnull, "r+b") as null:  # noqa: PTH123
            streams = [each.fileno() for each in (theirs, null, out or null, err or null)]
            socket.send_fds(_server(), [b"1"], streams)
        self._connection, self._read = ours, b""
        weakref.finalize(self, ours.close)  # of a process that a test killed and did not wait for
        request = {"words": self.args, "env": dict(env), "cwd": str(REPOSITORY)}
        ours.sendall(json.dumps(request).encode() + b"\n")
        self.pid = self._line(None)

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self.returncode = self._line(timeout)
            self._connection.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _line(self, timeout: float | None) -> int:
        """The next answer, a number."""
        until = None if timeout is None else time.monotonic() + timeout
        while b"\n" not in self._read:
            self._connection.settimeout(None if until is None else max(until - time.monotonic(), 1e-6))
            try:
                piece = self._connection.recv(64)
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(self.args, timeout or 0) from None
            if not piece:
                raise RuntimeError(f"{PREFORK.name} has ended: {self.args}")
            self._read += piece
        line, _, self._read = self._read.partition(b"\n")
        return int(line)


@functools.cache
def _server() -> socket.socket:
    """The control socket of this test process's `prefork.py`."""
    ours, theirs = socket.socketpair()
    with theirs:
        server = subprocess.Popen(
            [sys.executable, str(PREFORK), str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            cwd=REPOSITORY,
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )

    def end() -> None:
        ours.close()
        server.wait()

    atexit.register(end)
    return ours


def run_scrapy(*arguments: str, data_dir: Path, env: Mapping[str, str] | None = None, timeout_sec: float = 60.0) -> Run:
    """Run `scrapy …` in the repository's root. One that outlasts its time is killed and fails with what it wrote.

    It has ended when its children have, too: they write to the same pipes.
    """
    own = clean_environment() | {"FEEDCRAWL_DATA_DIR": str(data_dir)} | dict(env or {})
    return run_python("-m", "scrapy", *arguments, env=own, timeout_sec=timeout_sec)


def run_python(*words: str, env: Mapping[str, str], timeout_sec: float = 60.0) -> Run:
    """Run what `python …` would, with exactly this environment."""
    with contextlib.ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(2))
        (out, out_end), (err, err_end) = (map(stack.enter_context, pipe()) for _ in range(2))
        process = Process(words, env, out_end, err_end)
        out_end.close()
        err_end.close()
        written = [pool.submit(each.read) for each in (out, err)]
        _, unread = wait(written, timeout_sec)
        if unread:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        shown = [each.result().decode(errors="replace").replace("\r\n", "\n") for each in written]
    if unread:
        lasted = f"python {' '.join(words)} was still running after {timeout_sec:g} s"
        raise AssertionError(f"{lasted}\n{shown[0][-2000:]}\n{shown[1][-6000:]}")
    return Run(process.wait(10), *shown)


def pipe() -> tuple[IO[bytes], IO[bytes]]:
    """Its ends: one to read and one to write."""
    reading, writing = os.pipe()
    return open(reading, "rb"), open(writing, "wb")  # noqa: PTH123
