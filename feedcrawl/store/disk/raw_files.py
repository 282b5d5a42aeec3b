"""The files of the archive as a whole: which there are, and how old ones go, alone or but for what must stay.

Each step may be the last one: an index goes before its WARC, so that it never names what is gone, and a WARC without
one goes the next time; a part that stays is there under its new name, index and all, before the old one goes.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from feedcrawl.store.disk.files import json_line, map_disk_errors, open_beneath, write_anew
from feedcrawl.store.disk.raw_index import SUFFIX

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date
    from pathlib import Path

    from feedcrawl.store.disk.raw_index import RawRef

KEPT: Final = "kept-"
"""Begins the name of what is left of a file. It is not made smaller again."""
_WARC: Final = ".warc.gz"
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")


def old_files(directory: Path, before: date) -> list[str]:
    """The names (`2026-11-27/….warc.gz`) of files of earlier days, oldest day first, in each day what is left of others
    first; one may lack its WARC or its index.
    """
    with map_disk_errors(directory):
        return [
            f"{day}/{name}"
            for day in _old_days(directory, before)
            for name in sorted({each.removesuffix(SUFFIX) for each in _listed(directory / day)}, reverse=True)
            if name.endswith(_WARC)
        ]


def day_sizes(directory: Path) -> dict[str, int]:
    """The bytes of each day's files (`2026-11-27`), without what is left of files that went (`kept-…`)."""
    sizes = {}
    with map_disk_errors(directory):
        for day in filter(_DAY.fullmatch, _listed(directory)):
            paths = [directory / day / name for name in _listed(directory / day) if not name.startswith(KEPT)]
            sizes[day] = sum(path.stat(follow_symlinks=False).st_size for path in paths if path.exists())
    return sizes


def drop_empty_days(directory: Path, before: date) -> None:
    """Removes the folders of earlier days in which nothing is left."""
    with map_disk_errors(directory):
        for day in _old_days(directory, before):
            if not any((directory / day).iterdir()):
                (directory / day).rmdir()


def _old_days(directory: Path, before: date) -> list[str]:
    return sorted(name for name in _listed(directory) if _DAY.fullmatch(name) and name < f"{before:%Y-%m-%d}")


def _listed(directory: Path) -> list[str]:
    try:
        with os.scandir(directory) as found:
            return [entry.name for entry in found if not entry.is_symlink()]
    except (FileNotFoundError, NotADirectoryError):
        return []


def kept_name(name: str) -> str:
    """How what is left of a file is called."""
    day, _, own = name.partition("/")
    return f"{day}/{KEPT}{own}"


def drop(directory: Path, name: str) -> int:
    """Removes a file and its index; the bytes that were freed."""
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
    """Leaves of a file its beginning, which is `first` bytes, and these exchanges; the bytes that were freed."""
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
        for ref in refs:  # each record is a gzip member of its own, the request's after the response's
            yield os.pread(fd, ref.length + ref.request_length, ref.offset)
    finally:
        os.close(fd)
