"""`scrapy fixture`: pages saved as test cases, from the archive or the web, and the extraction compared with
them.
"""

from __future__ import annotations

import json
import re
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from feedcrawl.commands import printable, without_stores

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import AsyncIterator, Mapping

    from scrapy.http import Response

    from feedcrawl.config import Config
    from feedcrawl.services.archive.fixtures import Page
    from feedcrawl.store.disk.raw_index import RawRef

_FETCH_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
SHOWN = 100
"""Characters of a value that a difference shows."""


class Command(ScrapyCommand):
    """Exit status 1 if a page differs from its expectation or cannot be fetched, 2 if no page is named."""

    requires_project = True

    def syntax(self) -> str:
        """How it is called."""
        return "[--to DIR] URL|FETCH_ID | --check [--accept] DIR"

    def short_desc(self) -> str:
        """For `scrapy`."""
        return "Save a page with its article as a test case, or check the extraction against such cases"

    def add_options(self, parser: ArgumentParser) -> None:
        """--to, --check, --accept."""
        super().add_options(parser)
        parser.add_argument("--to", metavar="DIR", default="fixtures", help="where cases are saved (%(default)s)")
        parser.add_argument(
            "--check", action="store_true", help="extract all cases of DIR again, and print the differences"
        )
        parser.add_argument("--accept", action="store_true", help="with --check: save the present results as expected")

    def process_options(self, args: list[str], opts: Namespace) -> None:
        """Reads the command line."""
        super().process_options(args, opts)
        assert self.settings is not None
        without_stores(self.settings)
        self.settings.set("LOG_LEVEL", "WARNING", priority="spider")  # what extractors think of a page is not asked

    def run(self, args: list[str], opts: Namespace) -> None:
        """Checks, or saves one page."""
        from feedcrawl.commands.exit_status import EXPLAINED, explained  # noqa: PLC0415
        from feedcrawl.config import Config  # noqa: PLC0415 - see the package

        if len(args) != 1:
            raise UsageError("name one URL or fetch id to save it, or --check and a directory", print_help=False)
        assert self.settings is not None
        try:
            if opts.check:
                self.exitcode = check(Path(args[0]), accept=opts.accept)
                return
            page = archived(Config.from_settings(self.settings), args[0])
            if page is not None:
                self.exitcode = save(page, Path(opts.to))
            else:
                self._fetch(args[0], Path(opts.to))
        except EXPLAINED as error:
            self.exitcode = explained(error, "fixture")

    def _fetch(self, url: str, directory: Path) -> None:
        """Fetches a page through the guard, robots.txt and limits of `scrapy fetch`."""
        from feedcrawl.commands.exit_status import FAILED, say  # noqa: PLC0415
        from feedcrawl.domain.errors import Refusal  # noqa: PLC0415 - see the package
        from feedcrawl.domain.urls import resolve  # noqa: PLC0415

        if _FETCH_ID.fullmatch(url):
            raise Refusal("no_fetch", f"the archive of this data directory has no fetch {url} that is whole")
        assert self.crawler_process is not None
        came: list[Page] = []
        self.crawler_process.crawl(Fetcher, url=resolve(url), came=came)
        self.crawler_process.start()
        if came:
            self.exitcode = save(came[0], directory)
        else:
            say("fixture", f"{url} did not answer with a page; the log says why")
            self.exitcode = FAILED


class Fetcher(Spider):
    """Fetches one page."""

    name = "fixture"
    url: str
    came: list[Page]

    async def start(self) -> AsyncIterator[Any]:
        """The request of the page."""
        yield Request(self.url, dont_filter=True)

    def parse(self, response: Response, **_: Any) -> None:
        """Keeps the response."""
        from feedcrawl.services.archive.fixtures import Page  # noqa: PLC0415 - see the package

        headers = {
            name.decode("latin-1").lower(): values[0].decode("latin-1") for name, values in response.headers.items()
        }
        at = datetime.now(UTC).isoformat(timespec="seconds")
        self.came.append(Page(response.url, headers, response.body, at))


def archived(config: Config, wanted: str) -> Page | None:
    """The newest complete capture of a URL, or a fetch by its id, with the data of its feed; None if there is
    none.
    """
    from feedcrawl.services.archive import capture, fixtures  # noqa: PLC0415 - see the package
    from feedcrawl.services.archive.replay import said_of  # noqa: PLC0415
    from feedcrawl.store.disk.ndjson import NdjsonFile  # noqa: PLC0415

    def meant(ref: RawRef) -> bool:
        return capture.is_whole(ref) and ref.uid is not None and wanted in (ref.url, ref.fetch_id)

    with closing(capture.opened(config.data_dir)) as store:
        ref = max(filter(meant, store.refs()), key=lambda each: each.fetched_at, default=None)
        if ref is None or ref.uid is None:
            return None
        document = capture.document(store, ref, limit_bytes=config.max_article_bytes)
    said = said_of(NdjsonFile(config.data_dir / "entries"), ref.fetched_at.date(), {ref.uid})
    return fixtures.page_of(document, fixtures.feed_of(said.get(ref.uid, {})))


def save(page: Page, directory: Path) -> int:
    """Writes the test case, and prints its folder and its expectation."""
    from feedcrawl.commands.exit_status import DONE  # noqa: PLC0415 - see the package
    from feedcrawl.services.archive import fixtures  # noqa: PLC0415

    article = found_in(page)
    folder = fixtures.save(directory, page, article)
    what = article.get("failure") or f"{article['title']!r}, {len(article['clean_text'])} characters"
    sys.stdout.write(printable(f"{folder}: {what}; read expected.json, and correct what is wrong in it") + "\n")
    return DONE


def check(directory: Path, *, accept: bool) -> int:
    """Prints the differences of each case; returns the number of cases that differ."""
    from feedcrawl.commands.exit_status import DONE, FAILED  # noqa: PLC0415 - see the package
    from feedcrawl.services.archive import fixtures  # noqa: PLC0415

    folders, different = fixtures.folders(directory), 0
    for folder in folders:
        page, wanted = fixtures.load(folder)
        found = found_in(page)
        differences = list(fixtures.differences(wanted, found))
        different += bool(differences)
        for name, old, new in differences:
            sys.stdout.write(printable(f"{folder.name}  {name}: {_brief(old)} → {_brief(new)}") + "\n")
        if accept and differences:
            fixtures.expect(folder, found)
    sys.stdout.write(f"{len(folders)} pages, {different} differ{' and are accepted' if accept and different else ''}\n")
    return FAILED if different and not accept else DONE


def found_in(page: Page) -> Mapping[str, Any]:
    """The result of today's extraction of a page."""
    from feedcrawl.services.archive import fixtures  # noqa: PLC0415 - see the package

    return fixtures.expected(page)


def _brief(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
