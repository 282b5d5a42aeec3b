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

    from scrapy.crawler import Crawler

    from feedcrawl.domain.articles.fields import ArticleFields
    from feedcrawl.domain.entries.records import EntryRecord
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
        if isinstance(item, FeedPoll) and (item.entries.new or item.entries.changed):
            self._append(self._entries, item, [vars(entry) for entry in (*item.entries.new, *item.entries.changed)])
        elif isinstance(item, Article):
            item.record = publication.record(item)
            if item.status == "success" and item.merged_into is None:
                self._append(self._articles, item, [{"type": "article", **item.record}])
        return item

    def _append(self, lines: NdjsonFile[R], item: FeedPoll | Article, records: Sequence[Mapping[str, object]]) -> None:
        if not self._leases.confirms(item.lease):
            raise LeaseLost(item.lease)
        lines.append(item.at.date(), *records)
