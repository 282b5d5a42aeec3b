"""Media files: their content in `files/<aa>/<sha256><ending>`, written once, and the record of each URL."""

from __future__ import annotations

import hashlib
import json
import os
import socket
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.articles.files import path_of
from feedcrawl.domain.frontier.shards import shard_of
from feedcrawl.store.disk.files import map_disk_errors, open_beneath, write_beneath
from feedcrawl.store.redis import keys
from feedcrawl.store.redis.connection import get_each

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from feedcrawl.domain.articles.files import KnownState
    from feedcrawl.store.redis.client import Client

FILES_FOLDER: Final = "files"
_HEX: Final = "0123456789abcdef"


class FileContents:
    """The content of media files, by the name that `keep` returned. Every method may raise DiskUnavailable."""

    def __init__(self, data_dir: Path) -> None:
        self._directory = data_dir / FILES_FOLDER

    def keep(self, body: bytes, extension: str) -> tuple[str, str]:
        """Writes the content unless already stored; returns its sha256 and its name. No reader sees a partial file."""
        sha256 = hashlib.sha256(body).hexdigest()
        name = path_of(sha256, extension)
        if not self.touch(name):
            with map_disk_errors(self._directory / name):
                write_beneath(self._directory, name, body)
        return sha256, name

    def touch(self, name: str) -> bool:
        """True if the file exists; its time of use is then set to now, so that retention keeps it for a day."""
        with map_disk_errors(self._directory / name):
            try:
                fd = open_beneath(self._directory, name, os.O_RDONLY)
            except FileNotFoundError:
                return False
            try:
                os.utime(fd)
            finally:
                os.close(fd)
        return True

    def present(self) -> Iterator[dict[str, float]]:
        """All stored files, each name with its time of last use; one folder at a time."""
        for folder in (first + second for first in _HEX for second in _HEX):
            with map_disk_errors(self._directory / folder):
                try:
                    found = list(os.scandir(self._directory / folder))
                except FileNotFoundError:
                    continue
                names = {f"{folder}/{each.name}": each for each in found if each.name.startswith(folder)}
                yield {name: each.stat(follow_symlinks=False).st_mtime for name, each in names.items()}

    def drop(self, name: str) -> int:
        """Removes a file; returns the number of bytes freed."""
        path = self._directory / name
        with map_disk_errors(path):
            freed = path.lstat().st_size
            path.unlink()
        return freed


class Files:
    """The record of each media file by its task's id, and the articles that refer to it. May raise StoreUnavailable."""

    def __init__(self, client: Client, *, life_sec: float, shards: int = 1) -> None:
        self._client = client
        self._life_sec = round(life_sec)
        self._shards = shards
        self.machine = socket.gethostname()

    def load(self, ids: Sequence[str]) -> dict[str, KnownState]:
        """The records of these files; files without a record are left out."""
        found = get_each(self._client, [self._key(each) for each in ids])
        return {each: json.loads(text) for each, text in zip(ids, found, strict=True) if text}

    def save(self, file_id: str, known: KnownState) -> None:
        """Stores the record of a file."""
        self._client.set(self._key(file_id), json.dumps(known), ex=max(self._life_sec, 1))

    def refer(self, file_id: str, uid: str) -> None:
        """Notes that an article refers to a file and waits for its result."""
        with self._client.pipeline(transaction=False) as pipe:
            pipe.sadd(f"{self._key(file_id)}:of", uid)
            pipe.expire(f"{self._key(file_id)}:of", max(self._life_sec, 1))
            pipe.execute()

    def referrers(self, file_id: str) -> set[str]:
        """The uids of the articles that wait for the file."""
        return set(self._client.smembers(f"{self._key(file_id)}:of"))

    def _key(self, file_id: str) -> str:
        return f"{keys.shard(shard_of(file_id, self._shards))}{file_id}"
