"""Shared functions for all files of the data directory: open, append, replace, and translate errors.

No file name comes from the network, and no symbolic link inside the data directory is followed: paths are opened part
by part, each relative to the one before. (The path of the data directory itself may have links; the operator sets it.)
"""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import stat
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import TYPE_CHECKING

from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.errors import FeedcrawlError
from feedcrawl.domain.json_values import compact_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

FILE_TOO_LARGE = "file_too_large"
"""Reason code if the process or the file system limits the size of a file."""
_REASONS = {
    errno.ENOSPC: "disk_full",
    errno.EDQUOT: "disk_full",
    errno.EFBIG: FILE_TOO_LARGE,
    errno.EROFS: "read_only",
    errno.EACCES: "no_permission",
    errno.EPERM: "no_permission",
    errno.ELOOP: "symlink_refused",
    errno.EINVAL: "not_a_file",
    errno.ENXIO: "not_a_file",  # a pipe without a reader
    errno.EIO: "io_error",
    errno.EAGAIN: "locked",
    errno.EMFILE: "too_many_files",
    errno.ENFILE: "too_many_files",
}
NEARLY_FULL = "disk_nearly_full"
"""Reason code if the disk has less free space than the operator configured, while writing still works."""
PASSING = frozenset({"disk_full", NEARLY_FULL, FILE_TOO_LARGE, "io_error", "read_only", "too_many_files"})
"""Reason codes that concern the whole disk or process and are temporary; any other concerns one file."""
_PROBE_BYTES = 1 << 20
_SUFFIX = ".tmp"
_LEFT_OVER_SEC = 3600
# Legal inside a JSON string, but treated as line ends by readers that split text at Unicode line ends.
_LINE_ENDS = re.compile("[\x85\u2028\u2029]")
_PLAIN = frozenset({str, int, bool, type(None), list, dict})


class DiskUnavailable(FeedcrawlError):
    """A file could not be read or written. `reason` is the reason code (`disk_full`, `symlink_refused`, …), `state`
    what else is known of the disk.
    """

    def __init__(self, path: Path, reason: str, state: str = "") -> None:
        super().__init__(reason, f"{path}: {state}" if state else str(path))
        self.args = (path, reason, state)  # exceptions are copied and pickled by their args
        self.path = path
        self.reason = reason


@contextmanager
def map_disk_errors(path: Path) -> Iterator[None]:
    """Turns every OSError inside the block into DiskUnavailable(path, reason)."""
    try:
        yield
    except OSError as error:
        number = error.errno or 0
        reason = _REASONS.get(number) or errno.errorcode.get(number, "unknown").lower()
        raise DiskUnavailable(path, reason) from error


def open_beneath(root: Path, name: str, flags: int) -> int:
    """A descriptor of the regular file `name` (its parts separated by `/`) under `root`. Raises OSError.

    With O_CREAT missing directories are created. Links, devices, pipes, `..` and absolute names are refused.
    """
    with folder_beneath(root, name, create=bool(flags & os.O_CREAT)) as (at, last):
        return _open_file(last, flags, above=at)


@contextmanager
def folder_beneath(root: Path, name: str, *, create: bool) -> Iterator[tuple[int, str]]:
    """A descriptor of the folder of `name` under `root`, and the last part of the name. Raises OSError."""
    *folders, last = name.split("/")
    if any(part in {"", ".", ".."} for part in (*folders, last)):
        raise OSError(errno.EINVAL, "not a name under the data directory", name)
    if create:
        root.mkdir(mode=0o750, parents=True, exist_ok=True)
    at = _open_folder(root)
    try:
        for folder in folders:
            if create:
                with suppress(FileExistsError):
                    os.mkdir(folder, 0o750, dir_fd=at)
            above, at = at, _open_folder(folder, above=at)
            os.close(above)
        yield at, last
    finally:
        os.close(at)


