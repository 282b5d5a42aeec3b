"""A Python that has imported Scrapy and this package already, and forks: 10 ms where a process of its own takes 2 s.

    python tests/site/prefork.py FD

FD is the control socket. Each byte received from it starts one process and carries four descriptors: a connection for
the request and its answers, standard input, output and error. The request is one line of JSON with `words` (what would
follow `python` on a command line), `env` and `cwd`. The answers are one line with the process id and, at the end, one
line with the return code as in `subprocess`. When the control socket closes, the processes that are left are killed.

The parent installs no reactor, opens no connection and starts no thread: a fork has nothing to inherit but modules.
Those that read the environment are read again in the fork. `scrapy_process.py` is the client.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import sys
from collections.abc import Sequence
from multiprocessing import util
from pathlib import Path
from types import ModuleType

PACKAGES = (
    "scrapy.commands",
    "scrapy.downloadermiddlewares",
    "scrapy.spidermiddlewares",
    "feedcrawl",
)
"""Packages with all of their modules but LEFT_OUT, which few processes import or which run a program."""
LEFT_OUT = ("feedcrawl.api", "feedcrawl.__main__")
MODULES = (
    "scrapy.cmdline",
    "scrapy.core.downloader.handlers.http11",
    "scrapy.core.engine",
    *(f"scrapy.extensions.{name}" for name in ("corestats", "logcount", "logstats", "memusage", "remote_control")),
    *(f"scrapy.extensions.{name}" for name in ("closespider", "memdebug", "spiderstate", "telnet", "throttle")),
    "scrapy.logformatter",
    "scrapy.statscollectors",
    "scrapy.utils.engine",
    "scrapy_redis.scheduler",
    "twisted.internet.asyncioreactor",
    "twisted.internet.ssl",
    "readability",
    "trafilatura.core",
    "multiprocessing.forkserver",
    "multiprocessing.popen_forkserver",
)
READS_ENVIRONMENT = "feedcrawl.settings"


def preload() -> None:
    for name in (*MODULES, *PACKAGES):
        importlib.import_module(name)
    for package in PACKAGES:
        for each in pkgutil.walk_packages(sys.modules[package].__path__, f"{package}.", onerror=lambda _: None):
            if not each.name.startswith(LEFT_OUT):
                importlib.import_module(each.name)
    assert "twisted.internet.reactor" not in sys.modules
    gc.collect()
    gc.freeze()  # a collection in a fork would copy each page that it marks


class Server:
    """Forks one process a request. Its loop ends in the parent with None, in each fork with the words to run."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._connections: dict[int, socket.socket] = {}  # by process id
        self._wake, wake = socket.socketpair()
        self._wake.setblocking(False)
        wake.setblocking(False)
        self._wakeup = wake
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)

    def serve(self) -> list[str] | None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._control, selectors.EVENT_READ)
            selector.register(self._wake, selectors.EVENT_READ)
            while True:
                ready = {key.fileobj for key, _ in selector.select()}
                if self._wake in ready:
                    with contextlib.suppress(BlockingIOError):
                        self._wake.recv(4096)
                    self._reap()
                if self._control in ready:
                    message, descriptors, *_ = socket.recv_fds(self._control, 1, 4)
                    if not message:
                        self._end()
                        return None
                    words = self._fork(descriptors)
                    if words is not None:
                        return words

    def _fork(self, descriptors: Sequence[int]) -> list[str] | None:
        answers, *streams = descriptors
        connection = socket.socket(fileno=answers)
        with connection.makefile() as lines:
            request = json.loads(lines.readline())
        number = os.fork()
        if number:
            self._connections[number] = connection
            for stream in streams:
                os.close(stream)
            connection.sendall(f"{number}\n".encode())
            return None
        os.setsid()
        for target, stream in enumerate(streams):
            os.dup2(stream, target)
            os.close(stream)
        self._close(connection)
        os.environ.clear()
        os.environ.update(request["env"])
        os.chdir(request["cwd"])
        return list(request["words"])

    def _close(self, connection: socket.socket) -> None:
        """In a fork, which has no part in this."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for each in (self._control, self._wake, self._wakeup, connection, *self._connections.values()):
            each.close()

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                number, status = os.waitpid(-1, os.WNOHANG)
                if number == 0:
                    return
                with self._connections.pop(number) as connection, contextlib.suppress(OSError):
                    connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())

    def _end(self) -> None:
        for number in self._connections:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(number, signal.SIGKILL)
            os.kill(number, signal.SIGKILL)  # it may not have made its group yet
            os.waitpid(number, 0)


def keep_spare() -> None:
    """Make multiprocessing's fork server, which imports the parsers, a fork too; a second one is executed as ever."""
    ours, theirs = socket.socketpair()
    number = os.fork()
    if number == 0:
        ours.close()
        message, descriptors, *_ = socket.recv_fds(theirs, 65536, 64)
        if not message:
            os._exit(0)
        theirs.close()
        code, targets = json.loads(message)
        # Via high numbers: a target may be the number of a descriptor that is still to be moved.
        high = [os.dup2(each, 500 + each) for each in descriptors]
        for each in descriptors:
            os.close(each)
        for each, target in zip(high, targets, strict=True):
            os.dup2(each, target)
            os.close(each)
        run(["-c", code])
        os._exit(0)
    theirs.close()
    spawn = util.spawnv_passfds

    def fork(path: bytes, words: Sequence[str], passed: Sequence[int]) -> int:
        if "multiprocessing.forkserver" not in words[-1] or ours.fileno() < 0:
            return spawn(path, words, passed)
        with ours:
            try:
                socket.send_fds(ours, [json.dumps([words[-1], list(passed)]).encode()], list(passed))
            except OSError:  # the spare was killed
                return spawn(path, words, passed)
        return number

    util.spawnv_passfds = fork


def run(words: Sequence[str]) -> None:
    """Run the words of a `python` command line as the interpreter would."""
    how, *rest = words
    sys.modules["__main__"] = main = ModuleType("__main__")
    if how == "-m":
        sys.argv = list(rest)
        sys.path[0] = str(Path.cwd())
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif how == "-c":
        sys.argv = ["-c", *rest[1:]]
        sys.path[0] = ""
        exec(compile(rest[0], "<string>", "exec"), vars(main))
    else:
        sys.argv = list(words)
        sys.path[0] = os.path.dirname(how)  # noqa: PTH120 (as the interpreter sets it)
        main.__file__ = how
        with open(how, "rb") as file:  # noqa: PTH123
            exec(compile(file.read(), how, "exec"), vars(main))


def start() -> None:
    with socket.socket(fileno=int(sys.argv[1])) as control:
        preload()
        words = Server(control).serve()
    if words is None:
        return
    keep_spare()
    importlib.reload(sys.modules[READS_ENVIRONMENT])
    sys.path[1:1] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    run(words)


if __name__ == "__main__":
    start()
