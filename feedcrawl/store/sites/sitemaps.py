"""Watched sitemaps: the state of their polls, the URLs of their last reading, and their journals."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from feedcrawl.domain.frontier.shards import settled_id, shard_of, shard_of_host
from feedcrawl.domain.secrets import record_without_secrets
from feedcrawl.domain.sitemaps.state import Sitemap, SitemapRecord, Watched, dump, load_record, load_sitemap
from feedcrawl.domain.urls import hostname
from feedcrawl.store.redis import keys
from feedcrawl.store.redis.connection import get_each, members_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from feedcrawl.domain.subscriptions.published import JournalLineRecord
    from feedcrawl.store.redis.client import Client, Pipeline
    from feedcrawl.store.subscriptions.registry import Command

PAGE = 500
DAY_LIFE_SEC = 2 * 86_400
SEEN_LIFE_SEC = 400 * 86_400
"""Kept for longer than any pause between polls, so that the URLs of a whole sitemap do not count as new again."""


class Known(NamedTuple):
    """The data for finding new URLs of a sitemap.

    `seen` has the URLs of its last reading; `today` (new URLs of the site today) and `parts` (sitemaps of its tree)
    count against the caps.
    """

    seen: bytes
    today: int
    parts: int


class Sitemaps:
    """Sitemaps by id and by the normalized form of their URL, each in the shard of its name.

    Methods may raise StoreUnavailable.
    """

    def __init__(self, client: Client, *, shards: int = 1, journal_length: int = 50) -> None:
        self._client = client
        self._shards = shards
        self._journal_length = journal_length

    def add(self, wanted: Sequence[tuple[Sitemap, str]]) -> list[str]:
        """Adds each sitemap whose URL is not watched yet; returns the ids of the watched sitemaps, in order.

        Two round trips. Safe to repeat and to race: the URL's key is claimed first, and a later caller gets the claimed
        id; a sitemap that a kill left claimed and unwritten is written. A new id lies in the shard of the sitemap's
        host, so that a poll ends in one step.
        """
        if not wanted:
            return []
        with self._client.pipeline(transaction=False) as pipe:
            for sitemap, url_key in wanted:
                home = shard_of_host(hostname(sitemap.url), self._shards)
                pipe.hsetnx(self._by_url(url_key), url_key, settled_id(sitemap.id, home, self._shards))
                pipe.hget(self._by_url(url_key), url_key)
            holders = list(map(str, pipe.execute()[1::2]))
        with self._client.pipeline() as pipe:
            for (sitemap, _), holder in zip(wanted, holders, strict=True):
                self._save(pipe, replace(sitemap, id=holder), only_new=True)
            pipe.execute()
        return holders

    def save(self, sitemap: Sitemap) -> None:
        """Stores a sitemap and adds it to the list."""
        with self._client.pipeline() as pipe:
            self._save(pipe, sitemap)
            pipe.execute()

    def remove(self, sitemap: Sitemap, url_key: str) -> bool:
        """Removes a sitemap and the data of its polls; False if it did not exist."""
        with self._client.pipeline() as pipe:
            for name in ("sitemap", "sitemap_polls", "sitemap_seen", "sitemap_journal"):
                pipe.delete(self._key(name, sitemap.id))
            pipe.hdel(self._by_url(url_key), url_key)
            pipe.srem(self._key("sitemap_tree", sitemap.tree), sitemap.id)
            pipe.srem(self._list(sitemap.id), sitemap.id)
            return bool(pipe.execute()[-1])

    def by_url(self, url_key: str) -> str | None:
        """The id of the sitemap with this URL; None if there is none."""
        found = self._client.hget(self._by_url(url_key), url_key)
        return None if found is None else str(found)

    def load(self, ids: Sequence[str]) -> dict[str, Watched]:
        """The sitemaps with these ids, in one round trip; unknown ids are left out."""
        texts = get_each(self._client, [self._key(name, each) for name in ("sitemap", "sitemap_polls") for each in ids])
        pairs = zip(ids, texts[: len(ids)], texts[len(ids) :], strict=True)
        return {each: Watched(load_sitemap(text), load_record(polls)) for each, text, polls in pairs if text}

    def all(self) -> Iterator[Watched]:
        """All sitemaps, in no order, read in pages."""
        for _, page in self.pages(PAGE):
            yield from self.load(page).values()

    def pages(self, size: int) -> Iterator[tuple[int, list[str]]]:
        """The ids of all sitemaps, in no order, in pages of about `size`, each page with its shard."""
        return members_of(self._client, self._lists(), size)

    def batch(self, shard: int, cursor: int, size: int) -> tuple[int, list[str]]:
        """About `size` ids of a shard, in no order, and the next cursor (0 at the end)."""
        at, ids = self._client.sscan(self._lists()[shard], cursor, count=size)
        return int(at), list(ids)

    @property
    def shards(self) -> int:
        """The number of shards."""
        return self._shards

    def said(self, ids: Sequence[str]) -> list[str]:
        """The sitemaps with these ids, as the stored JSON text; unknown ids are left out."""
        return [text for text in get_each(self._client, [self._key("sitemap", each) for each in ids]) if text]

    def count(self) -> int:
        """The number of watched sitemaps."""
        return sum(int(self._client.scard(name)) for name in self._lists())

    def tree(self, root: str) -> set[str]:
        """The ids of the sitemaps that were found below the sitemap `root`."""
        return set(self._client.smembers(self._key("sitemap_tree", root)))

    def known(self, sitemap: Sitemap, site: str, day: str) -> Known:
        """The data for finding new URLs, in one round trip."""
        with self._client.pipeline(transaction=False) as pipe:
            pipe.get(self._key("sitemap_seen", sitemap.id))
            pipe.get(self._day(site, day))
            pipe.scard(self._key("sitemap_tree", sitemap.tree))
            seen, today, parts = pipe.execute()
        return Known(str(seen or "").encode("utf-8", "surrogateescape"), int(today or 0), int(parts))

    def today(self, sites: Sequence[str], day: str) -> dict[str, int]:
        """The number of new URLs of each site on a day, in one round trip."""
        counts = get_each(self._client, [self._day(site, day) for site in sites])
        return {site: int(count or 0) for site, count in zip(sites, counts, strict=True)}

    def count_new(self, pipe: Pipeline, site: str, day: str, number: int) -> None:
        """Queues counting new URLs of a site on a day; after a kill a poll may be counted twice."""
        key = self._day(site, day)
        pipe.incrby(key, number)
        pipe.expire(key, DAY_LIFE_SEC)

    def save_seen(self, pipe: Pipeline, sitemap_id: str, seen: bytes) -> None:
        """Queues storing the URLs read. New URLs must be enqueued first: a stored URL is not enqueued again."""
        pipe.set(self._key("sitemap_seen", sitemap_id), seen, ex=SEEN_LIFE_SEC)

    def commit(self, sitemap_id: str, record: SitemapRecord, fetch: JournalLineRecord) -> list[Command]:
        """The commands that store a poll and its line in the journal; the frontier runs them with `done`."""
        journal = self._key("sitemap_journal", sitemap_id)
        line = json.dumps(record_without_secrets(fetch), separators=(",", ":"), ensure_ascii=False)
        return [
            ["SET", self._key("sitemap_polls", sitemap_id), dump(record)],
            ["LPUSH", journal, line],
            ["LTRIM", journal, 0, self._journal_length - 1],
        ]

    def journal(self, sitemap_id: str) -> list[JournalLineRecord]:
        """The last fetches of a sitemap, newest first; of a poll that a kill repeated, only the last line."""
        lines: Iterable[str] = self._client.lrange(self._key("sitemap_journal", sitemap_id), 0, -1)
        fetches = {fetch["poll_id"]: fetch for fetch in map(json.loads, reversed(list(lines)))}
        return list(reversed(fetches.values()))

    def _save(self, pipe: Pipeline, sitemap: Sitemap, *, only_new: bool = False) -> None:
        pipe.set(self._key("sitemap", sitemap.id), dump(sitemap), nx=only_new)
        pipe.sadd(self._list(sitemap.id), sitemap.id)
        if sitemap.root is not None and sitemap.root != sitemap.id:
            pipe.sadd(self._key("sitemap_tree", sitemap.root), sitemap.id)

    def _lists(self) -> list[str]:
        return [f"{keys.shard(number)}sitemaps" for number in range(self._shards)]

    def _list(self, sitemap_id: str) -> str:
        return f"{self._prefix(sitemap_id)}sitemaps"

    def _by_url(self, url_key: str) -> str:
        return f"{self._prefix(url_key)}sitemap_by_url"

    def _day(self, site: str, day: str) -> str:
        return f"{self._prefix(site)}sitemap_day:{day}:{site}"

    def _key(self, name: str, sitemap_id: str) -> str:
        return f"{self._prefix(sitemap_id)}{name}:{sitemap_id}"

    def _prefix(self, name: str) -> str:
        return keys.shard(shard_of(name, self._shards))
