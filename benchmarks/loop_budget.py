"""How long hostile answers delay a worker: the event loop's longest standstill, and the time from SIGTERM to the end.

    python benchmarks/loop_budget.py [--only punycode,members]

Each case is a site of the tests' own origin that answers a feed, one of its pages or robots.txt with the worst input of
a kind that is known, within the size limits. It is crawled twice, each time by a worker of its own. `stall` is the
longest time by which a tick of the loop (every 5 ms) came late; `own` the most processor time of the loop's thread
between two ticks, which is what of a stall the program has to answer for where other work shares the machine: the goal
is 0.25 s. `term` is how long the second worker took to end after a SIGTERM, sent once it had requested the input: at
most FEEDCRAWL_DRAIN_SEC (30 s). The case `plain` has nothing hostile in it. Exit status 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).resolve()
sys.path += [str(HERE.parent), str(HERE.parent.parent / "tests" / "site")]

import polls  # noqa: E402 - beside this file
from backports import zstd  # noqa: E402
from origin import Answer, document  # noqa: E402
from scrapy.crawler import CrawlerProcess  # noqa: E402
from world import World, entry, feed, good_page, world_in  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

GOAL_SEC, DRAIN_SEC = 0.25, 30.0
SEEN = "LOOP_BUDGET_SEEN"
MIB = 1 << 20
TEXT = good_page("text").body


def encoded(body: bytes, coding: str, content_type: str = "text/html") -> Answer:
    return Answer(body=body, headers=(("Content-Encoding", coding), ("Content-Type", content_type)))


def page(body: bytes, content_type: str = "text/html") -> Answer:
    return document(TEXT + body, content_type=content_type)


def rules(text: str) -> Answer:
    return document(f"User-agent: *\n{text}"[: 10 * MIB], content_type="text/plain")


LINK = ("Link", '<a>; rel="' * 1300)
ITEM = b"<item><title>t</title></item>"
COOKIE = ("Set-Cookie", "a=" + "b" * 900)
AGENTS = "".join(f"User-agent: {chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}\n" for n in range(15_000))
# Where a case is served, and what.
CASES: dict[str, tuple[str, Callable[[], Answer]]] = {
    "plain": ("/page", lambda: page(b"")),
    "punycode": ("/page", lambda: page(b"-" + b"a" * 900_000, "text/html; charset=punycode")),
    "idna": ("/page", lambda: page(b"-" + b"a" * 900_000, "text/html; charset=idna")),
    "bad utf-8": ("/page", lambda: page(b"\xff" * (4 * MIB), "text/html; charset=utf-8")),
    "undeclared": ("/page", lambda: page(b"\xe9a" * (2 * MIB))),
    "members": ("/page", lambda: encoded(gzip.compress(b"") * (4 * MIB // 20), "gzip")),
    "frames": ("/page", lambda: encoded(zstd.compress(b"") * (4 * MIB // 9), "zstd")),
    "members of a feed": ("/feed", lambda: encoded(gzip.compress(b"") * (9 * MIB // 20), "gzip", "text/xml")),
    "bomb": ("/page", lambda: encoded(gzip.compress(bytes(200 * MIB)), "gzip")),
    "bomb of a feed": ("/feed", lambda: encoded(gzip.compress(bytes(200 * MIB)), "gzip", "text/xml")),
    "wildcards": ("/robots.txt", lambda: rules("".join(f"Disallow: /*a*b{n}*c*d*e$\n" for n in range(20_000)))),
    "agents": ("/robots.txt", lambda: rules(AGENTS + "Disallow: /x\n" * 20_000)),
    "endless robots": ("/robots.txt", lambda: rules("# nothing\n" * MIB)),
    "long robots": ("/robots.txt", lambda: rules("Disallow: /a\xe9%41\n" * 25_000)),
    "scripts": ("/page", lambda: page(b" on" + b"a" * (4 * MIB))),
    "links": ("/feed", lambda: Answer(body=b"<rss/>", headers=(*[LINK] * 4, ("Content-Type", "text/xml")))),
    "cookies": ("/page", lambda: Answer(body=TEXT, headers=(*[COOKIE] * 60, ("Content-Type", "text/html")))),
    "location": ("/page", lambda: Answer(status=302, headers=(("Location", "/" + "%zz../" * 2500),))),
    "wide feed": ("/feed", lambda: document(b"<rss><channel>" + ITEM * 300_000, content_type="text/xml")),
    "brackets": ("/feed", lambda: document(b"[" * (9 * MIB), content_type="application/json")),
    "text list": ("/feed", lambda: document(b"http://a/\n" * 900_000, content_type="text/plain")),
}  # fmt: skip


class Watch(polls.Watch):
    """Counts from the start of the crawl: what holds the loop up before the first answer is handed on counts too."""

    def _opened(self) -> None:
        self._begun = time.perf_counter(), time.process_time(), 0.0
        super()._opened()


def crawl(url: str) -> None:
    """Crawls one feed in this process, and leaves what it cost the loop."""
    process = CrawlerProcess(polls.product_settings())
    crawler = process.create_crawler("feeds")
    watch = Watch(crawler, with_server=False)
    process.crawl(crawler, feeds=url)
    process.start()
    Path(os.environ[SEEN]).write_text(json.dumps([watch.seen.stall_sec, watch.seen.own_sec]), encoding="utf-8")


def serve(world: World, where: str, answer: Answer) -> str:
    """A site whose feed names one page, with `answer` in the place of one of its documents."""
    site = world.origin.site("site.test")
    site.serve("/page", good_page("page"))
    url = site.serve("/feed", feed([entry(site, "page", site.url("/page"), summary="")]))
    site.serve(where, answer)
    return url


def measured(where: str, answer: Answer) -> tuple[float, float, float]:
    """`stall`, `own` and `term` in seconds."""
    seen: list[float] = []
    for ends in (False, True):
        with tempfile.TemporaryDirectory() as folder, world_in(Path(folder)) as world:
            url = serve(world, where, answer)
            result = Path(folder) / "seen"
            process = world.start(command=(str(HERE),), words=("--crawl", url), **{SEEN: str(result)})
            if ends:
                world.until(lambda: world.origin.ledger.of("site.test", where), 60)
                time.sleep(0.3)
                process.terminate()
            began = time.monotonic()
            process.wait(120)
            seen += [time.monotonic() - began] if ends else json.loads(result.read_text(encoding="utf-8"))
    return seen[0], seen[1], seen[2]


def main() -> int:
    """Prints a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(CASES))
    parser.add_argument("--crawl", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.crawl:
        crawl(given.crawl)
        return 0
    missed = 0
    print("| case | stall, ms | own, ms | term, s |\n|---|---|---|---|")
    for name in given.only.split(","):
        where, answer = CASES[name]
        stall, own, term = measured(where, answer())
        missed += own > GOAL_SEC or term > DRAIN_SEC
        print(f"| {name} | {1000 * stall:.0f} | {1000 * own:.0f} | {term:.1f} |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
