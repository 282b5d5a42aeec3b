"""Every request and response as received: WARC files, each with an index file.

    raw/2026-11-27/20261127T230616Z-<machine>-<pid>-<random>.warc.gz
    raw/2026-11-27/20261127T230616Z-<machine>-<pid>-<random>.warc.gz.index.ndjson

Each run of a worker writes one file a day and never opens it again for writing. So a torn last record, which only a
crash of the machine leaves, damages nothing else. The file has its final name from the start, since references contain
the name. Readers may read while the file grows: a pair of records is written at once, and then added to the index.

When `append` returns, the kernel has the data, which then survives the death of the process; `durable` waits for the
disk as well. A file is synced when it is closed.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
import zlib
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, date, datetime
from threading import Lock
from typing import TYPE_CHECKING, Literal, TypedDict
from urllib.parse import urlsplit

from feedcrawl.domain.archive.warc import Captured, Exchange, Packed, pack, unpack, warcinfo
from feedcrawl.domain.dates import rfc3339
from feedcrawl.store.disk.files import (
    FILE_TOO_LARGE,
    DiskUnavailable,
    json_line,
    map_disk_errors,
    open_beneath,
    write_whole,
)
from feedcrawl.store.disk.raw_index import SUFFIX, RawIndex, RawRef

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Part = Literal["body", "request", "response"]

_UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_MAX_FILE_BYTES = 2**30
# Up to this size compression takes no longer than passing the work to a thread and back.
_INLINE_BYTES = 32 * 1024


class RawElsewhere(LookupError):
    """The file of a reference is missing: it is on another machine (`ref.machine`), or retention removed it."""

    def __init__(self, ref: RawRef) -> None:
        super().__init__(ref)
        self.ref = ref

    def __str__(self) -> str:
        return f"{self.ref.file} is not on this machine; it was written on {self.ref.machine}"


class BodyRef(TypedDict):
    """The place of a body: `key` is the file with the offset and the length of the record."""

    storage: Literal["localfs"]
    key: str


class FetchRecord(TypedDict):
    """A fetch: its headers by name (a list if a name repeats), and the place and properties of its body."""

    fetch_id: str
    feed_id: str | None
    uid: str | None
    fetched_at: str
    url: str
    http_status: int
    request_headers: dict[str, str | list[str]]
    response_headers: dict[str, str | list[str]]
    body_ref: BodyRef
    body_sha256: str
    content_type: str | list[str] | None
    content_length: int | None
    truncated: str | None
    outgoing: str | None
    machine: str


class RawStore:
    """The raw archive of one data directory; `software` is the writer's name (`feedcrawl/1.0`) in each file.

    Thread-safe; each process writes its own files. Methods may raise DiskUnavailable; a failed write leaves the archive
    as it was.
    """

    def __init__(
        self, directory: Path, *, software: str, durable: bool = False, max_file_bytes: int = _MAX_FILE_BYTES
    ) -> None:
        self.machine = socket.gethostname()
        self._directory = directory
        self._index = RawIndex(directory)
        self._software = software
        self._durable = durable
        self._max_file_bytes = max_file_bytes
        self._file: _WarcFile | None = None
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(1, "raw")

    def append(self, exchange: Exchange) -> RawRef:
        """Writes a request and its response; returns their reference. ValueError for a `fetch_id` that is no UUID."""
        if not _UUID.fullmatch(exchange.fetch_id):
            raise ValueError(f"{exchange.fetch_id} is not a UUID in its canonical form")
        packed = pack(exchange)
        with self._lock:
            file = self._current(exchange.fetched_at)
            try:
                with map_disk_errors(file.path):
                    return file.append(exchange, packed, durable=self._durable)
            except DiskUnavailable as error:  # if the file is at its size limit, the next file has room
                file.broken |= error.reason == FILE_TOO_LARGE and file.end > 0
                raise

    def append_async(self, exchange: Exchange) -> Future[RawRef]:
        """As `append`: a large body is written in a thread, a small one at once, and then the future is done."""
        if len(exchange.body) > _INLINE_BYTES:
            return self._pool.submit(self.append, exchange)
        future: Future[RawRef] = Future()
        try:
            future.set_result(self.append(exchange))
        except DiskUnavailable as error:
            future.set_exception(error)
        return future

    def close(self) -> None:
        """Finishes pending writes, syncs and closes the file. A closed store can still be read."""
        self._pool.shutdown()
        with self._lock:
            self._close_file()

    def refs(self, day: date | None = None) -> Iterator[RawRef]:
        """All references of a day, or of all days (newest first): for retention, and to rebuild an index."""
        return self._index.refs(day)

    def find(self, fetch_id: str, day: date | None = None) -> RawRef | None:
        """The reference of a fetch by the indexes on this disk, or None. ValueError for a `fetch_id` that is no
        UUID.
        """
        return self._index.find(fetch_id, day)

    def read(self, ref: RawRef, part: Part = "body") -> bytes:
        """The bytes of a part: `request` and `response` are whole HTTP messages, `body` is the body as received, still
        content-encoded; a body that was not written again is read from the earlier capture.

        Raises RawElsewhere, or DiskUnavailable with reason "damaged" if the record does not match the reference.
        """
        if part == "request":
            return self._message(ref, ref.offset + ref.length, ref.request_length)[1]
        fetch_id, message = self._message(ref, ref.offset, ref.length)
        if fetch_id != ref.fetch_id:
            raise DiskUnavailable(self._directory / ref.file, "damaged")
        if part == "response":
            return message
        if ref.refers_to and ref.status != 304:
            return self.read(self._original(ref, ref.refers_to))
        return message.partition(b"\r\n\r\n")[2]

    def record(self, ref: RawRef) -> FetchRecord:
        """The fetch as a record: its headers by name (a list if a name repeats), and the place and properties of its
        body.

        `body_sha256` is over the body as received; `content_length` is the declared value. Errors as in `read`.
        """
        headers = _http_headers(self.read(ref, "response"))
        by_name = {name.lower(): value for name, value in headers.items()}
        declared = str(by_name.get("content-length"))
        return {
            "fetch_id": ref.fetch_id,
            "feed_id": ref.feed_id,
            "uid": ref.uid,
            "fetched_at": rfc3339(ref.fetched_at),
            "url": ref.url,
            "http_status": ref.status,
            "request_headers": _http_headers(self.read(ref, "request")),
            "response_headers": headers,
            "body_ref": {"storage": "localfs", "key": f"{ref.file}#{ref.offset},{ref.length}"},
            "body_sha256": ref.payload_digest.removeprefix("sha256:"),
            "content_type": by_name.get("content-type"),
            "content_length": int(declared) if re.fullmatch(r"[0-9]{1,18}", declared) else None,
            "truncated": ref.truncated,
            "outgoing": ref.outgoing,
            "machine": ref.machine,
        }

    def _current(self, at: datetime) -> _WarcFile:
        """The file to write to. A fetch from before midnight goes into the new day's file if that is open."""
        file, at = self._file, at.astimezone(UTC)
        if file and at.date() <= file.day and file.end < self._max_file_bytes and not file.broken:
            return file
        self._close_file()
        machine = re.sub(r"[^A-Za-z0-9.-]", "_", self.machine)[:64]
        stem = f"{at:%Y%m%dT%H%M%SZ}-{machine}-{os.getpid()}-{secrets.token_hex(4)}"
        name = f"{at:%Y-%m-%d}/{stem}.warc.gz"
        with map_disk_errors(self._directory / name):
            self._file = file = _WarcFile(self._directory, name, self._lead(name, at), self.machine)
        return file

    def _lead(self, name: str, at: datetime) -> bytes:
        described = [
            ("software", self._software),
            ("hostname", self.machine),
            ("format", "WARC File Format 1.1"),
            ("conformsTo", "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"),
            ("description", "HTTP header names re-cased, transfer coding and reason phrase left out"),
        ]
        return warcinfo(described, filename=name.rpartition("/")[2], at=at)

    def _close_file(self) -> None:
        file, self._file = self._file, None
        if file:
            with map_disk_errors(file.path), closing(file):
                file.sync()

    def _original(self, ref: RawRef, to: Captured) -> RawRef:
        # The capture is almost always in a file of its own day; one fetched just before midnight may be in the next
        # day's.
        found = self.find(to.fetch_id, to.fetched_at.date()) or self.find(to.fetch_id)
        if found is None or found.refers_to:
            raise RawElsewhere(ref)
        return found

    def _message(self, ref: RawRef, offset: int, length: int) -> tuple[str, bytes]:
        """The fetch id and the HTTP message of the record at `offset`."""
        path = self._directory / ref.file
        with map_disk_errors(path):
            try:
                fd = open_beneath(self._directory, ref.file, os.O_RDONLY)
            except FileNotFoundError as error:
                raise RawElsewhere(ref) from error
            try:
                return unpack(os.pread(fd, length, offset))
            except (zlib.error, ValueError, KeyError) as error:
                raise DiskUnavailable(path, "damaged") from error
            finally:
                os.close(fd)


