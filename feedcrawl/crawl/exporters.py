"""Output of `-o` and `-O`: entries and articles in the shape that other programs read, each with its `type`.

A poll is exported as its new and changed entries, a page as its article if the article was stored under its own uid. A
poll without new entries, a failure, and a page whose article another URL had already brought export nothing. Items of
other spiders are exported as Scrapy does.
"""

from __future__ import annotations

import base64
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final

from itemadapter import ItemAdapter
from scrapy import exporters

from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.markup import NOT_XML
from feedcrawl.domain.operations.tables import csv_cell
from feedcrawl.items import Article, FeedPoll

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from io import BytesIO

    from feedcrawl.domain.json_values import Json, JsonObject

_COLUMNS: Final = (
    "type", "uid", "entry_uid", "feed_id", "url", "feed_url", "canonical_url", "canonical_link", "title", "published",
    "updated", "category", "categories", "authors", "language", "abstract", "clean_text", "summary", "content",
)  # fmt: skip
"""The first columns of a CSV; all others follow, so that no field of either type is lost."""
_ARTICLE: Final = (
    "uid", "url", "category", "categories", "canonical_url", "final_url", "fetched_ts", "fetched_at", "status",
    "http_status", "feed_id", "entry_uid", "fetch_id", "outgoing", "title", "clean_text", "text_len", "raw_len",
    "abstract", "image", "authors", "published", "modified", "language", "site_name", "content_html", "content_hash",
    "extractor", "page_kind", "posts", "rendered", "files",
)  # fmt: skip
_ENTRY: Final = (
    "entry_uid", "feed_id", "feed_url", "canonical_link", "title", "summary", "content", "authors", "categories",
    "enclosures", "published", "updated", "first_seen", "last_seen", "seen_count", "content_hash", "article_uid",
    "link", "published_raw", "language", "image", "raw_refs", "raw", "revision", "files", "type",
)  # fmt: skip


def records(item: object) -> Iterator[JsonObject]:
    """The records that an item is exported as, with plain values only."""
    if isinstance(item, FeedPoll):
        for entry in item.found.entries.written:
            yield _with_type("entry", entry)
    elif isinstance(item, Article):
        if item.status == "success" and item.merged_into is None:
            yield _with_type("article", item.record)
    else:
        yield _plain_object(ItemAdapter(item).asdict())


def _with_type(kind: str, record: Mapping[str, object]) -> JsonObject:
    return {"type": kind, **_plain_object({name: value for name, value in record.items() if name != "type"})}


def _plain_object(record: Mapping[str, object]) -> JsonObject:
    return {str(name): plain(each) for name, each in record.items()}


def plain(value: object) -> Json:
    """A value in JSON form: times as RFC 3339, bytes as text or else base64, sets as lists, lone surrogates
    replaced.
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (bytes, bytearray)):
        return _text(bytes(value))
    if isinstance(value, datetime):
        return rfc3339(value) if value.tzinfo else value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, dict):
        return _plain_object(value)
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(plain, value), key=str)
    return plain(ItemAdapter(value).asdict()) if ItemAdapter.is_item(value) else str(value)


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return base64.b64encode(value).decode("ascii")


class JsonLinesExporter(exporters.JsonLinesItemExporter):
    """One JSON object per line."""

    def export_item(self, item: object) -> None:
        """Write the item's records."""
        for record in records(item):
            super().export_item(record)


class JsonExporter(exporters.JsonItemExporter):
    """One JSON array."""

    def export_item(self, item: object) -> None:
        """Write the item's records."""
        for record in records(item):
            super().export_item(record)


class XmlExporter(exporters.XmlItemExporter):
    """XML; characters that XML 1.0 cannot express become U+FFFD."""

    def export_item(self, item: object) -> None:
        """Write the item's records."""
        for record in records(item):
            super().export_item(_for_xml(record))


class CsvExporter(exporters.CsvItemExporter):
    """CSV with the fields of both types as columns; lists and objects are JSON in their cell, and no cell is a
    formula.
    """

    def __init__(self, file: BytesIO, **kwargs: Any) -> None:
        super().__init__(file, **kwargs)
        self._ours = not self.fields_to_export

    def export_item(self, item: object) -> None:
        """Write the item's records."""
        for record in records(item):
            if self._ours and record.get("type") in ("entry", "article"):
                self.fields_to_export = columns()
            super().export_item({name: csv_cell(value) for name, value in record.items()})


def columns() -> list[str]:
    """Every field of entries and articles, each once."""
    return list(dict.fromkeys((*_COLUMNS, *_ARTICLE, *_ENTRY)))


def _for_xml(value: Json) -> Json:
    if isinstance(value, str):
        return NOT_XML.sub("\ufffd", value)
    if isinstance(value, dict):
        return {name: _for_xml(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_for_xml(each) for each in value]
    return "" if value is None else value
