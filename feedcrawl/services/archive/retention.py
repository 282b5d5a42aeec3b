"""Removes old data from the disk: archive, articles and entries, each after its own number of days.

Can be interrupted at any point and repeated. One process per data directory does the work, once a day.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeVar

from feedcrawl.domain.archive.retention import Capture, first_kept, first_that_fits, needed
from feedcrawl.domain.articles.files import unnamed
from feedcrawl.store.articles.files import FILES_FOLDER, FileContents
from feedcrawl.store.disk import raw_files
from feedcrawl.store.disk.files import map_disk_errors, open_beneath
from feedcrawl.store.disk.ndjson import NdjsonFile
from feedcrawl.store.disk.raw_index import RawIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from feedcrawl.config import Config
    from feedcrawl.domain.articles.fields import ArticleFields
    from feedcrawl.domain.articles.page_records import FileRecord
    from feedcrawl.domain.entries.records import EntryRecord
    from feedcrawl.store.disk.raw_index import RawRef

    Stop = Callable[[], bool]

T = TypeVar("T")
R = TypeVar("R", bound="Mapping[str, object]")

EVERY_SEC: Final = 86_400.0
MARKER: Final = "retention"
"""A file whose modification time is the time of the last pass."""


@dataclass(slots=True)
class Removed:
    """The result of a pass; `reduced` counts archive files of which a part had to stay."""

    days: int = 0
    files: int = 0
    reduced: int = 0
    freed_bytes: int = 0


def apply(config: Config, today: date, stop: Stop = lambda: False) -> Removed | None:
    """Run one pass if it is due; None if it is not. Ends early when `stop` returns True. Raises DiskUnavailable."""
    if not any((config.keep_raw_days, config.keep_raw_bytes, config.keep_articles_days, config.keep_entries_days)):
        return None
    raw_since, too_large = _raw_since(config, today)
    with _turn(config.data_dir, at_once=too_large) as turn:
        if turn is None:
            return None
        removed = Removed()
        for name, keep_days in (("articles", config.keep_articles_days), ("entries", config.keep_entries_days)):
            if keep_days is not None:
                removed.days += NdjsonFile(config.data_dir / name).drop_before(first_kept(today, keep_days))
        if config.keep_articles_days is not None or config.keep_entries_days is not None:
            _files(config.data_dir, today, removed, stop)
        if raw_since is not None:
            _raw(config.data_dir / "raw", raw_since, removed, stop)
        if not stop():
            os.utime(turn)
    return removed


def _raw_since(config: Config, today: date) -> tuple[date | None, bool]:
    """The oldest day of the archive to keep (None: keep all), and True if the archive's size requires a pass at
    once.
    """
    by_age = None if config.keep_raw_days is None else first_kept(today, config.keep_raw_days)
    if config.keep_raw_bytes is None:
        return by_age, False
    sizes = raw_files.day_sizes(config.data_dir / "raw")
    by_day = {date.fromisoformat(day): size for day, size in sizes.items() if size}
    by_size = first_that_fits(by_day, config.keep_raw_bytes, today)
    return max(by_size, by_age or by_size), any(day < by_size for day in by_day)


@contextlib.contextmanager
def _turn(data_dir: Path, *, at_once: bool = False) -> Iterator[int | None]:
    """The marker file, locked; None if no pass is due and `at_once` is False, or another process has the lock."""
    with map_disk_errors(data_dir / MARKER):
        new = not (data_dir / MARKER).exists()
        fd = open_beneath(data_dir, MARKER, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            due = new or at_once or time.time() - os.fstat(fd).st_mtime >= EVERY_SEC
            if new:
                os.utime(fd, (0, 0))  # an interrupted pass is due again
            yield fd if due else None
        except BlockingIOError:
            yield None
        finally:
            os.close(fd)


def _files(data_dir: Path, today: date, removed: Removed, stop: Stop) -> None:
    """Remove media files that no line names any more. A file used within a day stays: its record may not be
    written yet.
    """
    lines: NdjsonFile[FileRecord] = NdjsonFile(data_dir / FILES_FOLDER)
    contents = FileContents(data_dir)
    if not (data_dir / FILES_FOLDER).is_dir():
        return
    articles: NdjsonFile[ArticleFields] = NdjsonFile(data_dir / "articles")
    entries: NdjsonFile[EntryRecord] = NdjsonFile(data_dir / "entries")
    links = [
        *(link for record in _until(stop, _lines(articles)) for link in record.get("files", ())),
        *(link for record in _until(stop, _lines(entries)) for link in record.get("files", ())),
    ]
    named = {link["url"] for link in links}
    ended = [line for line in _until(stop, _lines(lines)) if line["url"] in named]
    kept = {each["sha256"] for each in (*links, *ended) if each["sha256"] is not None}
    for present in contents.present():
        for name in unnamed(present, kept, time.time() - EVERY_SEC):
            if stop():  # also if reading was interrupted: then nothing may be removed
                return
            removed.freed_bytes += contents.drop(name)
            removed.files += 1
    for day in lines.days():
        if day < first_kept(today, 1) and not any(line["url"] in named for line in _until(stop, lines.read(day))):
            if stop():
                return
            lines.drop(day)


def _lines(lines: NdjsonFile[R]) -> Iterator[R]:
    return (record for day in lines.days() for record in lines.read(day))


def _raw(directory: Path, kept_since: date, removed: Removed, stop: Stop) -> None:
    old = raw_files.old_files(directory, kept_since)
    index = RawIndex(directory)
    stays = needed(map(_capture, _until(stop, index.refs())), kept_since) if old else set()
    for day, names in groupby(old, key=lambda name: name.partition("/")[0]):
        refs: dict[str, list[RawRef]] = {}
        for ref in index.refs(date.fromisoformat(day)):
            refs.setdefault(ref.file, []).append(ref)
        for name in names:
            if stop():  # also if reading was interrupted: then nothing may be removed
                return
            _file(directory, name, refs, stays, removed)
    raw_files.drop_empty_days(directory, kept_since)


def _file(directory: Path, name: str, by_file: Mapping[str, list[RawRef]], stays: set[str], removed: Removed) -> None:
    refs = by_file.get(name, [])
    kept = [ref for ref in refs if ref.fetch_id in stays]
    there = {ref.fetch_id for ref in by_file.get(raw_files.kept_name(name), ())}  # left by a kill before the last step
    if all(ref.fetch_id in there for ref in kept) or not (directory / name).is_file():
        removed.freed_bytes += raw_files.drop(directory, name)
        removed.files += 1
    elif len(kept) < len(refs) and not name.partition("/")[2].startswith(raw_files.KEPT):
        removed.freed_bytes += raw_files.keep_part(directory, name, min(ref.offset for ref in refs), kept)
        removed.reduced += 1


def _capture(ref: RawRef) -> Capture:
    return Capture(ref.fetched_at, ref.fetch_id, ref.feed_id, ref.refers_to.fetch_id if ref.refers_to else None)


def _until(stop: Stop, found: Iterator[T]) -> Iterator[T]:
    for number, each in enumerate(found):
        if number % 1000 == 0:
            if stop():
                return
            time.sleep(0.001)  # let the crawl's thread run first
        yield each
