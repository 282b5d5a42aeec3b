"""The embedded index: a folder with one complete file that is searched, and for a time a newer one that is being built.

`current` names the complete file. A new file takes its place by one rename, so that readers in any process have either
the whole old index or the whole new one. One process writes, the one that holds the lock of the folder.
"""

from __future__ import annotations

import fcntl
import os
import re
import threading
from typing import TYPE_CHECKING, Final

from feedcrawl.hints import program
from feedcrawl.store.disk.files import map_disk_errors
from feedcrawl.store.search.interface import DAMAGED, MISSING, IndexUnavailable
from feedcrawl.store.search.sqlite import IndexFile

if TYPE_CHECKING:
    from pathlib import Path

    from feedcrawl.domain.search.documents import Filters, RawContentRecord
    from feedcrawl.domain.search.query import Query

INDEX_FOLDER: Final = "search"
_NAME: Final = re.compile(r"index-([0-9]{1,9})\.sqlite")
_PARTS: Final = ("", "-wal", "-shm")


class EmbeddedIndex:
    """The index in one folder. Methods may raise IndexUnavailable, those of the writer DiskUnavailable too."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shown: IndexFile | None = None
        self._written: IndexFile | None = None
        self._lock_fd: int | None = None
        self._opening = threading.Lock()

    # --- readers ---

    def search(self, query: Query, filters: Filters, *, limit: int, offset: int = 0) -> list[RawContentRecord]:
        """The best matches; a file that turns out to be damaged is built again by the writer."""
        try:
            return self._current().search(query, filters, limit=limit, offset=offset)
        except IndexUnavailable as error:
            if error.code == DAMAGED:
                self.request_rebuild()
            raise

    def count(self) -> int:
        """The number of documents."""
        return self._current().count()

    def cursor(self) -> str:
        """The stream id of the last event in the index; "0" before the first."""
        return self._current().note("cursor") or "0"

    def _current(self) -> IndexFile:
        path = self._path()
        with self._opening:
            if self._shown is None or self._shown.path != path:
                found = IndexFile(path)
                if not found.is_current():
                    found.close()
                    self.request_rebuild()
                    raise IndexUnavailable(DAMAGED, f"{path} is damaged or of another version: it is built again")
                if self._shown is not None:
                    self._shown.close()
                self._shown = found
            return self._shown

    def _path(self) -> Path:
        """The complete file; raises IndexUnavailable (`index_missing`)."""
        try:
            name = (self._folder / "current").read_text("ascii", "replace").strip()
        except OSError:
            name = ""
        if not _NAME.fullmatch(name) or not (self._folder / name).exists():
            ours = program()
            detail = f"no search index is complete yet: a crawl, `{ours} api` and `{ours} index` build one"
            raise IndexUnavailable(MISSING, detail)
        return self._folder / name

    # --- the writer ---

    def lock(self) -> bool:
        """True if this process is the writer from now on, or was already."""
        if self._lock_fd is not None:
            return True
        with map_disk_errors(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                return False
        self._lock_fd = descriptor
        return True

    def unlock(self) -> None:
        """Lets another process write."""
        self._close_written()
        if self._lock_fd is not None:
            os.close(self._lock_fd)
            self._lock_fd = None

    def writable(self) -> IndexFile | None:
        """The complete file; None if there is none that can be used, or if it is to be built again."""
        if self._request.exists():
            return None
        try:
            path = self._path()
        except IndexUnavailable:
            return None
        return self._open(path)

    def building(self) -> IndexFile:
        """The file that is being built, begun by this process or an earlier one."""
        names = self._numbers()
        current = self._number(self._path_or_none())
        newer = [number for number in names if number > current]
        if newer and (found := self._open(self._file(newer[-1]))):
            return found
        self._drop(keep=current)
        number = max([current, *names]) + 1
        made = IndexFile(self._file(number))
        made.create()
        self._written = made
        return made

    def complete(self, built: IndexFile) -> None:
        """Makes a built file the one that is searched, and removes the others."""
        with map_disk_errors(self._folder):
            name = self._folder / "current.new"
            name.write_text(built.path.name, "ascii")
            name.replace(self._folder / "current")
            self._request.unlink(missing_ok=True)
        self._drop(keep=self._number(built.path))

    def request_rebuild(self) -> None:
        """Requests that the writer, in whichever process, builds the index again.

        Until then the present file is searched.
        """
        with map_disk_errors(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            self._request.touch()

    @property
    def _request(self) -> Path:
        return self._folder / "rebuild"

    def _open(self, path: Path) -> IndexFile | None:
        if self._written is None or self._written.path != path:
            found = IndexFile(path)
            if not found.is_current():
                found.close()
                return None
            self._close_written()
            self._written = found
        return self._written

    def _close_written(self) -> None:
        if self._written is not None:
            self._written.close()
            self._written = None

    def discard(self) -> None:
        """Removes the file that is being built, since it is damaged."""
        self._close_written()
        self._drop(keep=self._number(self._path_or_none()))

    def _drop(self, *, keep: int) -> None:
        for number in self._numbers():
            if number != keep:
                if self._written is not None and self._written.path == self._file(number):
                    self._close_written()
                with map_disk_errors(self._folder):
                    for part in _PARTS:
                        self._file(number).with_name(f"{self._file(number).name}{part}").unlink(missing_ok=True)

    def _path_or_none(self) -> Path | None:
        try:
            return self._path()
        except IndexUnavailable:
            return None

    def _numbers(self) -> list[int]:
        with map_disk_errors(self._folder):
            return sorted(int(found[1]) for each in os.scandir(self._folder) if (found := _NAME.fullmatch(each.name)))

    def _number(self, path: Path | None) -> int:
        found = None if path is None else _NAME.fullmatch(path.name)
        return int(found[1]) if found else 0

    def _file(self, number: int) -> Path:
        return self._folder / f"index-{number}.sqlite"

    def close(self) -> None:
        """Closes the files, and lets another process write."""
        self.unlock()
        with self._opening:
            if self._shown is not None:
                self._shown.close()
                self._shown = None
