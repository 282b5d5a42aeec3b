"""Articles per second, end to end: `crawl feeds` beside news-please's own crawler on the same pages.

    python benchmarks/articles.py [--runs 3] [--pages 600 | --page-files DIR] [--news-please PYTHON]

One loopback server sends the same pages to both, without any delay; both have sixteen requests open on it. feedcrawl
finds them by a feed and does all that it does: raw capture, extraction by its ladder, claims, canonical HTML, NDJSON,
Redis, events. news-please is given the list of URLs, and runs its Download crawler with the extractors and stores of
its default configuration; `--news-please` names the Python of a virtual environment with it and readability-lxml 0.8.1
(news-please 1.6 gives it bytes, which later versions refuse, and then stores nothing). Each run is a fresh process with
empty data. Time runs from the first page requested to the end of the process; `cores` is processor time by that time,
all descendants and the server included, start and all; this program left out. Pages are made here, or taken from
`--page-files`.

With `--watch SEC` one run of feedcrawl alone prints its resident memory and that of its children, every so many
seconds.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "tests" / "site"))

from scrapy_process import clean_environment  # noqa: E402

ENTRIES = 100
LOOK_SEC = 0.2
OPEN = 16
WORDS = [
    *("council", "river", "winter", "market", "report", "history", "engine", "garden", "letter", "season", "village"),
    *("harbour", "museum", "reader", "morning", "bridge", "station", "teacher", "writer", "forest", "silver", "paper"),
]
CONFIG = {
    "ROBOTSTXT_OBEY": "True",
    "CONCURRENT_REQUESTS": str(OPEN),
    "CONCURRENT_REQUESTS_PER_DOMAIN": str(OPEN),
    "LOG_LEVEL": "WARNING",
}


@dataclass
class Site:
    """The pages of the server, and the time at which a page was first requested."""

    pages: list[bytes]
    first: float | None = None
    requests: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def forget(self) -> None:
        """The next request for a page counts as the first."""
        self.first, self.requests = None, 0

    def answer(self, path: str, base: str) -> tuple[int, str, bytes]:
        """Status, type and body of a path."""
        kind, _, number = path.strip("/").partition("/")
        if kind == "feed":
            return 200, "application/rss+xml", feed(int(number), len(self.pages), base)
        if kind == "page":
            with self.lock:
                self.first = self.first or time.perf_counter()
                self.requests += 1
            return 200, "text/html; charset=utf-8", self.pages[int(number)]
        return 404, "text/plain", b""


@dataclass(frozen=True)
class Ran:
    """One run: articles stored, seconds from the first page on, processor seconds."""

    stored: int
    wall_sec: float
    cpu_sec: float

    @property
    def per_sec(self) -> float:
        """Articles per second."""
        return self.stored / self.wall_sec


def sentence(chance: random.Random) -> str:
    """A sentence of words."""
    return " ".join(chance.choice(WORDS) for _ in range(chance.randint(8, 22))).capitalize() + "."


def page(number: int) -> bytes:
    """An article page as sites make them: menus, scripts and teasers around some twenty paragraphs, 40 to 90 KB."""
    chance = random.Random(number)
    title = f"{sentence(chance)[:60]} {number}"
    body = "".join(f"<p>{' '.join(sentence(chance) for _ in range(5))}</p>" for _ in range(chance.randint(12, 30)))
    menu = "".join(f'<li class="nav-item"><a href="/section/{each}">{each}</a></li>' for each in WORDS) * 4
    cards = "".join(
        f'<div class="card"><a href="/other/{each}"><img src="/img/{each}.jpg" alt=""><h3>{sentence(chance)}</h3></a>'
        f"<p>{sentence(chance)}</p></div>"
        for each in range(60)
    )
    script = f"<script>window.state={json.dumps({'items': [sentence(chance) for _ in range(120)]})}</script>"
    day = f"2026-0{1 + number % 9}-1{number % 10}T08:00:00Z"
    meta = f'<meta property="og:title" content="{title}"><meta property="article:published_time" content="{day}">'
    return (
        f'<!doctype html><html lang="en"><head><title>{title} - The Paper</title>{meta}{script}</head><body>'
        f"<header><ul>{menu}</ul></header><main><article><h1>{title}</h1><p class='byline'>By Ann Writer</p>{body}"
        f"</article></main><aside>{cards}</aside><footer><ul>{menu}</ul></footer></body></html>"
    ).encode()


def feed(number: int, pages: int, base: str) -> bytes:
    """An RSS document that names a hundred pages."""
    first = number * ENTRIES
    items = "".join(
        f"<item><title>{each}</title><link>{base}/page/{each}</link><guid>{base}/page/{each}</guid></item>"
        for each in range(first, min(first + ENTRIES, pages))
    )
    return f'<rss version="2.0"><channel><title>{number}</title><link>{base}/</link>{items}</channel></rss>'.encode()


def serve(site: Site) -> ThreadingHTTPServer:
    """The server, running in a thread of its own."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet

        def do_GET(self) -> None:
            status, kind, body = site.answer(self.path, f"http://127.0.0.1:{self.connection.getsockname()[1]}")
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def lines(paths: Iterable[Path]) -> int:
    """How many lines the files have together."""
    return sum(len(path.read_bytes().splitlines()) for path in paths)


