"""The id of the server's data, in Redis and in the data directory: distinguishes an emptied server from a new one."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from feedcrawl.domain.archive.generation import standing
from feedcrawl.hints import program
from feedcrawl.store.disk.files import map_disk_errors, write_anew
from feedcrawl.store.redis import keys
from feedcrawl.store.redis.connection import get_each
from feedcrawl.store.redis.errors import ServerRefused

if TYPE_CHECKING:
    from pathlib import Path

    from feedcrawl.store.redis.client import Client

_WHAT_TO_DO = (
    "put its data back, or set REDIS_URL to the right server; or run `{program} restore`, which subscribes again to "
    "the feeds and sitemaps saved in this data directory; `{program} restore --accept` accepts the server as it is"
)
_REFUSALS = {
    "emptied": ("emptied", "the server has lost its data since {directory} was last used with it: {todo}"),
    "another": ("another_server", "the server is not the one that {directory} was last used with: {todo}"),
}


class Generation:
    """Compares the id in a server with the id in a data directory. Methods raise StoreUnavailable and DiskUnavailable.

    Several data directories may share a server: each stores the id that it has seen, and a new directory adopts the
    server's id. The id is in every shard, so that the loss of one cluster node's data is detected.
    """

    def __init__(self, client: Client, data_dir: Path, *, shards: int = 1) -> None:
        self._client = client
        self._names = [keys.generation(number) for number in range(shards)]
        self._directory = data_dir
        self._path = data_dir / "generation"
        self._seen: str | None = None

    def check(self) -> None:
        """Raises ServerRefused if the server has lost its data (`emptied`) or is another one (`another_server`)."""
        self._judge(self._known(), self._in_redis())

    def settle(self) -> None:
        """As `check`; also gives a new server an id, or stores the server's id in a new directory.

        The server gets the id first and the directory only at a later call: by then the id must be on the server's
        disk. Otherwise a machine that loses power at its first start would have a directory with an id and a server
        that seems emptied.
        """
        known, there = self._known(), self._in_redis()
        self._judge(known, there)
        if there is None:
            self._give(secrets.token_hex(16))
        elif self._on_disk() is None:
            write_anew(self._path, [f"{there}\n".encode()])

    def accept(self) -> None:
        """Accepts the server as it is: takes over its id, or gives it the directory's id if it has none."""
        self._give(self._known() or secrets.token_hex(16))
        write_anew(self._path, [f"{self._seen}\n".encode()])

    def _judge(self, known: str | None, there: str | None) -> None:
        refusal = _REFUSALS.get(standing(known, there))
        if refusal is not None:
            if self._on_disk() is None:  # so far only this process has seen the id: store it for the next process
                write_anew(self._path, [f"{known}\n".encode()])
            code, sentence = refusal
            raise ServerRefused(
                code, sentence.format(directory=self._directory, todo=_WHAT_TO_DO.format(program=program()))
            )

    def _give(self, made: str) -> None:
        """Sets the id in all shards: the id of the first shard if it has one, else `made`."""
        first, *others = self._names
        self._client.set(first, made, nx=True)
        self._seen = self._client.get(first) or made
        for name in others:
            self._client.set(name, self._seen)

    def _in_redis(self) -> str | None:
        ids = set(get_each(self._client, self._names))
        return (ids.pop() or None) if len(ids) == 1 else None

    def _known(self) -> str | None:
        return self._on_disk() or self._seen

    def _on_disk(self) -> str | None:
        with map_disk_errors(self._path):
            try:
                return self._path.read_text("ascii", "replace").strip() or None
            except FileNotFoundError:
                return None
