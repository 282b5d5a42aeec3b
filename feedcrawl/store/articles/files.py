"""Media files: their content under `files/<aa>/<sha256><ending>`, written once, and what is known of each URL."""

from __future__ import annotations

import hashlib
import json
import os
import socket
from typing import TYPE_CHECKING, Any, Final

from feedcrawl.domain.articles.files import path_of
from feedcrawl.domain.frontier.shards import shard_of
from feedcrawl.store.disk.files import map_disk_errors, open_beneath, write_beneath
from feedcrawl.store.redis import keys
from feedcrawl.store.redis.connection import get_each

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from feedcrawl.store.redis.client import Client

FOLDER: Final = "files"
_HEX: Final = "0123456789abcdef"


class FileContents:
    """The content of files. Every method raises DiskUnavailable; a name is what `keep` answered."""

    def __init__(self, data_dir: Path) -> None:
        self._directory = data_dir / FOLDER

    def keep(self, body: bytes, extension: str) -> tuple[str, str]:
        """Writes content that is not there yet; its sha256 and its name. Nobody ever sees a part of it."""
        sha256 = hashlib.sha256(body).hexdigest()
        name = path_of(sha256, extension)
        if not self.touch(name):
            with map_disk_errors(self._directory / name):
                write_beneath(self._directory, name, body)
        return sha256, name

    def touch(self, name: str) -> bool:
        """Whether it is there; if so it counts as used now, and retention leaves it alone for a day."""
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
        """All there are, name to the time of last use, some at a time."""
        for folder in (first + second for first in _HEX for second in _HEX):
            with map_disk_errors(self._directory / folder):
                try:
                    found = list(os.scandir(self._directory / folder))
                except FileNotFoundError:
                    continue
                names = {f"{folder}/{each.name}": each for each in found if each.name.startswith(folder)}
                yield {name: each.stat(follow_symlinks=False).st_mtime for name, each in names.items()}

    def drop(self, name: str) -> int:
        """Removes one; the bytes that were freed."""
        path = self._directory / name
        with map_disk_errors(path):
            freed = path.lstat().st_size
            path.unlink()
        return freed


class Files:
    """What is known of each file, by the id of its task, and which articles name it. May raise redis-py's errors."""

    def __init__(self, client: Client, *, life_sec: float, shards: int = 1) -> None:
        self._client = client
        self._life_sec = round(life_sec)
        self._shards = shards
        self.machine = socket.gethostname()

    def load(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """What is known of these files; those of which nothing is are left out."""
        found = get_each(self._client, [self._key(each) for each in ids])
        return {each: json.loads(text) for each, text in zip(ids, found, strict=True) if text}

    def save(self, file_id: str, known: Mapping[str, Any]) -> None:
        """What has become of a file."""
        self._client.set(self._key(file_id), json.dumps(known), ex=max(self._life_sec, 1))

    def refer(self, file_id: str, uid: str) -> None:
        """Notes that an article names a file, and waits for it."""
        with self._client.pipeline(transaction=False) as pipe:
            pipe.sadd(f"{self._key(file_id)}:of", uid)
            pipe.expire(f"{self._key(file_id)}:of", max(self._life_sec, 1))
            pipe.execute()

    def referrers(self, file_id: str) -> set[str]:
        """The articles that wait for it."""
        return set(self._client.smembers(f"{self._key(file_id)}:of"))

    def _key(self, file_id: str) -> str:
        return f"{keys.shard(shard_of(file_id, self._shards))}{file_id}"
