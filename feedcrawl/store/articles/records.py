"""Canonical articles as consumers read them (`rss:*`, `webpage:*`), and the claims that keep each one single."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from feedcrawl.domain.frontier.shards import shard_of
from feedcrawl.store.redis import keys
from feedcrawl.store.redis.connection import get_each, in_order, newest_of
from feedcrawl.store.redis.scripts import lua_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from feedcrawl.store.redis.client import Client, Pipeline

DAY_SEC = 86_400
INDEX_LIFE_SEC = 30 * DAY_SEC
PRUNE_LIMIT = 1000


@dataclass(frozen=True, slots=True)
class Lives:
    """How long things stay, in seconds, and how many bytes all cached pages may take."""

    article_sec: int = 7 * DAY_SEC
    category_links_sec: int = 2 * DAY_SEC
    page_sec: int = 3600
    pages_bytes: int = 256 << 20


class Articles:
    """The keys of docs/data-format.md, and our own in the shard of their uid.

    Methods that take a pipeline queue commands on it; writing twice is once.
    """

    def __init__(self, client: Client, lives: Lives, *, shards: int = 1) -> None:
        self._client = client
        self._lives = lives
        self._inherit = client.register_script(lua_text(__package__, "inherit"))
        self._relink = client.register_script(lua_text(__package__, "relink"))
        self._shards = shards

    @property
    def life_sec(self) -> int:
        """How long an article stays."""
        return self._lives.article_sec

    # --- claims ---

    def claim(self, uid: str, owner: str) -> str:
        """Claims a canonical URL's uid for a task, for 30 days; answers the task that has it, the first that asked."""
        key = self._claim(uid)
        with self._client.pipeline(transaction=False) as pipe:
            pipe.set(key, owner, nx=True, ex=INDEX_LIFE_SEC)
            pipe.get(key)
            return str(pipe.execute()[1] or owner)

    def ask(self, pipe: Pipeline, asked: str, uid: str, *, claim: bool) -> None:
        """Asks all at once what is known of an article; with `claim` its uid is the task's that asks, if nobody's."""
        key = self._claim(uid)
        _ = pipe.set(key, asked, nx=True, ex=INDEX_LIFE_SEC) if claim else pipe.get(key)
        pipe.get(key)
        pipe.smembers(self._key("wanted", asked))
        pipe.smembers(self._key("wanted", uid))
        pipe.hmget(keys.article(uid), "status", "content_hash")
        pipe.get(self._key("joined", uid))

    ASKED = 6

    @staticmethod
    def answer(replies: Sequence[Any], asked: str) -> tuple[str, set[str], str | None, str | None]:
        """Of the `ASKED` replies: the task that has the claim, the categories that want the article, the content hash
        of what is stored of it, and the article that its uid has joined.
        """
        _, owner, first, own, (status, digest), joined = replies[: Articles.ASKED]
        return owner or asked, {*first, *own}, digest if status == "success" else None, joined

    def ask_winner(self, pipe: Pipeline, uid: str, categories: Iterable[str]) -> None:
        """Asks for an article's `status` and `canonical_url`, the task that claimed it, and if each category has it."""
        pipe.hmget(keys.article(uid), "status", "canonical_url")
        pipe.get(self._claim(uid))
        for category in categories:
            pipe.sismember(keys.articles_by_category(category), uid)

    def owners(self, uids: Sequence[str]) -> dict[str, str]:
        """Which tasks have claimed these uids; those unclaimed are left out."""
        found = get_each(self._client, [self._claim(uid) for uid in uids])
        return {uid: owner for uid, owner in zip(uids, found, strict=True) if owner}

    def inherit(self, uid: str, before: str, owner: str) -> bool:
        """Passes a claim on, if it is still that of `before`: who had it has ended, and its article is gone."""
        return bool(self._inherit(keys=[self._claim(uid)], args=[before, owner, INDEX_LIFE_SEC]))

    def sighting(self, pipe: Pipeline, uid: str, url: str) -> None:
        """Notes a URL under which a known article was met again."""
        key = self._key("sightings", uid)
        pipe.sadd(key, url)
        pipe.expire(key, INDEX_LIFE_SEC)

    def sightings(self, uid: str) -> set[str]:
        """The other URLs of an article."""
        return set(self._client.smembers(self._key("sightings", uid)))

    def winner_of(self, uid: str) -> str | None:
        """The article that a loser's uid has joined."""
        found = self._client.get(self._key("joined", uid))
        return None if found is None else str(found)

    def join(self, pipe: Pipeline, loser: str, winner: str) -> None:
        """Lets consumers of a loser's uid find the winner."""
        pipe.set(self._key("joined", loser), winner, ex=INDEX_LIFE_SEC)

    def unjoin(self, pipe: Pipeline, uid: str) -> None:
        """The uid has an article of its own again."""
        pipe.delete(self._key("joined", uid))

    def unsight(self, pipe: Pipeline, uid: str, url: str) -> None:
        """The URL is none of this article's."""
        pipe.srem(self._key("sightings", uid), url)

    # --- what is wanted of a URL, and what is stored of it ---

    def want(self, pipe: Pipeline, uid: str, categories: Iterable[str]) -> None:
        """Notes for which categories a URL is wanted, whoever fetches it later."""
        categories = tuple(categories)
        if categories:
            pipe.sadd(self._key("wanted", uid), *categories)
            pipe.expire(self._key("wanted", uid), INDEX_LIFE_SEC)

    def wanted(self, *uids: str) -> set[str]:
        """The categories that want an article under any of these uids."""
        with self._client.pipeline(transaction=False) as pipe:
            for uid in uids:
                pipe.smembers(self._key("wanted", uid))
            return set().union(*pipe.execute())

    def stored(self, uids: Sequence[str]) -> set[str]:
        """Those of the uids whose article is there."""
        if not uids:
            return set()
        with self._client.pipeline(transaction=False) as pipe:
            for uid in uids:
                pipe.hget(keys.article(uid), "status")
            return {uid for uid, status in zip(uids, pipe.execute(), strict=True) if status == "success"}

    def categorize_known(self, uids: Sequence[str], categories: Sequence[str]) -> None:
        """Adds articles that are stored already, under these uids or as what they joined, to categories."""
        joined = get_each(self._client, [self._key("joined", uid) for uid in uids])
        winners = [winner or uid for uid, winner in zip(uids, joined, strict=True)]
        with self._client.pipeline(transaction=False) as pipe:
            for winner in self.stored(winners):
                self.categorize(pipe, winner, categories)
            pipe.execute()

    def newest(
        self, limit: int, *, before: tuple[float, str] | None = None, since: float | None = None
    ) -> list[tuple[str, float]]:
        """The uids of stored articles and the times of their fetches, the last first, those after a place."""
        return newest_of(self._client, keys.ARTICLE_INDEX, limit, before=before, floor=since)

    def in_category(self, category: str, uids: Sequence[str]) -> list[bool]:
        """Whether each of these articles is in a category."""
        return [bool(there) for there in self._client.smismember(keys.articles_by_category(category), list(uids))]

    def outlines(self, uids: Sequence[str], names: Sequence[str]) -> list[dict[str, str]]:
        """These fields of each article, those that it has; none where it is gone."""
        with self._client.pipeline(transaction=False) as pipe:
            for uid in uids:
                pipe.hmget(keys.article(uid), *names)
            replies = pipe.execute()
        return [{name: text for name, text in zip(names, said, strict=True) if text is not None} for said in replies]

    def found(self, uid: str) -> tuple[str | None, dict[str, str], set[str]]:
        """What a uid leads to: the article that it has joined, its own HASH, and its other URLs."""
        with self._client.pipeline(transaction=False) as pipe:
            pipe.get(self._key("joined", uid))
            pipe.hgetall(keys.article(uid))
            pipe.smembers(self._key("sightings", uid))
            winner, fields, sightings = pipe.execute()
        return winner, dict(fields), set(sightings)

    def files(self, uid: str) -> str | None:
        """What an article's HASH says of its files, as it stands there."""
        found = self._client.hget(keys.article(uid), "files")
        return None if found is None else str(found)

    def relink(self, uid: str, before: str, files: str) -> bool:
        """Puts right what it says of its files, if that is still `before`."""
        return bool(self._relink(keys=[keys.article(uid)], args=[before, files]))

    def record(self, uid: str) -> dict[str, str]:
        """The HASH of an article or of a failed URL, whole; empty where there is none."""
        return dict(self._client.hgetall(keys.article(uid)))

    # --- what consumers read ---

    def write(self, pipe: Pipeline, uid: str, fields: Mapping[str, str | int | float]) -> None:
        """The HASH of an article or of a failed URL, whole: fields of an earlier version do not shine through."""
        key = keys.article(uid)
        pipe.delete(key)
        pipe.hset(key, mapping=fields)
        pipe.expire(key, self._lives.article_sec)

    def index(self, pipe: Pipeline, uid: str, categories: Iterable[str], fetched_ts: float) -> None:
        """Lists a stored article by time and by category."""
        pipe.zadd(keys.ARTICLE_INDEX, {uid: fetched_ts})
        pipe.zremrangebyscore(keys.ARTICLE_INDEX, "-inf", fetched_ts - INDEX_LIFE_SEC)
        self.categorize(pipe, uid, categories)

    def uncategorize(self, pipe: Pipeline, uid: str, categories: Iterable[str]) -> None:
        """Takes an article out of categories."""
        for category in categories:
            pipe.srem(keys.articles_by_category(category), uid)

    def categorize(self, pipe: Pipeline, uid: str, categories: Iterable[str]) -> None:
        """Adds an article to categories."""
        for category in categories:
            pipe.sadd(keys.articles_by_category(category), uid)
            pipe.expire(keys.articles_by_category(category), self._lives.article_sec)

    def failure(self, pipe: Pipeline, uid: str, code: str, at: float) -> None:
        """Lists a failure by its code."""
        pipe.zadd(keys.CANONICAL_FAILURES, {f"{uid}:{code}": at})
        pipe.zremrangebyscore(keys.CANONICAL_FAILURES, "-inf", at - INDEX_LIFE_SEC)

    def attempted(self, pipe: Pipeline, uids: Iterable[str], at: float) -> None:
        """Adds uids to those tried; each leaves 30 days after its attempt (`prune_attempted`)."""
        for uid in uids:
            pipe.sadd(keys.CANONICAL_ATTEMPTED, uid)
            pipe.zadd(keys.CANONICAL_ATTEMPTED_AT, {uid: at})

    def prune_attempted(self, now: float) -> int:
        """Takes out the uids whose attempt is 30 days ago; answers how many."""
        before = now - INDEX_LIFE_SEC
        old = self._client.zrangebyscore(keys.CANONICAL_ATTEMPTED_AT, "-inf", before, start=0, num=PRUNE_LIMIT)
        if old:
            with self._client.pipeline() as pipe:
                pipe.srem(keys.CANONICAL_ATTEMPTED, *old)
                in_order(pipe)
                pipe.zrem(keys.CANONICAL_ATTEMPTED_AT, *old)
                pipe.execute()
        return len(old)

    def category_links(self, pipe: Pipeline, category: str, urls: Sequence[str]) -> None:
        """Adds canonical URLs to a category's links; the set lives 48 h after the last addition."""
        if urls:
            pipe.sadd(keys.category_links(category), *urls)
            pipe.expire(keys.category_links(category), self._lives.category_links_sec)

    # --- the page cache ---

    def cache_page(self, url_sha256: str, html: str, now: float) -> None:
        """Keeps a page's decoded HTML for its time, and all pages together under their limit, oldest dropped first."""
        if not self._lives.page_sec or not self._lives.pages_bytes:
            return
        size = len(html.encode("utf-8", "surrogatepass"))
        if size > self._lives.pages_bytes:
            return
        with self._client.pipeline() as pipe:
            pipe.set(keys.webpage(url_sha256), html, ex=self._lives.page_sec)
            pipe.zadd(keys.PAGE_CACHE_INDEX, {url_sha256: now})
            pipe.hget(keys.PAGE_CACHE_SIZES, url_sha256)
            pipe.hset(keys.PAGE_CACHE_SIZES, url_sha256, size)
            pipe.incrby(keys.PAGE_CACHE_BYTES, size)
            pipe.zrangebyscore(keys.PAGE_CACHE_INDEX, "-inf", now - self._lives.page_sec, start=0, num=PRUNE_LIMIT)
            _, _, before, _, total, expired = pipe.execute()
        if before:
            total = self._client.decrby(keys.PAGE_CACHE_BYTES, int(before))
        if expired:
            total = self._drop_pages(expired)
        if total > self._lives.pages_bytes:
            self._make_room(total)

    def cached_page(self, url_sha256: str) -> str:
        """A page's decoded HTML; empty if it is no longer there."""
        return str(self._client.get(keys.webpage(url_sha256)) or "")

    def _make_room(self, total: int) -> None:
        """Drops the oldest until a sixteenth of the limit is free, so that not every page that comes costs this."""
        room = self._lives.pages_bytes - self._lives.pages_bytes // 16
        while total > room and (oldest := self._client.zrange(keys.PAGE_CACHE_INDEX, 0, 31)):
            sizes = self._client.hmget(keys.PAGE_CACHE_SIZES, oldest)
            left = [total - gone for gone in accumulate(int(size or 0) for size in sizes)]
            total = self._drop_pages(oldest[: 1 + sum(bytes_left > room for bytes_left in left)])

    def _drop_pages(self, digests: Sequence[str]) -> int:
        """Drops pages; answers how many bytes are left."""
        sizes = self._client.hmget(keys.PAGE_CACHE_SIZES, list(digests))
        with self._client.pipeline() as pipe:
            pipe.zrem(keys.PAGE_CACHE_INDEX, *digests)
            pipe.hdel(keys.PAGE_CACHE_SIZES, *digests)
            for digest in digests:
                pipe.delete(keys.webpage(digest))
            pipe.decrby(keys.PAGE_CACHE_BYTES, sum(int(size or 0) for size in sizes))
            return int(pipe.execute()[-1])

    def _claim(self, uid: str) -> str:
        return self._key("claim", uid)

    def _key(self, name: str, uid: str) -> str:
        return f"{keys.shard(shard_of(uid, self._shards))}{name}:{uid}"
