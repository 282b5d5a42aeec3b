"""What is polled: feeds and sitemaps by id and by the normalized form of their URL, with a journal of their polls."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from feedcrawl.domain.frontier.shards import shard_of
from feedcrawl.domain.json_values import compact_json
from feedcrawl.domain.secrets import record_without_secrets
from feedcrawl.store.redis import keys
from feedcrawl.store.redis.connection import get_each, members_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from feedcrawl.domain.subscriptions.published import JournalLineRecord
    from feedcrawl.store.redis.client import Client

M = TypeVar("M")

Command = list[str | int]
"""A Redis command, as the frontier runs it."""


class Members(ABC, Generic[M]):
    """Members of one kind, each in the shard of its id. Methods may raise StoreUnavailable."""

    kind: ClassVar[str]
    """Begins the names of the keys: `feed`, `sitemap`."""
    journals: ClassVar[str]
    """The name of the keys of journals."""
    page_size: ClassVar[int]
    """Members read at a time: decoding them must not block an event loop for long."""

    def __init__(self, client: Client, *, shards: int = 1, journal_length: int = 50) -> None:
        self._client = client
        self._shards = shards
        self._journal_length = journal_length

    @abstractmethod
    def load(self, ids: Sequence[str]) -> dict[str, M]:
        """The members with these ids, in one round trip; unknown ids are left out."""

    @property
    def shards(self) -> int:
        """The number of shards."""
        return self._shards

    def by_url(self, url_key: str) -> str | None:
        """The id of the member with this URL; None if there is none."""
        found = self._client.hget(self._by_url(url_key), url_key)
        return None if found is None else str(found)

    def all(self) -> Iterator[M]:
        """All members, in no order, read in pages."""
        for _, page in self.pages(self.page_size):
            yield from self.load(page).values()

    def pages(self, size: int) -> Iterator[tuple[int, list[str]]]:
        """The ids of all members, in no order, in pages of about `size`, each page with its shard."""
        return members_of(self._client, self._lists(), size)

    def batch(self, shard: int, cursor: int, size: int) -> tuple[int, list[str]]:
        """About `size` ids of a shard, in no order, and the next cursor (0 at the end)."""
        at, ids = self._client.sscan(self._lists()[shard], cursor, count=size)
        return int(at), list(ids)

    def texts(self, ids: Sequence[str]) -> list[str]:
        """The members with these ids, as the stored JSON text; unknown ids are left out."""
        return [text for text in get_each(self._client, [self._key(self.kind, each) for each in ids]) if text]

    def count(self) -> int:
        """The number of members."""
        return sum(int(self._client.scard(name)) for name in self._lists())

    def note(self, member_id: str, line: JournalLineRecord) -> list[Command]:
        """The commands that add a line to a journal; the frontier runs them with `done`."""
        journal = self._key(self.journals, member_id)
        text = compact_json(record_without_secrets(line))
        return [["LPUSH", journal, text], ["LTRIM", journal, 0, self._journal_length - 1]]

    def journal(self, member_id: str) -> list[JournalLineRecord]:
        """The last polls, newest first; of a poll that a kill repeated, only the last line."""
        lines: Iterable[str] = self._client.lrange(self._key(self.journals, member_id), 0, -1)
        polls = {line["poll_id"]: line for line in map(json.loads, reversed(list(lines)))}
        return list(reversed(polls.values()))

    def _pairs(self, ids: Sequence[str], polls_name: str) -> Iterator[tuple[str, str, str | None]]:
        """For each member that is stored: its id, its text, and the text of its polls, whose keys have a name."""
        texts = get_each(self._client, [self._key(name, each) for name in (self.kind, polls_name) for each in ids])
        for each, text, polls in zip(ids, texts[: len(ids)], texts[len(ids) :], strict=True):
            if text:
                yield each, text, polls

    def _lists(self) -> list[str]:
        return [f"{keys.shard(number)}{self.kind}s" for number in range(self._shards)]

    def _list(self, member_id: str) -> str:
        return f"{self._prefix(member_id)}{self.kind}s"

    def _by_url(self, url_key: str) -> str:
        return f"{self._prefix(url_key)}{self.kind}_by_url"

    def _key(self, name: str, member_id: str) -> str:
        return f"{self._prefix(member_id)}{name}:{member_id}"

    def _prefix(self, name: str) -> str:
        return keys.shard(shard_of(name, self._shards))
