"""What the extraction of a page costs, beside trafilatura and readability-lxml on the same pages.

    python benchmarks/extraction.py [PAGES ...] [--most 200] [--large-mib 5]

PAGES are files and directories of HTML (`.html`, `.html.gz`); without any, the project's own pages. Each library gets
the bytes of a page and gives all that it has: feedcrawl every field of an article, trafilatura text and metadata,
readability-lxml title and body. Times are processor time of one call, in milliseconds; the tools take turns on each
page, so that a busy machine slows all of them. `ratio` is the median and 95th percentile by trafilatura's. One page of
`--large-mib` MiB of paragraphs, links and lists ends the table.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import gzip
import logging
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from feedcrawl.domain.errors import NoArticle  # noqa: E402
from feedcrawl.domain.extraction import extract  # noqa: E402
from feedcrawl.parsing.children import COLLECT_AFTER  # noqa: E402

URL = "https://pages.example/2026/story"
SENTENCE = "The harbour of the town has been rebuilt, and ships from everywhere come in every morning again. "
PARAGRAPH = f"<p>{SENTENCE * 4}<a href='/a'>Ships</a> do.</p>"
ITEMS = "<ul>" + "<li><a href='/b'>Another story of the harbour</a></li>" * 10 + "</ul>"


def by_feedcrawl(html: bytes) -> None:
    """Every field of the article."""
    with contextlib.suppress(NoArticle):
        extract(html, url=URL)


def by_trafilatura(html: bytes) -> None:
    """Text and metadata."""
    import trafilatura  # noqa: PLC0415
    from trafilatura.metadata import extract_metadata  # noqa: PLC0415

    trafilatura.extract(html, url=URL, include_comments=False)
    tree = trafilatura.utils.load_html(html)
    if tree is not None:
        extract_metadata(tree, default_url=URL)


def by_readability(html: bytes) -> None:
    """Title and body."""
    from readability import Document  # noqa: PLC0415
    from readability.readability import Unparseable  # noqa: PLC0415

    with contextlib.suppress(Unparseable):
        document = Document(html.decode("utf-8", "replace"), url=URL)
        document.summary()
        document.short_title()


TOOLS: dict[str, Callable[[bytes], None]] = {
    "trafilatura": by_trafilatura,
    "readability-lxml": by_readability,
    "feedcrawl": by_feedcrawl,
}


def pages(places: list[Path]) -> Iterator[bytes]:
    """The bytes of all pages in files and directories."""
    for place in places:
        files = sorted(place.rglob("*.html*")) if place.is_dir() else [place]
        for file in files:
            data = file.read_bytes()
            yield gzip.decompress(data) if file.suffix == ".gz" else data


def seconds(tool: Callable[[bytes], None], html: bytes) -> float:
    """Processor time of one call."""
    start = time.process_time()
    with contextlib.suppress(ValueError, TypeError, AttributeError, RecursionError):  # met in libraries
        tool(html)
    return time.process_time() - start


def percentile(times: list[float], share: float) -> float:
    """The time that this share of calls stays below, in milliseconds."""
    return 1000 * sorted(times)[min(len(times) - 1, int(share * len(times)))]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pages", nargs="*", type=Path, default=[REPOSITORY / "tests" / "pages"])
    parser.add_argument("--most", type=int, default=200, help="pages at most, evenly from all")
    parser.add_argument("--large-mib", type=float, default=5.0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    found = list(pages(options.pages))
    chosen = found[:: max(1, len(found) // options.most)][: options.most]
    for tool in TOOLS.values():
        tool(chosen[0])  # imports are no part of a page's cost
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
    times: dict[str, list[float]] = {name: [] for name in TOOLS}
    for html in chosen:
        for name, tool in TOOLS.items():
            times[name].append(seconds(tool, html))
    print(f"{len(chosen)} pages, processor time in ms\n\n| tool | median | p95 | mean | ratio, median | ratio, p95 |")
    print("|---|--:|--:|--:|--:|--:|")
    base = [percentile(times["trafilatura"], share) for share in (0.5, 0.95)]
    for name, taken in times.items():
        median, high = (percentile(taken, share) for share in (0.5, 0.95))
        mean = 1000 * sum(taken) / len(taken)
        print(f"| {name} | {median:.1f} | {high:.1f} | {mean:.1f} | {median / base[0]:.2f} | {high / base[1]:.2f} |")
    piece = PARAGRAPH * 40 + ITEMS
    large = f"<title>Story</title><h1>Story</h1>{piece * int(options.large_mib * 2**20 / len(piece))}".encode()
    print(f"\na page of {len(large) / 2**20:.1f} MiB: {seconds(by_feedcrawl, large):.2f} s")


if __name__ == "__main__":
    main()
