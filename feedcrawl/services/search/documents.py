"""Search documents of stored articles, from Redis and from the files of the data directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.domain.search.changes import changes_of
from feedcrawl.domain.search.documents import document_of
from feedcrawl.services.articles.tasks import record_of
from feedcrawl.store.search.interface import Changes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from feedcrawl.domain.articles.fields import ArticleFields
    from feedcrawl.domain.operations.events import Unprocessable
    from feedcrawl.domain.search.documents import RawContentRecord
    from feedcrawl.domain.sites.owners import Sources
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.operations.streams import StoredEvent


class Documents:
    """Methods may raise StoreUnavailable."""

    def __init__(self, articles: Articles, sources: Callable[[], Sources]) -> None:
        self._articles = articles
        self._sources = sources

    def of_uids(self, uids: Sequence[str]) -> list[RawContentRecord]:
        """The documents of the articles that Redis still has, without those that their publisher has withdrawn."""
        found = self._articles.described(uids) if uids else []
        return [
            self._document(record_of(fields), categories)
            for fields, categories in found
            if fields.get("status") == "success" and not fields.get("deleted_at")
        ]

    def of_lines(self, lines: Iterable[ArticleFields]) -> list[RawContentRecord]:
        """The documents of records of `articles/`, without those that were merged or withdrawn since."""
        last = {str(line["uid"]): line for line in lines}
        gone = self._articles.gone(list(last)) if last else set()
        return [self._document(line, ()) for uid, line in last.items() if uid not in gone]

    def changes(self, events: Sequence[StoredEvent]) -> tuple[Changes, list[Unprocessable | None]]:
        """The changes of an index that events cause; and for each event None, or the reason why it cannot be read."""
        changes, ends = changes_of(each.fields for each in events)
        stored = self.of_uids([uid for uid, is_stored in changes.items() if is_stored])
        return Changes(stored, [uid for uid, is_stored in changes.items() if not is_stored]), ends

    def _document(self, article: ArticleFields, categories: Iterable[str]) -> RawContentRecord:
        source = self._sources().of(article["canonical_url"])
        return document_of(article, source=source.name if source else None, categories=sorted(categories))
