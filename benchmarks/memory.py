"""Memory of one worker over many polls, raw capture on, and the longest time that its event loop stood still.

    python benchmarks/memory.py [--requests 100000] [--marks 10] [--size 2000] [--sites 500] [--feeds URL [--hosts URL]]

The feeds of `polls.py` after their first poll are made due again and again, in one process, until so many requests
are answered (304). `RSS` is that process's resident memory at each mark; what its server and the origin take stands
apart, and parsers have nothing to do. `growth` is against the first mark, when everything has been loaded. `stall` and
`own` are the longest of that stretch, as `polls.py` explains them; `files` are its open file descriptors. Goals: all
flat, and at most 150 MB.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polls
from scrapy import signals
from scrapy.crawler import CrawlerProcess
from scrapy.utils.asyncio import sleep

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response

LOOK_SEC = 0.1
GOAL_MB = 150


class Rounds(polls.Polls):
    """Makes all feeds due again as soon as all have been polled."""

    wanted = 0

    async def start(self) -> AsyncIterator[Any]:
        """Rounds, until `wanted` polls were made. Each counts as a run of its own: a run polls no feed twice."""
        requested = 0
        while requested < self.wanted:
            self._began = None
            async for each in super().start():
                yield each
            requested += self.wired.registry.count()
            while self._polled() < requested or self.leases.leased:
                await sleep(LOOK_SEC)

    def _polled(self) -> int:
        assert self.crawler.stats is not None
        counts = self.crawler.stats.get_stats()
        return sum(count for name, count in counts.items() if name.startswith("feedcrawl/polls/"))


class Marks:
    """Prints a row whenever so many more requests are answered."""

    def __init__(self, crawler: Crawler, every: int) -> None:
        self._watch = polls.Watch(crawler, with_server=False)
        self._every = every
        self._first_mb: float | None = None
        self._begun = time.perf_counter()
        crawler.signals.connect(self._received, signals.response_received)

    def _received(self, response: Response) -> None:  # noqa: ARG002 - the signal's argument
        seen = self._watch.seen
        if seen.responses and seen.responses % self._every == 0:
            rss = resident_mb()
            self._first_mb = self._first_mb or rss
            figures = (rss, rss - self._first_mb, 1000 * seen.stall_sec, 1000 * seen.own_sec)
            seconds = time.perf_counter() - self._begun
            row = (f"{seconds:.0f}", *(f"{each:.1f}" for each in figures), str(open_files()))
            print(f"| {seen.responses} | {' | '.join(row)} |", flush=True)
            seen.stall_sec = seen.own_sec = 0.0

    def print_end(self) -> None:
        """The last line."""
        print(f"{self._watch.seen.responses} requests; {resident_mb():.0f} MB at the end, goal {GOAL_MB} MB")


def resident_mb() -> float:
    """This process's resident memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def open_files() -> int:
    """This process's open file descriptors."""
    return len(list(Path("/proc/self/fd").iterdir()))


def crawl(requests: int, marks: int) -> None:
    """The rounds, in this process."""
    process = CrawlerProcess(polls.product_settings())
    crawler = process.create_crawler(Rounds)
    watching = Marks(crawler, requests // marks)
    process.crawl(crawler, now="1", wanted=requests)
    process.start()
    watching.print_end()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    polls.add_origin_options(parser)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--marks", type=int, default=10)
    parser.add_argument("--crawl", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.crawl:
        crawl(options.requests, options.marks)
        return
    with polls.prepared(options) as (directory, _):
        print("| requests | s | RSS, MB | growth, MB | stall, ms | own, ms | files |")
        print("|--:|--:|--:|--:|--:|--:|--:|", flush=True)
        command = ("--crawl", "--requests", str(options.requests), "--marks", str(options.marks))
        polls.start(Path(__file__), command, polls.environment("raw", directory), directory / "memory.log")


if __name__ == "__main__":
    main()
