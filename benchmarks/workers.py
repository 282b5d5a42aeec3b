"""What 1, 2 and 4 workers on one Redis do together: polls and articles per second, and what each costs them and Redis.

    python benchmarks/workers.py [--workers 1,2,4] [--size 1000] [--sites 250] [--entries 5]

The tests' own origin serves from a process of its own. For each number of workers a fresh data directory, and so a
server of its own: first all subscribe to the same feeds and fetch them and their articles (`articles`), then all poll
all feeds again, and get 304s (`polls`). Hosts have no delay. Counted from the first answer of the first worker to
the last of the last one. `workers` and `Redis` are the cores that they kept busy, and `machine` all cores that were
busy, the children that parse, the origin and other programs among them: where that nears their number the machine is
the limit, where `Redis` nears 1 the server is.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from polls import SITE, Polls, Watch, environment, fetch, product_settings
from scrapy import signals
from scrapy.crawler import CrawlerProcess

from feedcrawl.domain.frontier.tasks import LANES
from feedcrawl.spiders.feeds import FeedsSpider

if TYPE_CHECKING:
    from collections.abc import Sequence

LINGER_SEC = "3"


class Pages(FeedsSpider):
    """The product's spider."""

    lanes = LANES


def work(kind: str, directory: Path) -> dict[str, float]:
    """One worker in this process; what it did, and when by the wall clock."""
    process = CrawlerProcess(product_settings())
    crawler = process.create_crawler(Pages if kind == "articles" else Polls)
    watch, times = Watch(crawler, with_server=True), []
    crawler.signals.connect(lambda: times.append(time.time()), signals.response_received, weak=False)
    process.crawl(crawler, **({"feeds": str(directory / "feeds.txt")} if kind == "articles" else {"now": "1"}))
    process.start()
    assert crawler.stats is not None
    done = crawler.stats.get_value("feedcrawl/articles/stored", 0) if kind == "articles" else watch.seen.responses
    times = times or [0.0]
    return {
        "done": done,
        "cpu": watch.seen.cpu_sec,
        "first": times[0],
        "last": times[-1],
        "server": watch.seen.server_sec,
    }


def busy_sec() -> float:
    """Processor time of all programs since the machine started."""
    user, nice, system = map(int, Path("/proc/stat").read_text().split()[1:4])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def together(kind: str, workers: int, directory: Path) -> list[dict[str, float]]:
    """Workers at once, each a process."""
    env = environment("plain", directory) | {"FEEDCRAWL_LINGER_SEC": LINGER_SEC}
    command = [sys.executable, __file__, "--work", kind, "--directory", str(directory)]
    with (directory / "log").open("a", encoding="utf-8") as log:
        started = [
            subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=log, text=True) for _ in range(workers)
        ]
        outputs = [each.communicate()[0] for each in started]
    if any(each.returncode for each in started):
        sys.exit((directory / "log").read_text(encoding="utf-8")[-4000:])
    return [json.loads(text.splitlines()[-1]) for text in outputs]


def row(kind: str, seen: Sequence[dict[str, float]], busy: float) -> None:
    """One line of the table; `busy` are the machine's busy cores, while processes start and end too."""
    done, own = sum(each["done"] for each in seen), sum(each["cpu"] for each in seen)
    server = max(each["server"] for each in seen)
    wall = max(each["last"] for each in seen) - min(each["first"] for each in seen if each["first"])
    figures = (1000 * own / done, 1000 * server / done, own / wall, server / wall, busy)
    cells = " | ".join(f"{figure:.2f}" for figure in figures)
    print(f"| {len(seen)} | {kind} | {done:.0f} | {done / wall:.0f} | {cells} |", flush=True)


def measure(workers: int, feeds: str) -> None:
    """Both rows of a number of workers."""
    with tempfile.TemporaryDirectory(prefix="fc-bench-") as name:
        directory = Path(name)
        fetch(feeds, directory / "feeds.txt")
        for kind in ("articles", "polls"):
            begun, busy = time.perf_counter(), busy_sec()
            seen = together(kind, workers, directory)
            row(kind, seen, (busy_sec() - busy) / (time.perf_counter() - begun))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", default="1,2,4", help="numbers of workers, comma separated")
    parser.add_argument("--size", type=int, default=1000, help="feeds of the origin")
    parser.add_argument("--sites", type=int, default=250, help="its hosts")
    parser.add_argument("--entries", type=int, default=5, help="articles of each feed")
    parser.add_argument("--work", choices=["articles", "polls"], help=argparse.SUPPRESS)
    parser.add_argument("--directory", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        print(json.dumps(work(options.work, options.directory)))
        return
    print("| workers | what | done | per second | own CPU, ms | Redis', ms | workers | Redis | machine |")
    print("|--:|---|--:|--:|--:|--:|--:|--:|--:|")
    command = [sys.executable, str(SITE / "serve.py"), "--hosts", str(options.sites), "--feeds", str(options.size)]
    command += ["--entries", str(options.entries)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as origin:
        assert origin.stdout is not None
        feeds = origin.stdout.readline().strip()
        for workers in map(int, options.workers.split(",")):
            measure(workers, feeds)
        origin.communicate()


if __name__ == "__main__":
    main()
