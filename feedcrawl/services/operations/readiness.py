"""Decides whether a crawl may go on: Redis is sound and is still the same server, and the disk accepts writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from feedcrawl.store.disk.files import FILE_TOO_LARGE, NEARLY_FULL, PASSING, DiskUnavailable, free_bytes, probe
from feedcrawl.store.redis.connection import check_server
from feedcrawl.store.redis.errors import ServerRefused, StoreUnavailable

if TYPE_CHECKING:
    from pathlib import Path

    from feedcrawl.store.redis.client import Client
    from feedcrawl.store.redis.generation import Generation

Trouble = StoreUnavailable | DiskUnavailable | ServerRefused
"""A fault that keeps a crawl from taking more work; its `code` is the reason, its `detail` the remedy."""

FINAL: Final = frozenset({"emptied", "another_server"})
"""Faults that do not pass: any further write would go to the wrong server."""
_UNSOUND: Final = frozenset({"no_aof", "evicts"})
"""Faults that are checked at the start and may appear later. A server that does not respond is noticed by its
callers.
"""

FOLDERS: Final = ("raw", "articles", "entries", "files", "redis")
"""Folders of the data directory; each may be on a disk of its own."""


def passes(error: BaseException | None) -> bool:
    """True if an error is an outage of the store or of the whole disk, which ends by itself and is no task's
    fault.
    """
    return isinstance(error, StoreUnavailable) or (isinstance(error, DiskUnavailable) and error.reason in PASSING)


class Readiness:
    """The last result of the checks, and the checks themselves. `check` and `same_server` never raise."""

    def __init__(
        self, client: Client, generation: Generation, data_dir: Path, *, unsafe: bool, min_free_bytes: int = 0
    ) -> None:
        self._client = client
        self._generation = generation
        self._data_dir = data_dir
        self._unsafe = unsafe
        self._min_free_bytes = min_free_bytes
        self._server: ServerRefused | None = None
        self._disk: DiskUnavailable | None = None

    @property
    def trouble(self) -> Trouble | None:
        """The reason why no more work is taken now; None if work may be taken."""
        return self._server or self._disk

    def check(self) -> None:
        """Check the server and the free space of the disk, and after a failure whether the disk works again. Runs
        in a thread.
        """
        self._check_server()
        self._check_disk()

    def same_server(self) -> bool:
        """True if the server still has its data; one round trip."""
        try:
            self._generation.check()
        except ServerRefused as refused:
            self._server = refused
        except (StoreUnavailable, DiskUnavailable):
            return False
        return self._server is None

    def note(self, error: BaseException | None) -> None:
        """Note a failure: if the disk caused it, no more work is taken until the disk works again."""
        if isinstance(error, DiskUnavailable) and passes(error):
            self._disk = error

    def _check_server(self) -> None:
        try:
            check_server(self._client, unsafe=self._unsafe)
            self._generation.settle()
        except ServerRefused as refused:
            self._server = refused if refused.code in FINAL | _UNSOUND else self._server
        except StoreUnavailable:
            return
        except DiskUnavailable as error:
            self.note(error)
        else:
            self._server = None

    def _check_disk(self) -> None:
        found = self._disk
        try:
            if found is not None and found.reason != NEARLY_FULL:
                probe(self._folder(found.path), beyond=found.path if found.reason == FILE_TOO_LARGE else None)
            self._check_room()
        except DiskUnavailable as error:
            self._disk = error if passes(error) or found is not None else None
        else:
            if self._disk is found:  # and there was no other failure meanwhile
                self._disk = None

    def _check_room(self) -> None:
        """Raise DiskUnavailable if the data directory, or a folder of it (perhaps on a disk of its own), is
        nearly full.
        """
        for folder in (self._data_dir, *(self._data_dir / name for name in FOLDERS)):
            if self._min_free_bytes and (free := free_bytes(folder)) < self._min_free_bytes:
                state = f"{free >> 20} MiB free, FEEDCRAWL_MIN_FREE_BYTES is {self._min_free_bytes >> 20} MiB"
                raise DiskUnavailable(folder, NEARLY_FULL, state)

    def _folder(self, path: Path) -> Path:
        """The folder of the data directory that contains a file: each folder may be on a disk of its own."""
        inside = path.relative_to(self._data_dir).parts if path.is_relative_to(self._data_dir) else ()
        return self._data_dir / inside[0] if len(inside) > 1 else self._data_dir