class _WarcFile:
    """A WARC file and its index, open for writing; `end` is the length of all complete records. Raises OSError."""

    def __init__(self, directory: Path, name: str, lead: bytes, machine: str) -> None:
        self.name, self.path = name, directory / name
        self.day = date.fromisoformat(name.partition("/")[0])
        self.end = self._index_end = 0
        self.broken = False
        # Written together with the first record, so that a full disk leaves no file with a header alone.
        self._lead = lead
        self._machine = machine
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL
        self._fd = open_beneath(directory, name, flags)
        try:
            self._index_fd = open_beneath(directory, name + SUFFIX, flags)
        except OSError:
            os.close(self._fd)
            self.path.unlink()  # the file is empty, and the next try creates another
            raise

    def append(self, exchange: Exchange, packed: Packed, *, durable: bool) -> RawRef:
        """Writes a pair of records and their line in the index; on an OSError neither is written."""
        lead = b"" if self.end else self._lead
        ref = self._ref(exchange, packed, self.end + len(lead))
        line = json_line(ref.as_json())
        try:
            write_whole(self._fd, lead + packed.response + packed.request, end=self.end)
            write_whole(self._index_fd, line, end=self._index_end)
            if durable:
                self.sync()
        except OSError:
            self._restore()
            raise
        self.end = ref.offset + ref.length + ref.request_length
        self._index_end += len(line)
        return ref

    def sync(self) -> None:
        """Waits until all written data is on disk."""
        os.fdatasync(self._fd)
        os.fdatasync(self._index_fd)

    def close(self) -> None:
        """Closes the descriptors."""
        os.close(self._fd)
        os.close(self._index_fd)

    def _restore(self) -> None:
        # If the file cannot be truncated, it ends in half a record, and readers would miss any record written after
        # that.
        try:
            os.ftruncate(self._fd, self.end)
            os.ftruncate(self._index_fd, self._index_end)
        except OSError:
            self.broken = True

    def _ref(self, exchange: Exchange, packed: Packed, offset: int) -> RawRef:
        return RawRef(
            fetch_id=exchange.fetch_id,
            feed_id=exchange.feed_id,
            uid=exchange.uid,
            host=urlsplit(exchange.url).hostname,
            url=exchange.url,
            fetched_at=exchange.fetched_at.astimezone(UTC),
            status=exchange.status,
            machine=self._machine,
            file=self.name,
            offset=offset,
            length=len(packed.response),
            request_length=len(packed.request),
            payload_digest=packed.payload_digest,
            truncated=exchange.truncated,
            refers_to=packed.refers_to,
            outgoing=exchange.outgoing,
        )


def _http_headers(head: bytes) -> dict[str, str | list[str]]:
    """The header fields of an HTTP message for JSON: a string, or a list if a name repeats."""
    fields: dict[str, list[str]] = {}
    for line in head.partition(b"\r\n\r\n")[0].split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        fields.setdefault(name.decode("ascii"), []).append(_text(value.strip()))
    return {name: values[0] if len(values) == 1 else values for name, values in fields.items()}


def _text(value: bytes) -> str:
    # RFC 9110, 5.5: fields were once ISO 8859-1; a value that is valid UTF-8 is very probably meant as UTF-8.
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
