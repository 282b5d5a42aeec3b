"""What the frontier costs: pushes, takes and ends per second, bytes per URL, and how long one script holds the server.

    python benchmarks/frontier.py [--sizes 10000,100000,1000000] [--hosts 10000] [--takes 6000] [--no-aof]
        [--fill] [--shards 4] [--cluster] [--server /usr/bin/redis-server]

Each size has a server of its own (unix socket, AOF everysec, in a temporary directory) with that many article tasks of
about 350 bytes on `--hosts` hosts, host delay 0 so that the store and not the pace is measured. Client and server share
the machine's cores. `take` leases only; `take+done` ends each lease too, one call per lease as a crawl does, and
`together` the ends of a batch in one round trip. `CPU` is the processor's time of the server's main thread (what one
Redis could do is its inverse) and `commands` what its scripts call, both per task: they depend less on what else the
machine does, the latter not at all. The times of scripts are the server's own clock; those of a script that does
nothing, called as often, show how much of the longest is the machine's scheduling and not ours.

`--fill` writes what `push` would, without its scripts, of all tasks but each host's last: ten million URLs are there in
minutes. They take some 5 % less memory than those that are pushed.

`--server` measures another server than the embedded one. `--shards` divides the work, on one server or, with
`--cluster`, on three nodes. `CPU` is then that of the busiest node: its inverse is what the cluster could do for many
workers. One client, as here, waits for one node at a time.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import redis

from feedcrawl.domain.frontier.tasks import Task, lane_of
from feedcrawl.store.frontier.interface import Ending
from feedcrawl.store.frontier.packed import packed
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy
from feedcrawl.store.frontier.shards import Shards
from feedcrawl.store.redis import keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from feedcrawl.domain.frontier.payloads import Payload
    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.store.redis.client import Client

    Server = redis.Redis | redis.RedisCluster

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "site"))

from redis_cluster import running_cluster
from redis_process import running_redis

BATCHES = (1, 16, 64)
TRIVIAL = "return redis.call('PING')"
POLICY = FrontierPolicy(host_delay_sec=0, lease_sec=3600)
HEAD = """\
| number | what | batch | tasks/s | CPU, µs/task | commands/task | p99.9 of a script, ms ≤ | longest, ms |
|--:|---|--:|--:|--:|--:|--:|--:|"""
CHUNK = 6400
"""Tasks made at a time, so that their making is not measured."""


class Cost(NamedTuple):
    """One phase: tasks per second, the server's CPU microseconds and commands per task, scripts in milliseconds."""

    per_second: float
    cpu_us: float
    commands: float
    p999_ms: float
    longest_ms: float


def tasks(start: int, stop: int, hosts: int) -> list[Task]:
    """Article tasks as a feed's poll makes them."""
    return [_task(number, f"www.site-{number % hosts}.example") for number in range(start, stop)]


def _task(number: int, host: str) -> Task:
    url = f"https://{host}/2026/11/27/what-happened-to-number-{number}.html"
    provenance: Payload = {"title": f"What happened to number {number}", "published": "2026-11-27T08:15:00Z"}
    uid = hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()[:16]
    source = f"source-{number % 97}"
    return Task(uid, "article", url, host, 1 + number % 7, "feed", "feed:0f3a5b7c", 1, source, "news", provenance)


