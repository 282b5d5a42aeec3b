"""What raw capture costs: milliseconds per exchange, and the longest time that it keeps the event loop from running.

    python benchmarks/raw_capture.py [--count 300]

Each line is one kind of exchange: written at once in this thread (`inline`), written as the middleware does it with 16
under way (`async`: wall time per exchange), and the longest stall of the event loop meanwhile, of which the stall of an
idle loop beside it is the machine's own. Goals: 0.5 ms for a 304 pair; no stall over 50 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import random
import tempfile
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING
from uuid import UUID

from feedcrawl.domain.archive.warc import Exchange
from feedcrawl.store.disk.raw import RawStore

if TYPE_CHECKING:
    from collections.abc import Iterator

REQUEST = (
    (b"User-Agent", b"feedcrawl/1.0 (+https://example.org/bot)"),
    (b"Accept", b"application/rss+xml, application/atom+xml;q=0.9, */*;q=0.1"),
    (b"Accept-Encoding", b"gzip, br, zstd"),
    (b"If-None-Match", b'"5f2b-61a0c7e3"'),
    (b"If-Modified-Since", b"Fri, 27 Nov 2026 20:06:16 GMT"),
)
RESPONSE = (
    (b"Server", b"nginx"),
    (b"Date", b"Fri, 27 Nov 2026 23:06:16 GMT"),
    (b"Etag", b'"5f2b-61a0c7e3"'),
    (b"Cache-Control", b"max-age=300"),
    (b"Vary", b"Accept-Encoding"),
)
TICK_SEC = 0.001
UNDER_WAY = 16


def page(size: int) -> bytes:
    """Markup with a vocabulary of 3 000 words: it compresses to about 40 %, as news pages do or worse."""
    chance = random.Random(1)
    words = ["".join(chance.choices("etaoinshrdlucmfwyp", k=chance.randint(2, 9))) for _ in range(3000)]
    text = "".join(f"<p>{' '.join(chance.choices(words, k=40))}</p>\n" for _ in range(size // 150))
    return text.encode()[:size]


def exchanges(count: int, body: bytes, *, encoded: bool) -> Iterator[Exchange]:
    chance = random.Random(2)
    headers = (*RESPONSE, (b"Content-Encoding", b"gzip")) if encoded else RESPONSE
    for _ in range(count):
        yield Exchange(
            fetch_id=str(UUID(int=chance.getrandbits(128))),
            url="https://www.example.org/news/feed.xml",
            fetched_at=datetime.now(UTC),
            status=200 if body else 304,
            request_headers=REQUEST,
            response_headers=headers,
            body=body,
            feed_id="1b4e28ba-2fa1-4d2a-883f-0016d3cca427",
            ip="127.0.0.1",
        )


def inline_ms(store: RawStore, given: list[Exchange]) -> float:
    """Median milliseconds of one append."""
    taken = []
    for exchange in given:
        start = time.perf_counter()
        store.append(exchange)
        taken.append(time.perf_counter() - start)
    return 1000 * median(taken)


async def watch(longest: list[float]) -> None:
    """Note the longest time by which a tick came late."""
    while True:
        start = time.perf_counter()
        await asyncio.sleep(TICK_SEC)
        longest[0] = max(longest[0], time.perf_counter() - start - TICK_SEC)


async def concurrent_ms(store: RawStore, given: list[Exchange]) -> tuple[float, float]:
    """Wall milliseconds of an exchange with others under way, and the longest stall in milliseconds."""
    queue, longest = iter(given), [0.0]

    async def work() -> None:
        for exchange in queue:
            written = store.append_async(exchange)
            if not written.done():
                await asyncio.wrap_future(written)
            await asyncio.sleep(0)  # the next response comes with the next turn of the loop

    watcher = asyncio.create_task(watch(longest))
    await asyncio.sleep(0.05)
    longest[0], start = 0.0, time.perf_counter()
    await asyncio.gather(*(work() for _ in range(UNDER_WAY)))
    taken = time.perf_counter() - start
    watcher.cancel()
    return 1000 * taken / len(given), 1000 * longest[0]


async def idle_ms() -> float:
    longest = [0.0]
    watcher = asyncio.create_task(watch(longest))
    await asyncio.sleep(0.5)
    watcher.cancel()
    return 1000 * longest[0]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--count", type=int, default=300, help="exchanges of each kind")
    count = arguments.parse_args().count
    kinds = (
        ("304 pair", b"", False),
        ("40 KB page, gzipped", gzip.compress(page(40_000)), True),
        ("40 KB page", page(40_000), False),
        ("160 KB page, gzipped", gzip.compress(page(160_000)), True),
        ("160 KB page", page(160_000), False),
    )
    print(f"idle loop: longest stall {asyncio.run(idle_ms()):.1f} ms")
    print(f"{'':24}{'inline ms':>10}{'async ms':>10}{'stall ms':>10}{'bytes on disk':>15}")
    for name, body, encoded in kinds:
        given = list(exchanges(count, body, encoded=encoded))
        with (
            tempfile.TemporaryDirectory() as folder,
            closing(RawStore(Path(folder) / "raw", software="bench")) as store,
        ):
            inline = inline_ms(store, given)
            wall, stall = asyncio.run(concurrent_ms(store, given))
            size = sum(path.stat().st_size for path in Path(folder).rglob("*.warc.gz")) // (2 * count)
        print(f"{name:24}{inline:>10.2f}{wall:>10.2f}{stall:>10.1f}{size:>15}")


if __name__ == "__main__":
    main()
