"""Exports stored data as one file: articles or entries of some days as NDJSON, CSV or Parquet, and an index of
the archive.
"""

from __future__ import annotations

import csv
import io
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, Final

from feedcrawl.domain.archive import cdxj
from feedcrawl.domain.articles.records import ArticleRecord
from feedcrawl.domain.entries.records import EntryRecord
from feedcrawl.domain.operations.tables import Column, columns, csv_cell, typed
from feedcrawl.domain.schemas import schema
from feedcrawl.store.disk.files import DiskUnavailable
from feedcrawl.store.disk.raw import RawElsewhere

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import date
    from pathlib import Path

    from feedcrawl.domain.articles.fields import ArticleFields
    from feedcrawl.domain.operations.tables import Cell
    from feedcrawl.store.disk.ndjson import NdjsonFile
    from feedcrawl.store.disk.raw import RawStore
    from feedcrawl.store.disk.raw_index import RawRef

    Lines = NdjsonFile[EntryRecord] | NdjsonFile[ArticleFields]
    Record = Mapping[str, object]
    Writer = Callable[[Iterable[Record], Sequence[Column], BinaryIO], int]

KEYS: Final = {"articles": ("uid",), "entries": ("feed_id", "entry_uid")}
"""The fields that identify a record of each kind."""
_RECORDS: Final = {"articles": ArticleRecord, "entries": EntryRecord}
_NOT_MODIFIED: Final = 304
_GROUP: Final = 1000
"""Records in one group of a Parquet file: the number that is in memory at a time."""


def columns_of(kind: str) -> tuple[Column, ...]:
    """The fields of `articles` or `entries`, as listed in docs/data-format.md."""
    return columns(schema(_RECORDS[kind]))


def records(
    lines: Lines, key: Sequence[str], since: date | None, until: date | None, *, every_version: bool = False
) -> Iterator[Record]:
    """The records that were stored on the days from `since` to `until` (UTC, both included), oldest first.

    Only the last version of each record within these days, unless `every_version`; finding the last version reads the
    files twice and takes about 200 bytes of memory per record. Records that a crawl appends meanwhile are left out.
    Raises DiskUnavailable.
    """
    days = [day for day in lines.days() if _within(day, since, until)]
    last = {} if every_version else {_name(record, key): at for at, record in _numbered(lines, days)}
    for at, record in _numbered(lines, days):
        if every_version or last.get(_name(record, key)) == at:
            yield record


def _numbered(lines: Lines, days: Sequence[date]) -> Iterator[tuple[tuple[date, int], Record]]:
    for day in days:
        for number, record in enumerate(lines.read(day)):
            yield (day, number), record


def replay_index(store: RawStore, since: date | None, until: date | None) -> list[str]:
    """The lines of a CDXJ index of the captures of these days, sorted, for replay by other programs.

    A repeated body is a revisit, as in its file. A 304 is listed as the capture that it confirms, at the time of the
    304: other programs would show the 304 itself. Damaged captures, and captures whose referenced capture is missing,
    are left out. Takes about half a kilobyte of memory per capture. Raises DiskUnavailable.
    """
    captures = [ref for ref in store.refs() if _within(ref.fetched_at.date(), since, until)]
    confirmed = {ref.refers_to.fetch_id for ref in captures if ref.refers_to and ref.status == _NOT_MODIFIED}
    bodies = {ref.fetch_id: ref for ref in store.refs() if ref.fetch_id in confirmed}
    return sorted(filter(None, (_index_line(store, ref, bodies) for ref in captures)))


def _index_line(store: RawStore, ref: RawRef, bodies: Mapping[str, RawRef]) -> str | None:
    shown: RawRef | None = ref
    if ref.status == _NOT_MODIFIED:
        shown = bodies.get(ref.refers_to.fetch_id) if ref.refers_to else None
    mime = _mime(store, shown) if shown else None
    if shown is None or mime is None:
        return None
    lies = (shown.file, shown.offset, shown.length)
    return cdxj.line(cdxj.Capture(ref.url, ref.fetched_at, mime, shown.status, shown.payload_digest, *lies))


def _mime(store: RawStore, ref: RawRef) -> str | None:
    """The media type of a capture; None if the capture cannot be read."""
    if ref.refers_to:
        return cdxj.REVISIT
    try:
        declared = store.record(ref)["content_type"]
    except RawElsewhere:
        return None
    except DiskUnavailable as error:
        if error.reason == "damaged":
            return None
        raise
    return cdxj.mime_of(declared[0] if isinstance(declared, list) else declared)


def _within(day: date, since: date | None, until: date | None) -> bool:
    return (since is None or day >= since) and (until is None or day <= until)


def _name(record: Record, key: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(record.get(each)) for each in key)


def write_ndjson(found: Iterable[Record], _: Sequence[Column], out: BinaryIO) -> int:
    """Write one JSON object per line; returns the number of records."""
    count = 0
    for record in found:
        out.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n")
        count += 1
    return count


def write_csv(found: Iterable[Record], fields: Sequence[Column], out: BinaryIO) -> int:
    """Write a table with a header row (RFC 4180), in which no cell is a formula; returns the number of rows."""
    count = 0
    text = io.TextIOWrapper(out, "utf-8", errors="replace", newline="", write_through=True)
    rows = csv.writer(text)
    rows.writerow([field.name for field in fields])
    for record in found:
        rows.writerow([csv_cell(record.get(field.name)) for field in fields])
        count += 1
    text.detach()
    return count


def write_parquet(found: Iterable[Record], fields: Sequence[Column], out: BinaryIO) -> int:
    """Write a Parquet file, zstd: times are UTC, lists of text are lists, other lists and objects are JSON; the
    number of rows.
    """
    import pyarrow.parquet  # noqa: PLC0415 - an extra

    kinds = {
        "moment": pyarrow.timestamp("ms", "UTC"),
        "integer": pyarrow.int64(),
        "number": pyarrow.float64(),
        "boolean": pyarrow.bool_(),
    }
    kinds |= {"texts": pyarrow.list_(pyarrow.string())}
    schema = pyarrow.schema([(field.name, kinds.get(field.kind, pyarrow.string())) for field in fields])
    count = 0
    rows: list[dict[str, Cell]] = []
    with pyarrow.parquet.ParquetWriter(out, schema, compression="zstd") as writer:
        for record in found:
            rows.append({field.name: typed(record.get(field.name), field.kind) for field in fields})
            if len(rows) == _GROUP:
                writer.write_table(pyarrow.Table.from_pylist(rows, schema))
                count, rows = count + len(rows), []
        if rows:
            writer.write_table(pyarrow.Table.from_pylist(rows, schema))
    return count + len(rows)


def write_lines(found: Iterable[str], out: BinaryIO) -> int:
    """Write lines unchanged; returns the number of lines."""
    count = 0
    for count, each in enumerate(found, 1):  # noqa: B007 - the last number is returned
        out.write(each.encode() + b"\n")
    return count


WRITERS: Final[Mapping[str, Writer]] = {"ndjson": write_ndjson, "csv": write_csv, "parquet": write_parquet}


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that appears only when it is complete; a file of that name stays in place until then."""
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as out:
            yield out
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
