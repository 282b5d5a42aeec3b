"""Writes NDJSON before any record in Redis refers to it (step 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, TypeVar

from feedcrawl import wiring
from feedcrawl.exceptions import LeaseLost
from feedcrawl.items import Article, FeedPoll
from feedcrawl.services.articles import publication
from feedcrawl.telemetry.tracing import traced

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from scrapy.crawler import Crawler

    from feedcrawl.domain.articles.fields import ArticleFields
    from feedcrawl.domain.entries.records import EntryRecord
    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.services.articles.files import FileService
    from feedcrawl.services.frontier.leases import Leases
    from feedcrawl.store.disk.ndjson import NdjsonFile
    from feedcrawl.telemetry.tracing import Tracer


R = TypeVar("R", bound="Mapping[str, object]")


class DiskPipeline:
    """Writes new and changed entries of a poll to entries/<day>.ndjson, a stored article to articles/<day>.ndjson.

    After a kill a line may be repeated, with the same uid and content_hash; readers use the last one. On
    DiskUnavailable the task is given back before anything of it is visible elsewhere.
    """

    def __init__(
        self,
        leases: Leases,
        files: FileService,
        *,
        entries: NdjsonFile[EntryRecord],
        articles: NdjsonFile[ArticleFields],
        tracer: Tracer,
    ) -> None:
        self._leases = leases
        self._files = files
        self._entries = entries
        self._articles = articles
        self._tracer = tracer

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Shares the crawler's files."""
        wired = wiring.of(crawler)
        return cls(
            wired.leases,
            wired.files,
            entries=wired.entry_lines,
            articles=wired.article_lines,
            tracer=wired.tracer,
        )

    @traced("disk")
    def process_item(self, item: object) -> object:
        """The item, written to disk. Raises DiskUnavailable and LeaseLost."""
        if isinstance(item, (FeedPoll, Article)):
            self._files.attach(item)
        if isinstance(item, FeedPoll):
            if item.found.entries.written:
                self._append(self._entries, item.lease, item.received.at, item.found.entries.written)
        elif isinstance(item, Article):
            item.record = publication.record(item)
            if item.status == "success" and item.merged_into is None:
                self._append(self._articles, item.lease, item.at, [{"type": "article", **item.record}])
        return item

    def _append(
        self, lines: NdjsonFile[R], lease: Lease, at: datetime, records: Sequence[Mapping[str, object]]
    ) -> None:
        if not self._leases.confirms(lease):
            raise LeaseLost(lease)
        lines.append(at.date(), *records)