def with_feedcrawl(site: Site, base: str, directory: Path, watch_sec: float = 0) -> Ran:
    """The main job over feeds that name the pages."""
    feeds = directory / "feeds.txt"
    feeds.write_text("".join(f"{base}/feed/{n}\n" for n in range(-(-len(site.pages) // ENTRIES))), encoding="utf-8")
    own = {
        "SCRAPY_SETTINGS_MODULE": "feedcrawl.settings",
        "FEEDCRAWL_DATA_DIR": str(directory / "data"),
        "FEEDCRAWL_ALLOW_NETWORKS": "127.0.0.0/8",
        "FEEDCRAWL_HOST_DELAY_SEC": "0",
        "FEEDCRAWL_HOST_CONCURRENCY": str(OPEN),
        "FEEDCRAWL_LINGER_SEC": "0.1",
        "FEEDCRAWL_RENDER": "never",
        "FEEDCRAWL_LOG_LEVEL": "WARNING",
    }
    command = [sys.executable, "-m", "scrapy", "crawl", "feeds", "-a", f"feeds={feeds}"]
    took = timed(command, own, site, directory, watch_sec)
    return ran("feedcrawl", lines((directory / "data" / "articles").glob("*.ndjson")), took, directory)


def with_news_please(python: str, site: Site, base: str, directory: Path) -> Ran:
    """Its Download crawler over the list of pages, with its defaults where CONFIG sets nothing."""
    where = 'import newsplease, pathlib; print(pathlib.Path(newsplease.__file__).parent / "config" / "config.cfg")'
    found = subprocess.run([python, "-c", where], capture_output=True, text=True, check=True, cwd=directory)
    settings = directory / "config"
    settings.mkdir()
    own = {**CONFIG, "working_path": f"{directory}/"}
    with (settings / "config.cfg").open("w", encoding="utf-8") as config:
        for line in Path(found.stdout.strip()).read_text(encoding="utf-8").splitlines():
            name = line.partition("=")[0].strip()
            print(f"{name} = {own[name]}" if name in own else line, file=config)
    urls = [f"{base}/page/{number}" for number in range(len(site.pages))]
    sites = {"base_urls": [{"url": urls, "crawler": "Download"}]}
    (settings / "sitelist.hjson").write_text(json.dumps(sites), encoding="utf-8")
    took = timed([python, "-m", "newsplease", "-c", str(settings)], {}, site, directory)
    return ran("news-please", sum(1 for _ in directory.rglob("*.html.json")), took, directory)


def timed(
    command: Sequence[str], own: Mapping[str, str], site: Site, directory: Path, watch_sec: float = 0
) -> tuple[float, float]:
    """Seconds from the first page to the end of a process, and processor seconds of it and its descendants."""
    site.forget()
    log, used, printed = directory / "log", dict[int, float](), time.perf_counter()
    with log.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(
            command,
            env=clean_environment() | dict(own),
            cwd=REPOSITORY,
            stdout=out,
            stderr=out,
            stdin=subprocess.DEVNULL,
        )
        while process.poll() is None:
            time.sleep(LOOK_SEC)
            seen = family(process.pid)
            used |= {pid: seconds for pid, seconds, _ in seen}
            if watch_sec and seen and time.perf_counter() - printed >= watch_sec:
                printed = time.perf_counter()
                sizes = [f"{mb:.0f}" for _, _, mb in seen]
                print(f"| {site.requests} | {sizes[0]} | {' + '.join(sizes[1:])} |", flush=True)
    if site.first is None or process.returncode:
        sys.exit(f"{command}: status {process.returncode}\n{log.read_text(encoding='utf-8')[-4000:]}")
    return time.perf_counter() - site.first, sum(used.values())


def ran(name: str, stored: int, took: tuple[float, float], directory: Path) -> Ran:
    """A run that stored something; the end of the log if nothing was stored."""
    if not stored:
        sys.exit(f"{name} stored none of the pages\n{(directory / 'log').read_text(encoding='utf-8')[-4000:]}")
    return Ran(stored, *took)


def family(pid: int) -> list[tuple[int, float, float]]:
    """Process id, processor seconds and resident megabytes of a process, then of its descendants, as far as there."""
    columns = ["ps", "-A", "-o", "pid=,ppid=,time=,rss="]
    listed = subprocess.run(columns, capture_output=True, text=True, check=True).stdout
    rows = {int(row.split()[0]): row.split()[1:] for row in listed.splitlines()}
    found = [pid] if pid in rows else []
    for each in found:
        found += [child for child, (parent, *_) in rows.items() if int(parent) == each]
    return [(each, seconds(rows[each][1]), int(rows[each][2]) / 1024) for each in found]


def seconds(text: str) -> float:
    """Of ps(1): `[days-][hours:]minutes:seconds[.fraction]`."""
    days, _, clock = text.rpartition("-")
    total = 86400.0 * int(days or 0)
    for power, part in enumerate(reversed(clock.split(":"))):
        total += float(part) * 60**power
    return total


def row(name: str, runs: Sequence[Ran], others: Sequence[Ran]) -> None:
    """One line of the table; the ratio is the median of those of neighbouring runs."""
    rate, cores = (statistics.median(f) for f in zip(*((r.per_sec, r.cpu_sec / r.wall_sec) for r in runs), strict=True))
    ratio = statistics.median(one.per_sec / other.per_sec for one, other in zip(runs, others, strict=True))
    cost = statistics.median(1000 * each.cpu_sec / each.stored for each in runs)
    print(f"| {name} | {runs[-1].stored} | {rate:.1f} | {ratio:.2f} | {cost:.0f} | {cores:.2f} |", flush=True)


def compare(options: argparse.Namespace, site: Site, base: str) -> None:
    """Runs in changing order, then their medians."""
    kinds: dict[str, Callable[[Path], Ran]] = {"feedcrawl": lambda directory: with_feedcrawl(site, base, directory)}
    if options.news_please:
        kinds["news-please"] = lambda directory: with_news_please(options.news_please, site, base, directory)
    runs: dict[str, list[Ran]] = {kind: [] for kind in kinds}
    print("| | stored | articles/s | ratio | ms CPU each | cores |\n|---|--:|--:|--:|--:|--:|")
    for number in range(options.runs):
        for kind in list(kinds)[:: -1 if number % 2 else 1]:
            with tempfile.TemporaryDirectory(prefix="fc-bench-") as directory:
                runs[kind].append(kinds[kind](Path(directory)))
        for kind in kinds:
            row(f"{kind} {number + 1}", runs[kind][-1:], runs["news-please" if options.news_please else kind][-1:])
    for kind in kinds:
        row(f"{kind} median", runs[kind], runs["news-please" if options.news_please else kind])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--pages", type=int, default=600, help="pages of our own making")
    parser.add_argument("--page-files", type=Path, metavar="DIR", help="serve the *.html of this directory instead")
    parser.add_argument("--news-please", metavar="PYTHON", help="Python of a virtual environment with news-please")
    parser.add_argument(
        "--watch", type=float, default=0, metavar="SEC", help="print memory every so many seconds, in one run"
    )
    options = parser.parse_args()
    files = sorted(options.page_files.rglob("*.html")) if options.page_files else []
    site = Site([each.read_bytes() for each in files] or [page(number) for number in range(options.pages)])
    server = serve(site)
    base = f"http://127.0.0.1:{server.server_address[1]}"
    print(f"{len(site.pages)} pages, {sum(map(len, site.pages)) / len(site.pages) / 1024:.0f} KB each on average")
    if options.watch:
        print("| pages requested | worker MB | its children and the server, MB |\n|--:|--:|---|")
        with tempfile.TemporaryDirectory(prefix="fc-bench-") as directory:
            row("feedcrawl", *2 * ([with_feedcrawl(site, base, Path(directory), options.watch)],))
    else:
        compare(options, site, base)
    server.shutdown()


if __name__ == "__main__":
    main()
