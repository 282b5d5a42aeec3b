"""The work of `scrapy fixture`: saves pages as test cases, and compares the extraction with them."""

from __future__ import annotations

import re
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy import Request, Spider
from scrapy.exceptions import UsageError

from feedcrawl.config import Config
from feedcrawl.console.output import DONE, FAILED, brief, say, write
from feedcrawl.console.stores import EXPLAINED, explained
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.urls import resolve
from feedcrawl.services.archive import capture, fixtures
from feedcrawl.services.archive.fixtures import Page
from feedcrawl.services.archive.replay import entries_of, entry_content
from feedcrawl.store.disk.ndjson import NdjsonFile

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import AsyncIterator

    from scrapy.crawler import AsyncCrawlerProcess, CrawlerProcess
    from scrapy.http import Response


_FETCH_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
SHOWN = 100
"""Characters of a value that a difference shows."""


def run(process: CrawlerProcess | AsyncCrawlerProcess, args: list[str], opts: Namespace) -> int:
    """Checks, or saves one page; returns the exit status."""
    if len(args) != 1:
        raise UsageError("name one URL or fetch id to save it, or --check and a directory", print_help=False)
    try:
        if opts.check:
            return check(Path(args[0]), accept=opts.accept)
        page = archived(Config.from_settings(process.settings), args[0]) or _fetched(process, args[0])
        return FAILED if page is None else save(page, Path(opts.to))
    except EXPLAINED as error:
        return explained(error, "fixture")


def _fetched(process: CrawlerProcess | AsyncCrawlerProcess, url: str) -> Page | None:
    """A page fetched through the guard, robots.txt and limits of `scrapy fetch`; None, with a message, without one."""
    if _FETCH_ID.fullmatch(url):
        raise Refusal("no_fetch", f"the archive of this data directory has no fetch {url} that is whole")
    came: list[Page] = []
    process.crawl(Fetcher, url=resolve(url), came=came)
    process.start()
    if not came:
        say("fixture", f"{url} did not answer with a page; the log says why")
        return None
    return came[0]


class Fetcher(Spider):
    """Fetches one page."""

    name = "fixture"
    url: str
    came: list[Page]

    async def start(self) -> AsyncIterator[object]:
        """The request of the page."""
        yield Request(self.url, dont_filter=True)

    def parse(self, response: Response, **_: object) -> None:
        """Keeps the response."""
        headers = {
            name.decode("latin-1").lower(): values[0].decode("latin-1") for name, values in response.headers.items()
        }
        at = datetime.now(UTC).isoformat(timespec="seconds")
        self.came.append(Page(response.url, headers, response.body, at))


def archived(config: Config, name: str) -> Page | None:
    """The newest complete capture of a URL, or a fetch by its id, with the data of its feed; None if there is
    none.
    """
    limit = config.max_article_bytes
    with closing(capture.opened(config.data_dir)) as store:
        of_name = (each for each in store.refs() if each.uid and name in (each.url, each.fetch_id))
        ref = capture.newest(store, of_name, limit_bytes=limit)
        if ref is None or ref.uid is None:
            return None
        document = capture.document(store, ref, limit_bytes=limit)
    entries = entries_of(NdjsonFile(config.data_dir / "entries"), ref.fetched_at.date(), {ref.uid}).get(ref.uid, [])
    return fixtures.page_of(document, fixtures.feed_of(entry_content(entries, None, ref.fetched_at)))


def save(page: Page, directory: Path) -> int:
    """Writes the test case, and prints its folder and its expectation."""
    article = fixtures.expected(page)
    folder = fixtures.save(directory, page, article)
    what = article.get("failure") or f"{article['title']!r}, {len(article['clean_text'])} characters"
    write(f"{folder}: {what}; read expected.json, and correct what is wrong in it")
    return DONE


def check(directory: Path, *, accept: bool) -> int:
    """Prints the differences of each case; returns the exit status."""
    folders, different = fixtures.folders(directory), 0
    for folder in folders:
        page, expectation = fixtures.load(folder)
        found = fixtures.expected(page)
        differences = list(fixtures.differences(expectation, found))
        different += bool(differences)
        for name, old, new in differences:
            write(f"{folder.name}  {name}: {brief(old, SHOWN)} → {brief(new, SHOWN)}")
        if accept and differences:
            fixtures.expect(folder, found)
    write(f"{len(folders)} pages, {different} differ{' and are accepted' if accept and different else ''}")
    return FAILED if different and not accept else DONE
