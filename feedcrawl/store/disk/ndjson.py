"""Records as lines of JSON, one file for each day: `entries/2026-11-27.ndjson`, `articles/2026-11-27.ndjson`.

Several processes may append to a file. After a kill the last line may be torn until the next append removes it,
and a line may be repeated (the last one counts).
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from datetime import date
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar, cast

from feedcrawl.store.disk.files import json_line, map_disk_errors, open_beneath, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

LOCK_SEC = 0.5
"""Longest wait for the lock before the task is given back; short, because the event loop is blocked meanwhile."""
_POLL_SEC = 0.005
_BLOCK = 65_536
_PART = 4 << 20
_FILE = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])\.ndjson")


R = TypeVar("R", bound="Mapping[str, object]")


class Part(NamedTuple, Generic[R]):
    """A part of a day's file, up to offset `end`: the matching records, each with the offset after its line."""

    end: int
    records: Iterator[tuple[int, R]]


class NdjsonFile(Generic[R]):
    """The daily files of one directory, whose lines are records of one kind. Methods may raise DiskUnavailable.

    With `durable` each append waits until the data is on disk, so that it survives power loss and not only a kill.
    """

    def __init__(self, directory: Path, *, durable: bool = False) -> None:
        self._directory = directory
        self._durable = durable

    def append(self, day: date, *records: Mapping[str, object]) -> None:
        """Appends records to the file of a day (UTC), one line each, all of them or none."""
        lines = b"".join(json_line(record) for record in records)
        name = _name(day)
        with map_disk_errors(self._directory / name):
            fd = open_beneath(self._directory, name, os.O_RDWR | os.O_APPEND | os.O_CREAT)
            try:
                self._append(fd, lines)
            finally:
                os.close(fd)

    def _append(self, fd: int, lines: bytes) -> None:
        _lock(fd)
        size = os.fstat(fd).st_size
        end = _whole(fd, size)
        if end < size:
            os.ftruncate(fd, end)
        write_whole(fd, lines, end=end)
        if self._durable:
            os.fdatasync(fd)

    def read(self, day: date) -> Iterator[R]:
        """The records of a day, oldest first; torn lines are skipped, and a day without a file has no records."""
        name = _name(day)
        with map_disk_errors(self._directory / name):
            try:
                fd = open_beneath(self._directory, name, os.O_RDONLY)
            except FileNotFoundError:
                return
            with os.fdopen(fd, "rb") as lines:
                yield from (record for record in map(self._parsed, lines) if record is not None)

    def recent(self, text: str, limit_bytes: int) -> list[R]:
        """The records whose line has `text`, newest first, from the last `limit_bytes` bytes of all days."""
        found: list[R] = []
        for day in reversed(self.days()):
            tail = self._block(day, max(0, self.size(day) - limit_bytes), limit_bytes)  # may begin within a line
            limit_bytes -= len(tail)
            records = map(self._parsed, _lines_with(tail, text.encode()))
            found += reversed([record for record in records if record is not None])
            if limit_bytes <= 0:
                break
        return found

    def size(self, day: date) -> int:
        """The bytes in the file of a day; 0 if there is no file."""
        path = self._directory / _name(day)
        with map_disk_errors(path):
            return path.stat().st_size if path.exists() else 0

    def with_text(self, day: date, text: str, start: int = 0) -> Iterator[R]:
        """The records of a day whose line has `text`, from offset `start` on, oldest first."""
        while part := self.part(day, start, _PART, text.encode()):
            yield from (record for _, record in part.records)
            start = part.end

    def part(self, day: date, start: int, size: int, text: bytes = b"") -> Part[R] | None:
        """The records in about `size` bytes of a day's file, from `start` on; None if no complete line follows.

        Only complete lines are read, and only records whose line has `text` are returned. `start` is 0 or the end of a
        line.
        """
        block = self._block(day, start, size)
        whole = block[: block.rfind(b"\n") + 1]
        if not whole:
            return self.part(day, start, 8 * size, text) if len(block) == size else None
        return Part(start + len(whole), self._numbered(whole, start, text))

    def _numbered(self, block: bytes, start: int, text: bytes) -> Iterator[tuple[int, R]]:
        """The records whose line has `text`, each with the offset of the end of its line."""
        at = block.find(text) if block else -1
        while 0 <= at < len(block):
            end = block.find(b"\n", at) + 1
            record = self._parsed(block[block.rfind(b"\n", 0, at) + 1 : end])
            if record is not None:
                yield start + end, record
            at = block.find(text, end)

    @staticmethod
    def _parsed(line: bytes) -> R | None:
        try:
            record = json.loads(line)
        except ValueError:
            return None
        return cast("R", record) if isinstance(record, dict) else None

    def _block(self, day: date, start: int, size: int) -> bytes:
        with map_disk_errors(self._directory / _name(day)):
            try:
                fd = open_beneath(self._directory, _name(day), os.O_RDONLY)
            except FileNotFoundError:
                return b""
            try:
                return os.pread(fd, size, start)
            finally:
                os.close(fd)

    def days(self) -> list[date]:
        """The days that have a file, oldest first."""
        with map_disk_errors(self._directory):
            try:
                names = [entry.name for entry in os.scandir(self._directory)]
            except FileNotFoundError:
                return []
        return sorted(date.fromisoformat(name[:10]) for name in names if _FILE.fullmatch(name))

    def drop_before(self, day: date) -> int:
        """Removes the files of earlier days; returns their number."""
        old = [each for each in self.days() if each < day]
        for each in old:
            self.drop(each)
        return len(old)

    def drop(self, day: date) -> None:
        """Removes the file of a day."""
        path = self._directory / _name(day)
        with map_disk_errors(path):
            path.unlink(missing_ok=True)


def _lock(fd: int) -> None:
    """Locks the file for this writer. The wait is limited: a writer that hangs must not block all others."""
    until = time.monotonic() + LOCK_SEC
    while True:
        try:
            return fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise
        time.sleep(_POLL_SEC)


def _name(day: date) -> str:
    return f"{day:%Y-%m-%d}.ndjson"


def _whole(fd: int, size: int) -> int:
    """The size without a torn last line, since some readers stop at a torn line."""
    end, step = size, 1
    while end > 0:
        start = max(0, end - step)
        last = os.pread(fd, end - start, start).rfind(b"\n")
        if last >= 0:
            return start + last + 1
        end, step = start, _BLOCK
    return 0


def _lines_with(block: bytes, text: bytes) -> Iterator[bytes]:
    at = block.find(text)
    while at >= 0:
        end = block.find(b"\n", at)
        yield block[block.rfind(b"\n", 0, at) + 1 : end if end >= 0 else None]
        at = block.find(text, end) if end >= 0 else -1
