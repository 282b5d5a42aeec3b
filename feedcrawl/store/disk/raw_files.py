"""The files of the archive: lists them, and removes old ones, completely or except for exchanges that must be kept.

A kill may come after any step. So an index is removed before its WARC, and never refers to a missing file; a WARC
without an index is removed the next time. A kept part is written under its new name, with its index, before the old
file is removed.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from feedcrawl.store.disk.files import json_line, map_disk_errors, open_beneath, write_anew
from feedcrawl.store.disk.raw_index import DAY, SUFFIX, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date
    from pathlib import Path

    from feedcrawl.store.disk.raw_index import RawRef

KEPT: Final = "kept-"
"""Prefix of the name of a kept part of a file. A kept part is not reduced again."""
_WARC: Final = ".warc.gz"


def old_files(directory: Path, before: date) -> list[str]:
    """The names (`2026-11-27/….warc.gz`) of files of earlier days, oldest day first, in each day the kept parts
    first; a file's WARC or index may be missing.
    """
    with map_disk_errors(directory):
        return [
            f"{day}/{name}"
            for day in _old_days(directory, before)
            for name in sorted({each.removesuffix(SUFFIX) for each in listed(directory / day)}, reverse=True)
            if name.endswith(_WARC)
        ]


def day_sizes(directory: Path) -> dict[str, int]:
    """The bytes of each day's files (`2026-11-27`), without kept parts (`kept-…`)."""
    sizes = {}
    with map_disk_errors(directory):
        for day in filter(DAY.fullmatch, listed(directory)):
            paths = [directory / day / name for name in listed(directory / day) if not name.startswith(KEPT)]
            sizes[day] = sum(path.stat(follow_symlinks=False).st_size for path in paths if path.exists())
    return sizes


def drop_empty_days(directory: Path, before: date) -> None:
    """Removes the empty folders of earlier days."""
    with map_disk_errors(directory):
        for day in _old_days(directory, before):
            if not any((directory / day).iterdir()):
                (directory / day).rmdir()


def _old_days(directory: Path, before: date) -> list[str]:
    return sorted(name for name in listed(directory) if DAY.fullmatch(name) and name < f"{before:%Y-%m-%d}")


def kept_name(name: str) -> str:
    """The name of the kept part of a file."""
    day, _, own = name.partition("/")
    return f"{day}/{KEPT}{own}"


def drop(directory: Path, name: str) -> int:
    """Removes a file and its index; returns the bytes freed."""
    path = directory / name
    freed = 0
    with map_disk_errors(path):
        for each in (path.with_name(path.name + SUFFIX), path):
            try:
                freed += each.stat(follow_symlinks=False).st_size
                each.unlink()
            except FileNotFoundError:
                continue
    return freed


def keep_part(directory: Path, name: str, first: int, refs: Sequence[RawRef]) -> int:
    """Reduces a file to its first `first` bytes and the exchanges `refs`; returns the bytes freed."""
    kept = kept_name(name)
    moved, at = [], first
    for ref in refs:
        moved.append(replace(ref, file=kept, offset=at))
        at += ref.length + ref.request_length
    write_anew(directory / kept, _pieces(directory, name, first, refs))
    write_anew(directory / f"{kept}{SUFFIX}", (json_line(ref.as_json()) for ref in moved))
    return drop(directory, name) - at


def _pieces(directory: Path, name: str, first: int, refs: Sequence[RawRef]) -> Iterator[bytes]:
    fd = open_beneath(directory, name, os.O_RDONLY)
    try:
        yield os.pread(fd, first, 0)
        for ref in refs:  # each record is a gzip member of its own; a request's record follows its response's
            yield os.pread(fd, ref.length + ref.request_length, ref.offset)
    finally:
        os.close(fd)
