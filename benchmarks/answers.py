"""Cost of one answer of a parsing child: processor time of the worker and of its children, by size of the answer.

    python benchmarks/answers.py [tasks]

Each document is parsed `tasks` times (100) in one child, one after the other. `worker` is the processor time of this
process for each task, `loop` the longest time that its event loop stood still.
"""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING, Any

from feedcrawl.domain.entries.reading import read_feed
from feedcrawl.domain.extraction.reading import read_article
from feedcrawl.parsing import Done, ParserPool

if TYPE_CHECKING:
    from collections.abc import Callable

ITEM = (
    "<item><title>Number {0}</title><link>http://site.test/{0}</link><guid>id-{0}</guid>"
    "<pubDate>Mon, 06 Jul 2026 10:00:00 GMT</pubDate><description>{1}</description></item>"
)
PROSE = "The council met again on Monday and agreed on nothing that it had not agreed on before, reporters said. "


def feed(entries: int, sentences: int) -> bytes:
    items = "".join(ITEM.format(number, PROSE * sentences) for number in range(entries))
    return f"<rss version='2.0'><channel><title>News</title>{items}</channel></rss>".encode()


def page(paragraphs: int) -> bytes:
    body = "".join(f"<p>{number}. {PROSE * 4}</p>" for number in range(paragraphs))
    return f"<html><head><title>News</title></head><body><article><h1>News</h1>{body}</article></body></html>".encode()


DOCUMENTS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = {
    "none: len() of 1 KB": (len, (b"x" * 1000,), {}),
    "feed of 30 entries": (read_feed, (feed(30, 3),), {"url": "http://s.test/f", "content_type": None, "feed_id": "f"}),
    "feed of 2 000 entries": (
        read_feed,
        (feed(2000, 10),),
        {"url": "http://s.test/f", "content_type": None, "feed_id": "f"},
    ),
    "page of 20 paragraphs": (read_article, (page(20), "text/html"), {"min_chars": 10, "url": "http://s.test/p"}),
}


async def measure(tasks: int) -> None:
    pool = ParserPool(1)
    await pool.run(len, b"")
    print(f"{'document':24} {'worker ms':>10} {'child ms':>10} {'loop ms':>8}")
    for name, (function, given, named) in DOCUMENTS.items():
        stalls = [0.0]
        watch = asyncio.create_task(_watch(stalls))
        times = tasks if len(given[0]) < 1 << 20 else max(1, tasks // 20)
        began, seconds = time.process_time(), 0.0
        for _ in range(times):
            outcome = await pool.run(function, *given, **named)
            assert isinstance(outcome, Done), outcome
            seconds += outcome.seconds
        spent = time.process_time() - began
        watch.cancel()
        print(f"{name:24} {spent / times * 1e3:10.2f} {seconds / times * 1e3:10.2f} {max(stalls) * 1e3:8.1f}")
    await pool.close()


async def _watch(stalls: list[float]) -> None:
    while True:
        began = time.monotonic()
        await asyncio.sleep(0.002)
        stalls.append(time.monotonic() - began - 0.002)


if __name__ == "__main__":
    asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 100))