def write_beneath(root: Path, name: str, data: bytes) -> None:
    """Writes the file `name` under `root`, wholly or not at all: written in `root`, synced, renamed. Raises OSError."""
    with folder_beneath(root, name, create=True) as (at, last), folder_beneath(root, "-", create=False) as (top, _):
        beside = f"{secrets.token_hex(8)}{_SUFFIX}"
        fd = _open_file(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, above=top)
        try:
            write_whole(fd, data, end=0)
            os.fsync(fd)
            os.rename(beside, last, src_dir_fd=top, dst_dir_fd=at)
        except OSError:
            os.unlink(beside, dir_fd=top)
            raise
        finally:
            os.close(fd)
        os.fsync(at)


def _open_folder(path: Path | str, *, above: int | None = None) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=above)
    except NotADirectoryError as error:
        # O_NOFOLLOW reports this error for a link to a directory; for a link to a file the error is ELOOP.
        if stat.S_ISLNK(os.stat(path, dir_fd=above, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, "symbolic link", str(path)) from error
        raise


def _open_file(name: str, flags: int, *, above: int) -> int:
    # O_NONBLOCK: if the name is a pipe, opening it must not wait for its other end.
    fd = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o640, dir_fd=above)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "not a regular file", name)
    return fd


def write_whole(fd: int, data: bytes, *, end: int) -> None:
    """Appends `data` to a file of `end` bytes, wholly or not at all: a partial write is cut off. Raises OSError."""
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
    except OSError:
        os.ftruncate(fd, end)
        raise


def write_anew(path: Path, chunks: Iterable[bytes]) -> None:
    """Replaces a file's content, wholly or not at all: written beside it, synced, renamed. Raises DiskUnavailable."""
    with map_disk_errors(path), _beside(path) as (fd, name):
        for chunk in chunks:
            write_whole(fd, chunk, end=os.fstat(fd).st_size)
        os.fsync(fd)
        name.replace(path)


def probe(directory: Path, *, beyond: Path | None = None) -> None:
    """Tests if a directory has room for a fetch: writes a file of 1 MiB and removes it. Raises DiskUnavailable.

    With `beyond`, tests if a file can grow past the size of that file. The test file has a hole up to that size, which
    takes no room.
    """
    with map_disk_errors(directory), _beside(directory / "probe") as (fd, _):
        end = beyond.stat().st_size if beyond is not None and beyond.exists() else 0
        os.lseek(fd, end, os.SEEK_SET)
        write_whole(fd, bytes(_PROBE_BYTES), end=0)
        os.fsync(fd)


def free_bytes(directory: Path) -> int:
    """Bytes free for this process on the directory's disk (if missing: its parent's). Raises DiskUnavailable."""
    there = next(each for each in (directory, *directory.absolute().parents) if each.exists())
    with map_disk_errors(directory):
        found = os.statvfs(there)
    return found.f_bavail * found.f_frsize


def sweep(root: Path, now: float) -> int:
    """Removes unfinished files that a kill left over an hour ago; returns their number. Raises DiskUnavailable."""
    count = 0
    with map_disk_errors(root):
        for folder in (root, *(each for each in root.glob("*") if each.is_dir() and not each.is_symlink())):
            for path in folder.glob(f"*{_SUFFIX}"):
                with suppress(FileNotFoundError):
                    if path.lstat().st_mtime < now - _LEFT_OVER_SEC:
                        path.unlink()
                        count += 1
    return count


@contextmanager
def _beside(path: Path) -> Iterator[tuple[int, Path]]:
    """A new temporary file beside `path`, removed afterwards unless it was renamed."""
    path.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
    name = path.with_name(f"{path.name}.{secrets.token_hex(4)}{_SUFFIX}")
    fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o640)
    try:
        yield fd, name
    finally:
        os.close(fd)
        name.unlink(missing_ok=True)


def json_line(record: Mapping[str, object]) -> bytes:
    """A record as one line of UTF-8 JSON, without characters that a reader could take for a line end.

    Datetimes are RFC 3339 in UTC; lone surrogates become U+FFFD. TypeError and ValueError (NaN) are bugs of the caller.
    """
    plain = _PLAIN.issuperset(map(type, record.values()))  # compact_json would write NaN, bytes and sets as well
    text = compact_json(record) if plain else _JSON.encode(record)
    if not text.isascii():
        text = _LINE_ENDS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode() + b"\n"


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return rfc3339(value, "auto")
    raise TypeError(f"{type(value).__name__} has no form in JSON")


_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)
