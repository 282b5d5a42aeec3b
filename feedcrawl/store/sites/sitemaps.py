"""Watched sitemaps: the state of their polls, the URLs of their last reading, and their journals."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from feedcrawl.domain.frontier.shards import settled_id, shard_of_host
from feedcrawl.domain.sitemaps.state import Sitemap, SitemapRecord, Watched, dump, load_record, load_sitemap
from feedcrawl.domain.urls import hostname
from feedcrawl.store.redis.connection import get_each
from feedcrawl.store.redis.members import Members

if TYPE_CHECKING:
    from collections.abc import Sequence

    from feedcrawl.domain.subscriptions.published import JournalLineRecord
    from feedcrawl.store.redis.client import Pipeline
    from feedcrawl.store.redis.members import Command

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


class Sitemaps(Members[Watched]):
    """Sitemaps by id and by the normalized form of their URL, each in the shard of its name.

    Methods may raise StoreUnavailable.
    """

    kind = "sitemap"
    journals = "sitemap_journal"
    page_size = PAGE

    def add(self, additions: Sequence[tuple[Sitemap, str]]) -> list[str]:
        """Adds each sitemap whose URL is not watched yet; returns the ids of the watched sitemaps, in order.

        Two round trips. Safe to repeat and to race: the URL's key is claimed first, and a later caller gets the claimed
        id; a sitemap that a kill left claimed and unwritten is written. A new id lies in the shard of the sitemap's
        host, so that a poll ends in one step.
        """
        if not additions:
            return []
        with self._client.pipeline(transaction=False) as pipe:
            for sitemap, url_key in additions:
                home = shard_of_host(hostname(sitemap.url), self._shards)
                pipe.hsetnx(self._by_url(url_key), url_key, settled_id(sitemap.id, home, self._shards))
                pipe.hget(self._by_url(url_key), url_key)
            holders = list(map(str, pipe.execute()[1::2]))
        with self._client.pipeline() as pipe:
            for (sitemap, _), holder in zip(additions, holders, strict=True):
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

    def load(self, ids: Sequence[str]) -> dict[str, Watched]:
        """The sitemaps with these ids, in one round trip; unknown ids are left out."""
        found = self._pairs(ids, "sitemap_polls")
        return {each: Watched(load_sitemap(text), load_record(polls)) for each, text, polls in found}

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

    def take(self, site: str, day: str, number: int, limit: int) -> int:
        """How many of so many new URLs a site may still have on a day, if all its days have at most `limit`. These are
        counted at once, so that polls of a site at the same time share the limit; after a kill a poll may be counted
        twice.
        """
        key = self._day(site, day)
        with self._client.pipeline(transaction=False) as pipe:
            pipe.incrby(key, number)
            pipe.expire(key, DAY_LIFE_SEC)
            total = int(pipe.execute()[0])
        granted = min(max(number - (total - limit), 0), number)
        if granted < number:
            self._client.decrby(key, number - granted)
        return granted

    def save_seen(self, sitemap_id: str, seen: bytes) -> None:
        """Store the URLs read. New URLs must be enqueued first: a stored URL is not enqueued again."""
        self._client.set(self._key("sitemap_seen", sitemap_id), seen, ex=SEEN_LIFE_SEC)

    def commit(self, sitemap_id: str, record: SitemapRecord, fetch: JournalLineRecord) -> list[Command]:
        """The commands that store a poll and its line in the journal; the frontier runs them with `done`."""
        return [["SET", self._key("sitemap_polls", sitemap_id), dump(record)], *self.note(sitemap_id, fetch)]

    def _save(self, pipe: Pipeline, sitemap: Sitemap, *, only_new: bool = False) -> None:
        pipe.set(self._key("sitemap", sitemap.id), dump(sitemap), nx=only_new)
        pipe.sadd(self._list(sitemap.id), sitemap.id)
        if sitemap.root is not None and sitemap.root != sitemap.id:
            pipe.sadd(self._key("sitemap_tree", sitemap.root), sitemap.id)

    def _day(self, site: str, day: str) -> str:
        return f"{self._prefix(site)}sitemap_day:{day}:{site}"
