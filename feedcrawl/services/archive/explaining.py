"""Explains a stored article: extracts its newest capture again, and shows all candidates for each field."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.extraction.explanation import explain
from feedcrawl.domain.extraction.page import decode
from feedcrawl.domain.urls import url_uid
from feedcrawl.services.archive import capture
from feedcrawl.services.archive.replay import entries_of, entry_content
from feedcrawl.services.articles.evidence import feed_content
from feedcrawl.services.articles.tasks import record_of
from feedcrawl.services.sites.sources import selectors_of

if TYPE_CHECKING:
    from feedcrawl.config import Config
    from feedcrawl.domain.entries.records import EntryRecord
    from feedcrawl.domain.extraction.explanation import Row
    from feedcrawl.domain.sites.owners import Sources
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.disk.ndjson import NdjsonFile
    from feedcrawl.store.disk.raw_index import RawRef


@dataclass(frozen=True, slots=True)
class Explained:
    """The capture that was read, and the rows of its explanation."""

    ref: RawRef
    rows: tuple[Row, ...]


def explained(
    name: str, config: Config, articles: Articles, entries: NdjsonFile[EntryRecord], sources: Sources
) -> Explained | None:
    """The explanation of the article with this URL, uid or fetch id; None if the archive has no whole capture of it.

    The evidence is that of the crawl: the entry that the article came from, the rules of its source. Raises NoArticle
    for a document that is no page, DiskUnavailable, RawElsewhere, Undecodable.
    """
    named = {name, uid_of(name)}
    with closing(capture.opened(config.data_dir)) as store:
        of_name = (each for each in store.refs() if each.uid and not named.isdisjoint(_names(each)))
        limit = config.max_article_bytes
        ref = capture.newest(store, of_name, limit_bytes=limit)
        if ref is None or ref.uid is None:
            return None
        document = capture.document(store, ref, limit_bytes=limit)
    stored = articles.record(articles.target_of(ref.uid) or ref.uid)
    lines = entries_of(entries, ref.fetched_at.date(), {ref.uid}).get(ref.uid, [])
    content = entry_content(lines, record_of(stored) if stored else None, ref.fetched_at)
    source = sources.of(ref.url, None)
    html = decode(document.body, document.content_type)
    return Explained(ref, explain(html, url=ref.url, rules=selectors_of(source), feed=feed_content(content, source)))


def uid_of(name: str) -> str | None:
    """The uid of the article of a URL; None if the name is no URL."""
    try:
        return url_uid(name)
    except InvalidUrl:
        return None


def _names(ref: RawRef) -> tuple[str | None, ...]:
    return ref.url, ref.uid, ref.fetch_id
