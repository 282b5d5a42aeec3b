"""The index of each WARC file: one line of JSON for each exchange, so that an exchange is found without reading
the WARC, even after Redis has lost its data.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Self
from uuid import UUID

from feedcrawl.domain.archive.warc import Captured
from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.json_values import known_fields
from feedcrawl.store.disk.files import map_disk_errors, open_beneath

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import date
    from pathlib import Path

SUFFIX = ".index.ndjson"
DAY = re.compile(r"\d{4}-\d\d-\d\d")
"""The name of the folder of a day."""


@dataclass(frozen=True, slots=True)
class RawRef:
    """The place of one exchange in the archive.

    `file` is relative to the store's directory, on `machine`; the response record has `length` bytes from `offset`, the
    request record `request_length` bytes after it. `host` is the URL's host. `refers_to` is set for a revisit: the
    earlier capture with the bytes that were not written again. `outgoing`: the local address or proxy of the request.
    """

    fetch_id: str
    feed_id: str | None
    uid: str | None
    host: str | None
    url: str
    fetched_at: datetime
    status: int
    machine: str
    file: str
    offset: int
    length: int
    request_length: int
    payload_digest: str
    truncated: str | None = None
    refers_to: Captured | None = None
    outgoing: str | None = None

    @property
    def source(self) -> dict[str, str] | None:
        """The last full capture of the payload, as JSON: store it, and pass it as `previous` when this URL is archived
        again.

        None if this exchange has no full capture (an error, a body cut off, a 304 without an earlier capture): keep the
        previous value.
        """
        if self.refers_to:
            return self.refers_to.as_json()
        if self.truncated or not 200 <= self.status < 300:
            return None
        return Captured(self.fetch_id, self.url, self.fetched_at, self.payload_digest).as_json()

    def as_json(self) -> dict[str, object]:
        """The fields as the index has them, in plain values."""
        # Not asdict(): its deep copies take a quarter of the time for archiving a 304.
        known = {name: getattr(self, name) for name in _NAMES}
        known["fetched_at"] = rfc3339(self.fetched_at, "auto")
        return {**known, "refers_to": self.refers_to.as_json()} if self.refers_to else known

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> Self:
        """The reference from the parsed JSON of `as_json`. KeyError, TypeError or ValueError if malformed."""
        known = known_fields(cls, value)
        known["fetched_at"] = datetime.fromisoformat(known["fetched_at"])
        known["refers_to"] = Captured.from_json(known["refers_to"]) if known["refers_to"] else None
        return cls(**known)


_NAMES = tuple(field.name for field in fields(RawRef))


class RawIndex:
    """Reads the index files under one directory. Methods may raise DiskUnavailable."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def refs(self, day: date | None = None) -> Iterator[RawRef]:
        """All references of a day, or of all days: newest day first, and within a file oldest first."""
        return filter(None, map(_parsed, self._lines(day)))

    def find(self, fetch_id: str, day: date | None = None) -> RawRef | None:
        """The reference of a fetch, or None; with `day` only that day's files are read. ValueError if it is no UUID."""
        # The id is the first field of a line, so that other lines need not be parsed.
        start = f'{{"fetch_id":"{UUID(fetch_id)}"'.encode()
        return next(filter(None, (_parsed(line) for line in self._lines(day) if line.startswith(start))), None)

    def _lines(self, day: date | None) -> Iterator[bytes]:
        for name in self._files(day):
            with map_disk_errors(self._directory / name):
                try:
                    fd = open_beneath(self._directory, name, os.O_RDONLY)
                except FileNotFoundError:  # retention has removed the file meanwhile
                    continue
                with os.fdopen(fd, "rb") as lines:
                    yield from lines

    def _files(self, day: date | None) -> list[str]:
        with map_disk_errors(self._directory):
            days = [f"{day:%Y-%m-%d}"] if day else sorted(filter(DAY.fullmatch, listed(self._directory)), reverse=True)
            return [
                f"{at}/{name}"
                for at in days
                for name in sorted(listed(self._directory / at), reverse=True)
                if name.endswith(SUFFIX)
            ]


def listed(directory: Path) -> list[str]:
    """The names in a folder except symbolic links, in no order; none if there is no such folder. Raises OSError."""
    try:
        with os.scandir(directory) as found:
            return [entry.name for entry in found if not entry.is_symlink()]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _parsed(line: bytes) -> RawRef | None:
    """The reference of a line; None if the line was torn."""
    try:
        return RawRef.from_json(json.loads(line))
    except (ValueError, TypeError, KeyError):
        return None
