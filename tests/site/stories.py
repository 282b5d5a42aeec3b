"""Articles that pass the pipelines one by one, without requests, for tests of merges and page records."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from scrapy.settings import Settings

from feedcrawl import settings as project
from feedcrawl.domain.frontier.tasks import Lease
from feedcrawl.domain.models import Extraction
from feedcrawl.items import Article, FeedPoll
from feedcrawl.pipelines.canonicalize import CanonicalizePipeline
from feedcrawl.pipelines.dedupe import DedupePipeline
from feedcrawl.pipelines.disk import DiskPipeline
from feedcrawl.pipelines.publish import PublishPipeline
from feedcrawl.pipelines.store import StorePipeline
from feedcrawl.services.articles.tasks import TaskOptions, article_task, requested_url
from feedcrawl.wiring import Wiring, process

START = datetime(2026, 11, 28, 12, tzinfo=UTC)
Item = TypeVar("Item", Article, FeedPoll)


@contextmanager
def wired_to(url: str, folder: Path, **settings: str) -> Iterator[Wiring]:
    """The stores of a server and a data directory."""
    made = Settings()
    made.setmodule(project, priority="project")
    own = {"FEEDCRAWL_DATA_DIR": str(folder / "data"), "REDIS_URL": url}
    own |= {"FEEDCRAWL_HOST_DELAY_SEC": "0", "FEEDCRAWL_HOST_CONCURRENCY": "99"}
    made.setdict(own | settings, priority="cmdline")
    with closing(Wiring(made)) as wired:
        yield wired


class Worker:
    """Stands for the crawler that shares the stores among its components."""


class Reader:
    """Reads pages as a worker does, from the lease to the end of the task."""

    def __init__(self, wired: Wiring) -> None:
        self.wired = wired
        self.now = START
        self._crawler = Worker()
        process._by_crawler[self._crawler] = wired

    def lease(self, url: str, *, category: str | None = None, again: str = "", **details: Any) -> Lease:
        """The task of a URL in this worker's hands; hosts are not waited for."""
        options = TaskOptions(categories=[category] if category else [])
        task = replace(article_task(url, self.wired.sources, options), **details)
        self.wired.leases.enqueue([task], again=again)
        self.now += timedelta(seconds=1)
        found = {lease.id: lease for lease in self.wired.leases.take(99, ["page"]).leases}
        return found[task.id]

    def page(self, lease: Lease, text: str, **fields: Any) -> Article:
        """The item of a page that was read; fields that are not given have plain values."""
        url = requested_url(lease.task)
        values = {
            "title": "A title",
            "text": text,
            "html": f"<p>{text}</p>",
            "abstract": None,
            "image": None,
            "authors": (),
            "published": None,
            "modified": None,
            "language": "en",
            "site_name": None,
            "canonical_url": None,
            "extractor": "prose",
            "raw_len": len(text),
            "text_len": len(text),
        }
        final_url = fields.pop("final_url", lease.task.url)
        extraction = Extraction(**(values | fields))
        return Article(lease, url, self.now, "success", final_url=final_url, http_status=200, extraction=extraction)

    def passed(self, item: Item, *, first: int = 0, last: int = 5) -> Item:
        """The item once it has passed the pipelines, or those from index `first` up to `last`."""
        kinds: list[Any] = [CanonicalizePipeline, DedupePipeline, DiskPipeline, StorePipeline, PublishPipeline]
        for kind in kinds[first:last]:
            done = kind.from_crawler(self._crawler).process_item(item)
            item = asyncio.run(done) if asyncio.iscoroutine(done) else done
        return item

    def read(self, url: str, text: str, *, category: str | None = None, again: str = "", **fields: Any) -> Article:
        """A page from its task to its end."""
        item = self.passed(self.page(self.lease(url, category=category, again=again), text, **fields))
        self.wired.leases.done(item.lease, status="fetched")
        return item

    def fail(self, url: str, *, code: str = "FAIL_HTTP", reason: str = "http_404", again: str = "") -> Article:
        """A page that is not there."""
        lease = self.lease(url, again=again)
        item = Article(lease, url, self.now, "failure", code=code, reason=reason, detail="no page")
        self.passed(item)
        self.wired.leases.done(lease, status="dead", reason=reason)
        return item


@contextmanager
def reading(url: str, folder: Path) -> Iterator[Reader]:
    """A reader of the present, with the stores of a server and a data directory."""
    with wired_to(url, folder) as wired:
        reader = Reader(wired)
        reader.now = wired.now()
        yield reader
