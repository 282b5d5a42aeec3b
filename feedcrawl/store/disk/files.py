"""What all files of the data directory share: how they are opened, appended to, and fail.

No name in here comes from the wire, and no symbolic link inside the data directory is followed: the directory is opened
part by part, each relative to the one before. (The data directory itself may be reached through links; it is the
operator's.)
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

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

FILE_TOO_LARGE = "file_too_large"
"""The reason where the process or the file system limits how long one file may be."""
_REASONS = {
    errno.ENOSPC: "disk_full",
    errno.EDQUOT: "disk_full",
    errno.EFBIG: FILE_TOO_LARGE,
    errno.EROFS: "read_only",
    errno.EACCES: "no_permission",
    errno.EPERM: "no_permission",
    errno.ELOOP: "symlink_refused",
    errno.EINVAL: "not_a_file",
    errno.ENXIO: "not_a_file",  # a pipe that nobody reads
    errno.EIO: "io_error",
    errno.EAGAIN: "locked",
    errno.EMFILE: "too_many_files",
    errno.ENFILE: "too_many_files",
}
NEARLY_FULL = "disk_nearly_full"
"""The reason where a disk has less room than the operator wants to be left, and everything can still be written."""
PASSING = frozenset({"disk_full", NEARLY_FULL, FILE_TOO_LARGE, "io_error", "read_only", "too_many_files"})
"""Reasons that concern the whole disk or process, and that pass; any other is one file's own."""
_PROBE_BYTES = 1 << 20
_SUFFIX = ".tmp"
_LEFT_OVER_SEC = 3600
# Legal inside a JSON string, but line ends for readers that split text into lines as Unicode does.
_LINE_ENDS = re.compile("[\x85\u2028\u2029]")


class DiskUnavailable(FeedcrawlError):
    """A file that could not be read or written. `reason` is the code (`disk_full`, `symlink_refused`, …)."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(reason, str(path))
        self.args = (path, reason)  # an exception is copied and pickled by its args
        self.path = path
        self.reason = reason


@contextmanager
def map_disk_errors(path: Path) -> Iterator[None]:
    """Every OSError inside becomes DiskUnavailable(path, reason)."""
    try:
        yield
    except OSError as error:
        number = error.errno or 0
        reason = _REASONS.get(number) or errno.errorcode.get(number, "unknown").lower()
        raise DiskUnavailable(path, reason) from error


def open_beneath(root: Path, name: str, flags: int) -> int:
    """A descriptor of the regular file `name` (its parts separated by `/`) under `root`. Raises OSError.

    With O_CREAT missing directories are made. Links, devices, pipes, `..` and absolute names are refused.
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
    """The file `name` under `root` with this content, or none: written into `root`, synced, put in place. OSError."""
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
        # What O_NOFOLLOW makes of a link to a directory; for a file it is ELOOP.
        if stat.S_ISLNK(os.stat(path, dir_fd=above, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, "symbolic link", str(path)) from error
        raise


def _open_file(name: str, flags: int, *, above: int) -> int:
    # O_NONBLOCK: opening a pipe that somebody put here must not wait for its other end.
    fd = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o640, dir_fd=above)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "not a regular file", name)
    return fd


def write_whole(fd: int, data: bytes, *, end: int) -> None:
    """Append `data` to a file of `end` bytes, all of it or none: what a full disk cut short is taken back."""
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
    except OSError:
        os.ftruncate(fd, end)
        raise


def write_anew(path: Path, chunks: Iterable[bytes]) -> None:
    """The file with this content, or as it was: written beside it, synced, and put in its place. DiskUnavailable."""
    with map_disk_errors(path), _beside(path) as (fd, name):
        for chunk in chunks:
            write_whole(fd, chunk, end=os.fstat(fd).st_size)
        os.fsync(fd)
        name.replace(path)


def probe(directory: Path, *, beyond: Path | None = None) -> None:
    """Whether a directory takes what a fetch may bring: writes so much, and takes it away. DiskUnavailable.

    `beyond` a file: whether one that is as large takes it. What the probe has before that is a hole and takes no room.
    """
    with map_disk_errors(directory), _beside(directory / "probe") as (fd, _):
        end = beyond.stat().st_size if beyond is not None and beyond.exists() else 0
        os.lseek(fd, end, os.SEEK_SET)
        write_whole(fd, bytes(_PROBE_BYTES), end=0)
        os.fsync(fd)


def free_bytes(directory: Path) -> int:
    """The room left for this process on a directory's disk (a parent's, if it is not there yet). DiskUnavailable."""
    there = next(each for each in (directory, *directory.absolute().parents) if each.exists())
    with map_disk_errors(directory):
        found = os.statvfs(there)
    return found.f_bavail * found.f_frsize


def sweep(root: Path, now: float) -> int:
    """Removes what a kill left of files that were being written, an hour later; answers how many. DiskUnavailable."""
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
    """A new file beside `path`, gone afterwards unless it was given another name."""
    path.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
    name = path.with_name(f"{path.name}.{secrets.token_hex(4)}{_SUFFIX}")
    fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o640)
    try:
        yield fd, name
    finally:
        os.close(fd)
        name.unlink(missing_ok=True)


def json_line(record: Mapping[str, object]) -> bytes:
    """One record as one line of UTF-8 JSON that no reader splits.

    Datetimes are RFC 3339 in UTC; lone surrogates become U+FFFD. TypeError and ValueError (NaN) are bugs of the caller.
    """
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)
    text = _LINE_ENDS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode() + b"\n"


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return rfc3339(value, "auto")
    raise TypeError(f"{type(value).__name__} has no form in JSON")
