"""The price of FEEDCRAWL_REDIS_FSYNC=always: tasks taken and ended in a second, with each answer on the disk or not.

    python benchmarks/fsync.py [seconds] [directory]

For each policy a fresh server, whose files are in `directory` (default: the temporary one), takes and ends
tasks of many hosts for `seconds` (3), so many at a time. Both alternate, three rounds; the
medians are printed. Wall time: fsync(2) is a wait, and no work of the processor.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import redis

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "site"))

from redis_process import running_redis

from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.store.frontier.interface import Ending
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy

POLICIES = ("everysec", "always")
BATCHES = (1, 16)
ROUNDS = 3


def rate(policy: str, batch: int, seconds: float) -> float:
    """Tasks a second."""
    with running_redis(f"--appendfsync {policy}") as url, redis.Redis.from_url(url, decode_responses=True) as client:
        frontier = Shard(client, FrontierPolicy(host_delay_sec=0.0))
        frontier.enqueue(Task(f"t{n}", "article", f"http://h{n}.test/", f"h{n}.test") for n in range(20_000))
        began, ended = time.monotonic(), 0
        while time.monotonic() < began + seconds:
            leases = frontier.take(batch).leases
            frontier.end([Ending(lease, signal="ok") for lease in leases])
            ended += len(leases)
        return ended / (time.monotonic() - began)


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
    if len(sys.argv) > 2:
        tempfile.tempdir = sys.argv[2]
    print(f"{'at a time':>10} {'everysec /s':>12} {'always /s':>12} {'ratio':>6}")
    for batch in BATCHES:
        found: dict[str, list[float]] = {policy: [] for policy in POLICIES}
        for _ in range(ROUNDS):
            for policy in POLICIES:
                found[policy].append(rate(policy, batch, seconds))
        first, second = (statistics.median(found[policy]) for policy in POLICIES)
        print(f"{batch:10} {first:12.0f} {second:12.0f} {second / first:6.2f}")


if __name__ == "__main__":
    main()
