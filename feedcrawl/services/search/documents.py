"""Search documents of stored articles, from Redis and from the files of the data directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.domain.search.documents import document_of
from feedcrawl.services.articles.tasks import record_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from feedcrawl.domain.articles.fields import ArticleFields
    from feedcrawl.domain.search.documents import RawContentRecord
    from feedcrawl.domain.sites.owners import Sources
    from feedcrawl.store.articles.records import Articles


class Documents:
    """Methods may raise StoreUnavailable."""

    def __init__(self, articles: Articles, sources: Callable[[], Sources]) -> None:
        self._articles = articles
        self._sources = sources

    def of_uids(self, uids: Sequence[str]) -> list[RawContentRecord]:
        """The documents of the articles that Redis still has."""
        found = self._articles.described(uids) if uids else []
        return [
            self._document(record_of(fields), wanted) for fields, wanted in found if fields.get("status") == "success"
        ]

    def of_lines(self, lines: Iterable[ArticleFields]) -> list[RawContentRecord]:
        """The documents of records of `articles/`, the last of each uid, without those that were merged since."""
        last = {str(line["uid"]): line for line in lines}
        merged = self._articles.merged(list(last)) if last else set()
        return [self._document(line, ()) for uid, line in last.items() if uid not in merged]

    def _document(self, article: ArticleFields, wanted: Iterable[str]) -> RawContentRecord:
        source = self._sources().of(article["canonical_url"])
        return document_of(article, source=source.name if source else None, categories=sorted(wanted))