class Bench:
    """A frontier of some size, and the phases that are measured on it."""

    def __init__(self, client: Server, size: int, hosts: int, shards: int) -> None:
        self._client = client
        self._nodes = nodes_of(client)
        self._size = size
        self._hosts = hosts
        ours = cast("Client", client)
        self._frontier = Shard(ours, POLICY) if shards == 1 else Shards(ours, POLICY, shards=shards)
        for node in self._nodes:
            node.config_set("slowlog-log-slower-than", 500)
            node.config_set("slowlog-max-len", 100_000)

    def memory(self) -> int:
        """Bytes that the servers' data takes."""
        total = 0
        for node in self._nodes:
            node.slowlog_reset()  # its entries have the arguments of each script
            info: dict[str, Any] = node.info("memory")
            total += int(info["used_memory"]) - int(info.get("mem_clients_normal", 0))
            total -= int(info.get("mem_aof_buffer", 0))
        return total

    def measured(self, steps: Iterator[int]) -> Cost:
        """The cost of steps that each answer how many tasks they handled; time between steps is not counted."""
        for node in self._nodes:
            node.config_resetstat()
            node.slowlog_reset()
        handled, seconds, before = 0, 0.0, self._cpu()
        while True:
            begun = time.perf_counter()
            step = next(steps, None)
            if step is None:
                break
            if step:  # and none where tasks are only being made
                handled, seconds = handled + step, seconds + time.perf_counter() - begun
        cpu = max(after - own for after, own in zip(self._cpu(), before, strict=True))
        slow, p999 = [0], [0.0]
        for node in self._nodes:
            found = cast("Client", node).execute_command("LATENCY", "HISTOGRAM", "evalsha")
            p999 += [_quantile(found, 0.999)] if found else []
            slow += [entry["duration"] for entry in node.slowlog_get(-1) if b"EVALSHA" in _bytes(entry["command"])]
        commands = sum(map(_commands, self._nodes)) / handled
        return Cost(handled / seconds, 1e6 * cpu / handled, commands, max(p999) / 1000, max(slow) / 1000)

    def _cpu(self) -> list[float]:
        """Seconds of processor time that each server's main thread has had."""
        infos: list[dict[str, Any]] = [node.info("cpu") for node in self._nodes]
        return [float(each["used_cpu_user_main_thread"]) + float(each["used_cpu_sys_main_thread"]) for each in infos]

    def fill(self) -> int:
        """Tasks written as `push` leaves them, all but each host's last; answers how many."""
        stop, shard, at = self._size - self._hosts, keys.shard(), int(time.time() * 1000)
        for host in range(self._hosts):
            each = [_task(number, f"www.site-{host}.example") for number in range(host, stop, self._hosts)]
            texts = {f"{shard}t:{task.id}": str(at).join(packed(task)) for task in each}
            counts = Counter(f"pending:{task.kind}:{task.origin}:{task.source}" for task in each)
            with self._client.pipeline(transaction=False) as pipe:
                pipe.mset(texts)
                ranks = {task.id: at - 3_600_000 * task.priority for task in each}
                pipe.zadd(f"{shard}q:{lane_of(each[0])}:{each[0].host}", ranks)
                pipe.hincrby(f"{shard}h:{each[0].host}", "tasks", len(each))
                for name, count in counts.items():
                    pipe.hincrby(f"{shard}counts", name, count)
                pipe.execute()
        return stop

    def enqueue(self, start: int = 0) -> Cost:
        """All tasks from one on."""

        def steps() -> Iterator[int]:
            for at in range(start, self._size, CHUNK):
                chunk = tasks(at, min(at + CHUNK, self._size), self._hosts)
                yield 0
                self._frontier.enqueue(chunk)
                yield len(chunk)

        return self.measured(steps())

    def warm(self) -> None:
        """Takes a task of every host once, so that each has its record before memory and takes are measured."""
        taken: list[Lease] = []
        while leases := self._frontier.take(64).leases:
            taken += leases
        for lease in taken:
            self._frontier.give_back(lease, reason="warm")

    def take(self, batch: int, takes: int) -> Cost:
        """Takes alone, of hosts that are all free; the tasks are given back afterwards."""
        taken: list[Lease] = []

        def steps() -> Iterator[int]:
            while len(taken) < min(takes, self._hosts - batch):
                leases = self._frontier.take(batch).leases
                taken.extend(leases)
                yield len(leases)

        cost = self.measured(steps())
        for lease in taken:
            self._frontier.give_back(lease, reason="benchmark")
        return cost

    def take_and_done(self, batch: int, takes: int, end: Callable[[Sequence[Lease]], object]) -> Cost:
        """Takes, each ended by `end`."""

        def steps() -> Iterator[int]:
            for _ in range(takes // batch):
                leases = self._frontier.take(batch).leases
                end(leases)
                yield len(leases)

        return self.measured(steps())

    def one_by_one(self, leases: Sequence[Lease]) -> None:
        """Ends each in a call of its own."""
        for lease in leases:
            self._frontier.done(lease, signal="ok")

    def together(self, leases: Sequence[Lease]) -> None:
        """Ends a batch in one round trip, as `services/frontier/batched_ends.py` does."""
        self._frontier.end(Ending(lease, signal="ok") for lease in leases)

    def nothing(self, calls: int) -> Cost:
        """A script that does nothing, as often."""
        script = self._nodes[0].register_script(TRIVIAL)

        def steps() -> Iterator[int]:
            for _ in range(calls):
                script()
                yield 1

        script()
        return self.measured(steps())


def nodes_of(client: Server) -> list[redis.Redis]:
    """Every server that holds keys."""
    if not isinstance(client, redis.RedisCluster):
        return [client]
    return [client.get_redis_connection(node) for node in client.get_primaries()]  # type: ignore[no-untyped-call]


def _commands(node: redis.Redis) -> int:
    """Commands that scripts have called since the figures were reset."""
    stats: dict[str, Any] = node.info("commandstats")
    ours = ("evalsha", "info", "config", "slowlog", "latency", "script")
    return sum(figures["calls"] for name, figures in stats.items() if not name[8:].startswith(ours))


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "replace")


