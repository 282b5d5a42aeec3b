"""Writes the generated parts of the documentation anew: `python docs/generate.py`. A test holds them equal.

A generated part stands between `<!-- generated: NAME -->` and `<!-- end -->`; docs/schemas/ has the JSON Schemas. The
chart of the cadences is drawn from the table in docs/cadence.md.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import delays

from feedcrawl.config import own_settings
from feedcrawl.domain import schemas
from feedcrawl.domain.archive.records import RawFetchRecord
from feedcrawl.domain.articles import event_records as article_events
from feedcrawl.domain.articles import page_records
from feedcrawl.domain.articles import records as articles
from feedcrawl.domain.entries import records as entries
from feedcrawl.domain.frontier.records import DeadLetterRecord, QueueItemRecord, TaskRecord
from feedcrawl.domain.operations.records import EventRecord
from feedcrawl.domain.operations.settings import rows
from feedcrawl.domain.search.documents import RawContentRecord
from feedcrawl.domain.sites.site_search import SourceSearchedRecord
from feedcrawl.domain.subscriptions.published import FeedRecord, JournalLineRecord
from feedcrawl.domain.subscriptions.sitemap_records import SitemapPublicRecord

DOCS = Path(__file__).parent
RECORDS = (
    entries.EntryRecord,
    articles.ArticleRecord,
    articles.ArticleHashRecord,
    EventRecord,
    entries.NewEntryRecord,
    entries.EntryUpdatedRecord,
    entries.EntryDeletedRecord,
    article_events.ArticleReadyRecord,
    article_events.ArticleUpdatedRecord,
    article_events.ArticleFailedRecord,
    article_events.ArticleMergedRecord,
    article_events.ArticleUnmergedRecord,
    article_events.ArticleDeletedRecord,
    article_events.WebpageFetchedRecord,
    article_events.UrlKnownRecord,
    FeedRecord,
    SitemapPublicRecord,
    SourceSearchedRecord,
    page_records.FileRecord,
    RawFetchRecord,
    DeadLetterRecord,
    QueueItemRecord,
    TaskRecord,
    articles.MergeRecord,
    page_records.MediaRecord,
    JournalLineRecord,
    RawContentRecord,
)


def generated() -> dict[Path, str]:
    """The text of each page, schema and chart that has generated parts, by its path."""
    settings, records = DOCS / "settings.md", DOCS / "data-format.md"
    page = records.read_text("utf-8")
    for kind in RECORDS:
        page = with_part(page, schemas.published_as(kind).name, schemas.table(kind))
    files = {DOCS / "schemas" / f"{schemas.published_as(kind).name}.json": _json(kind) for kind in RECORDS}
    files[DOCS / "images" / "cadence-delay.svg"] = delays.chart((DOCS / "cadence.md").read_text("utf-8"))
    return {settings: with_part(settings.read_text("utf-8"), "settings", rows(own_settings)), records: page} | files


def with_part(page: str, name: str, text: str) -> str:
    """The page with the generated part `name` replaced by `text`; raises ValueError if it has no such part."""
    found = re.compile(rf"(<!-- generated: {re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)
    changed, count = found.subn(lambda match: f"{match[1]}{text}{match[2]}", page)
    if count != 1:
        raise ValueError(f"the page has {count} parts named {name!r}, expected one")
    return changed


def _json(kind: type) -> str:
    return json.dumps(schemas.schema(kind), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for path, text in generated().items():
        path.write_text(text, "utf-8")
