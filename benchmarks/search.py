"""The embedded search index beside a plain FTS5 table on the same articles: time of a search, size, cost of an article.

    python benchmarks/search.py [articles] [searches] [directory] [index|plain]

Articles of some 1.5 kB are made of words as frequent as those of a language (Zipf): by default 100,000 of them, 400
searches, both tables. A search has one to three words of an article, common ones included; one in ten is a phrase, one
in ten has a category, one in ten a time. Searches come one after the other while another process stores 200 articles a
second (as the consumer of the stream does). Times are wall time of a search as a caller waits, and processor time of
its thread beside; the load of the machine is printed, since others may run on it.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from feedcrawl.domain.search.documents import Filters, document_of
from feedcrawl.domain.search.query import expression, read
from feedcrawl.services.search.searching import Search
from feedcrawl.store.search.interface import Changes
from feedcrawl.store.search.sqlite import IndexFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Store = Callable[[list[dict[str, Any]]], None]

VOCABULARY = 200_000
WORDS = 260
STREAM = 4_000_000
BATCH = 500
RATE = 200
START = 1_700_000_000
EVERY_SEC = 5
CATEGORIES = 20


class Texts:
    """Articles by number, always the same."""

    def __init__(self) -> None:
        random_ = random.Random(1)
        parts = [a + b for a in "bcdfghjklmnprstvz" for b in ("a", "e", "i", "o", "u", "ar", "en", "is", "on", "ul")]
        sizes = (1, 2, 2, 3, 3, 4)
        made = ("".join(random_.choices(parts, k=random_.choice(sizes))) for _ in itertools.count())
        words = list(itertools.islice(dict.fromkeys(itertools.islice(made, VOCABULARY * 3)), VOCABULARY))
        self.words = sorted(words, key=lambda word: len(word) + random_.random() * 8)
        self.weights = list(itertools.accumulate(1 / (rank + 2.7) ** 1.07 for rank in range(len(self.words))))

        self._stream = random_.choices(self.words, cum_weights=self.weights, k=STREAM)

    def text(self, number: int) -> str:
        """The text of an article: a part of one long random text, since drawing each word anew takes too long."""
        random_ = random.Random(number)
        count = max(20, round(random_.lognormvariate(0, 0.4) * WORDS))
        first = random_.randrange(STREAM - count)
        return " ".join(self._stream[first : first + count])

    def article(self, number: int) -> dict[str, Any]:
        """The record of an article."""
        text, url = self.text(number), f"https://paper{number % 300}.test/2026/{number}"
        categories = [f"category {number % CATEGORIES}"]
        return {
            "uid": random.Random(-number - 1).randbytes(8).hex(),
            "url": url,
            "canonical_url": url,
            "title": " ".join(text.split()[5:13]),
            "clean_text": text,
            "text_len": len(text),
            "abstract": text[:200],
            "authors": [f"Author {number % 1000}"],
            "categories": categories,
            "category": categories[0],
            "language": "en",
            "fetched_ts": float(START + number * EVERY_SEC),
            "fetched_at": "2026-11-28T12:00:00Z",
            "content_hash": random.Random(number).randbytes(32).hex(),
            "extractor": "prose",
        }


class Plain:
    """FTS5 with its defaults: the texts in the table, every match ranked."""

    def __init__(self, path: Path) -> None:
        self._table = sqlite3.connect(path, isolation_level=None)
        self._table.executescript(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA busy_timeout=60000;"
            "CREATE VIRTUAL TABLE IF NOT EXISTS plain USING fts5(title, text, categories, uid UNINDEXED, at UNINDEXED)"
        )

    def store(self, articles: list[dict[str, Any]]) -> None:
        """Store articles in one transaction."""
        rows = [(a["title"], a["clean_text"], a["category"], a["uid"], a["fetched_ts"]) for a in articles]
        self._table.execute("BEGIN IMMEDIATE")
        self._table.executemany("INSERT INTO plain VALUES (?, ?, ?, ?, ?)", rows)
        self._table.execute("COMMIT")

    def search(self, text: str, filters: Filters) -> int:
        """The number of matches shown."""
        wanted = expression(read(text)).replace("{title text people}", "{title text}")
        limits, values = "", list[str | float]([wanted])
        if filters.category:
            limits, values = " AND categories = ?", [*values, filters.category]
        if filters.since:
            limits, values = " AND at >= ?", [*values, filters.since]
        found = self._table.execute(
            "SELECT uid, snippet(plain, 1, '<mark>', '</mark>', '…', 30) FROM plain"
            f" WHERE plain MATCH ?{limits} ORDER BY rank LIMIT 20",
            values,
        )
        return len(found.fetchall())


def searches(texts: Texts, articles: int, count: int) -> Iterator[tuple[str, Filters]]:
    """Searches, always the same."""
    random_ = random.Random(7)
    for number in range(count):
        words = texts.text(random_.randrange(articles)).split()
        at = random_.randrange(len(words) - 3)
        chosen = random_.sample(words, random_.choice((1, 1, 2, 2, 3)))
        text = f'"{words[at]} {words[at + 1]}"' if number % 10 == 0 else " ".join(chosen)
        category = f"category {random_.randrange(CATEGORIES)}" if number % 10 == 1 else None
        since = float(START + articles * EVERY_SEC * 0.9) if number % 10 == 2 else None
        yield text, Filters(since=since, category=category)


def fill(texts: Texts, articles: int, stores: dict[str, Store]) -> tuple[int, dict[str, float]]:
    """Store the articles in each table; the bytes of all texts, and microseconds of processor time for an article."""
    size, used = 0, dict.fromkeys(stores, 0.0)
    for first in range(0, articles, BATCH):
        made = [texts.article(number) for number in range(first, min(first + BATCH, articles))]
        size += sum(each["text_len"] for each in made)
        for name, store in stores.items():
            began = time.process_time()
            store(made)
            used[name] += time.process_time() - began
    return size, {name: seconds / articles * 1e6 for name, seconds in used.items()}


def store_in(index: IndexFile) -> Store:
    """What stores articles in the index."""
    return lambda made: index.apply(Changes([document_of(each, source=None, categories=[]) for each in made]), {})  # type: ignore[arg-type]


def feed(folder: Path, first: int, which: str, lag: Any) -> None:
    """Store `RATE` articles a second until killed; `lag` is how far behind the rate this is, in seconds."""
    texts, plain, index = Texts(), Plain(folder / "plain.sqlite"), IndexFile(folder / "index.sqlite")
    store = store_in(index) if which == "index" else plain.store
    began, number = time.monotonic(), first
    while True:
        time.sleep(max(0.0, 0.5 - (time.monotonic() - began) % 0.5))
        due = first + int((time.monotonic() - began) * RATE)
        if due > number:
            store([texts.article(each) for each in range(number, due)])
            number = due
        lag.value = time.monotonic() - began - (number - first) / RATE


def measured(name: str, search: Callable[[str, Filters], object], requested: list[tuple[str, Filters]]) -> None:
    """Print the times of the searches."""
    times: dict[str, list[float]] = {"wall": [], "processor": []}
    for text, filters in requested:
        began, before = time.perf_counter(), time.thread_time()
        search(text, filters)
        times["wall"].append((time.perf_counter() - began) * 1000)
        times["processor"].append((time.thread_time() - before) * 1000)
    for kind, found in times.items():
        cuts = statistics.quantiles(found, n=100)
        figures = f"median {cuts[49]:7.1f}  p95 {cuts[94]:7.1f}  p99 {cuts[98]:7.1f}  max {max(found):7.1f} ms"
        print(f"{name:>6} {kind:>9}: {figures}", flush=True)


def size(folder: Path, name: str) -> int:
    """The bytes of a table on disk."""
    return sum(each.stat().st_size for each in folder.glob(f"{name}.sqlite*"))


def main() -> None:
    """Read the arguments."""
    articles, count = (int(sys.argv[at]) if len(sys.argv) > at else default for at, default in ((1, 100_000), (2, 400)))
    with tempfile.TemporaryDirectory(dir=sys.argv[3] if len(sys.argv) > 3 else None) as name:
        folder = Path(name)
        run(folder, articles, count, sys.argv[4:5] or ["index", "plain"])


def run(folder: Path, articles: int, count: int, tables: list[str]) -> None:
    """Fill both tables, then search each while articles are stored in it."""
    texts, index, plain = Texts(), IndexFile(folder / "index.sqlite"), Plain(folder / "plain.sqlite")
    index.create()
    stores = {name: store for name, store in (("index", store_in(index)), ("plain", plain.store)) if name in tables}
    total, costs = fill(texts, articles, stores)
    print(f"{articles} articles of {total / articles:.0f} bytes of text, SQLite {sqlite3.sqlite_version}, {load()}")
    for name, cost in costs.items():
        on_disk = size(folder, name) / total
        print(f"{name:>6}: {cost:.0f} µs of processor time an article, {on_disk:.2f} x the text on disk", flush=True)
    requested = list(searches(texts, articles, count))
    search = Search(index)  # type: ignore[arg-type]  # one file of the index
    for name in tables:
        find = search.find if name == "index" else plain.search
        spawn = multiprocessing.get_context("spawn")
        lag = spawn.Value("d", 0.0)
        writer = spawn.Process(target=feed, args=(folder, articles, name, lag))
        writer.start()
        while not lag.value:  # it is storing
            time.sleep(0.1)
        measured(name, find, requested)
        print(
            f"{name:>6}    writer: {RATE} articles a second, {lag.value:.1f} s behind at the end; {load()}", flush=True
        )
        writer.kill()
        writer.join()


def load() -> str:
    """The load of the machine, whoever causes it."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"


if __name__ == "__main__":
    main()