def _quantile(histogram: Any, share: float) -> float:
    """The upper bound in microseconds of the histogram's bucket in which this share of calls ends."""
    found = dict(zip(histogram[::2], histogram[1::2], strict=True)) if isinstance(histogram, list) else histogram
    fields = found["evalsha"]
    fields = dict(zip(fields[::2], fields[1::2], strict=True)) if isinstance(fields, list) else fields
    buckets = fields["histogram_usec"]
    pairs = list(zip(buckets[::2], buckets[1::2], strict=True)) if isinstance(buckets, list) else list(buckets.items())
    return float(next(bound for bound, calls in pairs if calls >= share * fields["calls"]))


def report(size: int, options: argparse.Namespace) -> None:
    """The rows of one size."""
    with store(options) as client:
        bench = Bench(client, size, min(options.hosts, size // 4), options.shards)
        empty = bench.memory()
        row(size, "enqueue", 64, bench.enqueue(bench.fill() if options.fill else 0))
        pending = (bench.memory() - empty) / size
        bench.warm()
        for batch in BATCHES:
            row(size, "take", batch, bench.take(batch, options.takes))
        before = bench.memory()
        for batch in BATCHES:
            row(size, "take+done", batch, bench.take_and_done(batch, options.takes // 3, bench.one_by_one))
        for batch in BATCHES[1:]:
            row(size, "take+done, together", batch, bench.take_and_done(batch, options.takes // 3, bench.together))
        ended = 5 * (options.takes // 3)
        row(size, "nothing", 1, bench.nothing(options.takes))
        print(f"| {size} | bytes per pending URL: {pending:.0f}, per ended URL: ", end="")
        print(f"{pending + (bench.memory() - before) / ended:.0f} | | | | | | |", flush=True)


@contextmanager
def store(options: argparse.Namespace) -> Iterator[Server]:
    """One server, or a cluster of three nodes."""
    if options.cluster:
        with running_cluster() as cluster, redis.RedisCluster.from_url(cluster.url, decode_responses=True) as client:
            yield client
        return
    aof = ("--appendonly no",) if options.no_aof else ()
    with running_redis(*aof, binary=options.server) as url, redis.Redis.from_url(url, decode_responses=True) as server:
        server.ping()
        yield server


def row(size: int, what: str, batch: int, cost: Cost) -> None:
    """One line of the table."""
    print(
        f"| {size} | {what} | {batch} | {cost.per_second:.0f} | {cost.cpu_us:.1f} | {cost.commands:.1f} "
        f"| {cost.p999_ms:.1f} | {cost.longest_ms:.1f} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000,100000,1000000", help="numbers of URLs, comma separated")
    parser.add_argument("--hosts", type=int, default=10_000)
    parser.add_argument("--takes", type=int, default=6_000, help="takes of each phase")
    parser.add_argument("--no-aof", action="store_true", help="a server without its append-only file")
    parser.add_argument("--fill", action="store_true", help="write most tasks without scripts; one server, one shard")
    parser.add_argument("--shards", type=int, default=1, help="parts of the frontier")
    parser.add_argument("--cluster", action="store_true", help="three nodes instead of one server")
    parser.add_argument("--server", type=Path, help="the binary of a server in place of the embedded one")
    options = parser.parse_args()
    if options.takes < 3 * max(BATCHES):
        parser.error(f"--takes must be at least {3 * max(BATCHES)}: a third of them is taken in the largest batch")
    print(HEAD)
    for size in map(int, options.sizes.split(",")):
        report(size, options)


if __name__ == "__main__":
    main()
