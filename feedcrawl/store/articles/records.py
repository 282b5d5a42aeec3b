"""Articles as consumers read them (`rss:*`, `webpage:*`), and the claims by which one task owns a canonical URL."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from feedcrawl.domain.frontier.shards import shard_of
from feedcrawl.domain.operations.settings import DAY_SEC
from feedcrawl.store.redis import keys
from feedcrawl.store.redis.connection import get_each, in_order, newest_of
from feedcrawl.store.redis.scripts import lua_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from feedcrawl.store.redis.client import Client, Pipeline

INDEX_LIFE_SEC = 30 * DAY_SEC
PRUNE_LIMIT = 1000


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """Times to live of records in seconds, and the limit in bytes of all cached pages together."""

    article_sec: int = 7 * DAY_SEC
    category_links_sec: int = 2 * DAY_SEC
    page_sec: int = 3600
    pages_bytes: int = 256 << 20


class Articles:
    """The keys of docs/data-format.md, and our own keys in the shard of their uid.

    Methods with a pipeline queue commands on it; all writes are safe to repeat.
    """

    def __init__(self, client: Client, lives: Lifetimes, *, shards: int = 1) -> None:
        self._client = client
        self._lives = lives
        self._inherit = client.register_script(lua_text(__package__, "inherit"))
        self._relink = client.register_script(lua_text(__package__, "relink"))
        self._shards = shards

    @property
    def life_sec(self) -> int:
        """Time to live of an article."""
        return self._lives.article_sec

    # --- claims ---

    def claim(self, uid: str, owner: str) -> str:
        """Claims a canonical URL's uid for a task, for 30 days; returns the task that has the claim, the first one."""
        key = self._claim(uid)
        with self._client.pipeline(transaction=False) as pipe:
            pipe.set(key, owner, nx=True, ex=INDEX_LIFE_SEC)
            pipe.get(key)
            return str(pipe.execute()[1] or owner)

    def query(self, pipe: Pipeline, task_id: str, uid: str, *, claim: bool) -> None:
        """Queues all queries about an article; with `claim` the task `task_id` claims the uid if it is unclaimed."""
        key = self._claim(uid)
        _ = pipe.set(key, task_id, nx=True, ex=INDEX_LIFE_SEC) if claim else pipe.get(key)
        pipe.get(key)
        pipe.smembers(self._key("wanted", task_id))
        pipe.smembers(self._key("wanted", uid))
        pipe.hmget(keys.article(uid), "status", "content_hash")
        pipe.get(self._key("joined", uid))

    QUERIES = 6
    """The number of replies to `query`."""

    @staticmethod
    def decoded(replies: Sequence[Any], task_id: str) -> tuple[str, set[str], str | None, str | None]:
        """From the `QUERIES` replies: the task that has the claim, the categories requested for the article, the
        content hash of the stored article, and the article into which its uid was merged.
        """
        _, owner, first, own, (status, digest), merged_into = replies[: Articles.QUERIES]
        return owner or task_id, {*first, *own}, digest if status == "success" else None, merged_into

    def query_target(self, pipe: Pipeline, uid: str, categories: Iterable[str]) -> None:
        """Queues queries for an article's `status` and `canonical_url`, the task with its claim, and its categories."""
        pipe.hmget(keys.article(uid), "status", "canonical_url")
        pipe.get(self._claim(uid))
        for category in categories:
            pipe.sismember(keys.articles_by_category(category), uid)

    def owners(self, uids: Sequence[str]) -> dict[str, str]:
        """The task that has claimed each uid; unclaimed uids are left out."""
        found = get_each(self._client, [self._claim(uid) for uid in uids])
        return {uid: owner for uid, owner in zip(uids, found, strict=True) if owner}

    def inherit(self, uid: str, before: str, owner: str) -> bool:
        """Transfers a claim from a task that has ended without an article; True if `before` still had the claim."""
        return bool(self._inherit(keys=[self._claim(uid)], args=[before, owner, INDEX_LIFE_SEC]))

    def add_other_url(self, pipe: Pipeline, uid: str, url: str) -> None:
        """Queues adding a URL to the other URLs of a known article."""
        key = self._key("sightings", uid)
        pipe.sadd(key, url)
        pipe.expire(key, INDEX_LIFE_SEC)

    def other_urls(self, uid: str) -> set[str]:
        """The other URLs of an article."""
        return set(self._client.smembers(self._key("sightings", uid)))

    def target_of(self, uid: str) -> str | None:
        """The article into which a uid was merged; None if it was not."""
        found = self._client.get(self._key("joined", uid))
        return None if found is None else str(found)

    def targets(self, uids: Sequence[str]) -> dict[str, str]:
        """The articles into which these uids were merged; uids that were not are left out."""
        found = get_each(self._client, [self._key("joined", uid) for uid in uids])
        return {uid: target for uid, target in zip(uids, found, strict=True) if target}

    def merge(self, pipe: Pipeline, merged: str, target: str) -> None:
        """Queues that a merged article's uid leads consumers to the article into which it was merged."""
        pipe.set(self._key("joined", merged), target, ex=INDEX_LIFE_SEC)

    def unmerge(self, pipe: Pipeline, uid: str) -> None:
        """Queues that a uid is an article of its own again."""
        pipe.delete(self._key("joined", uid))

    def remove_other_url(self, pipe: Pipeline, uid: str, url: str) -> None:
        """Queues removing a URL from the other URLs of an article."""
        pipe.srem(self._key("sightings", uid), url)

    # --- requested categories of a URL, and stored articles ---

    def request_categories(self, pipe: Pipeline, uid: str, categories: Iterable[str]) -> None:
        """Queues that a URL's article gets these categories, whichever task fetches it later."""
        categories = tuple(categories)
        if categories:
            pipe.sadd(self._key("wanted", uid), *categories)
            pipe.expire(self._key("wanted", uid), INDEX_LIFE_SEC)

    def requested_categories(self, *uids: str) -> set[str]:
        """The categories that were requested for an article under any of these uids."""
        with self._client.pipeline(transaction=False) as pipe:
            for uid in uids:
                pipe.smembers(self._key("wanted", uid))
            return set().union(*pipe.execute())

    def stored(self, uids: Sequence[str]) -> set[str]:
        """The uids whose article is stored."""
        if not uids:
            return set()
        with self._client.pipeline(transaction=False) as pipe:
            for uid in uids:
                pipe.hget(keys.article(uid), "status")
            return {uid for uid, status in zip(uids, pipe.execute(), strict=True) if status == "success"}

    def categorize_known(self, uids: Sequence[str], categories: Sequence[str]) -> None:
        """Adds stored articles to categories; for a merged uid, the article into which it was merged."""
        found = get_each(self._client, [self._key("joined", uid) for uid in uids])
        targets = [target or uid for uid, target in zip(uids, found, strict=True)]
        with self._client.pipeline(transaction=False) as pipe:
            for target in self.stored(targets):
                self.categorize(pipe, target, categories)
            pipe.execute()

    def newest(
        self, limit: int, *, before: tuple[float, str] | None = None, since: float | None = None
    ) -> list[tuple[str, float]]:
        """The uids of stored articles and their fetch times, the last first, from after `before` on; those before
        `since` are left out.
        """
        return newest_of(self._client, keys.ARTICLE_INDEX, limit, before=before, floor=since)

    def in_category(self, category: str, uids: Sequence[str]) -> list[bool]:
        """For each article, True if it is in the category."""
        return [bool(there) for there in self._client.smismember(keys.articles_by_category(category), list(uids))]

    def outlines(self, uids: Sequence[str], names: Sequence[str]) -> list[dict[str, str]]:
        """The named fields of each article, as far as it has them; empty if the article is gone."""
        with self._client.pipeline(transaction=False) as pipe:
            for uid in uids:
                pipe.hmget(keys.article(uid), *names)
            replies = pipe.execute()
        return [
            {name: text for name, text in zip(names, values, strict=True) if text is not None} for values in replies
        ]

    def found(self, uid: str) -> tuple[str | None, dict[str, str], set[str]]:
        """The article into which a uid was merged (None if it was not), the uid's own HASH, and its other URLs."""
        with self._client.pipeline(transaction=False) as pipe:
            pipe.get(self._key("joined", uid))
            pipe.hgetall(keys.article(uid))
            pipe.smembers(self._key("sightings", uid))
            target, fields, other_urls = pipe.execute()
        return target, dict(fields), set(other_urls)

    def described(self, uids: Sequence[str]) -> list[tuple[dict[str, str], set[str]]]:
        """For each article its whole HASH (empty if it is gone) and the categories requested for it."""
        with self._client.pipeline(transaction=False) as pipe:
            for uid in uids:
                pipe.hgetall(keys.article(uid))
                pipe.smembers(self._key("wanted", uid))
            replies = iter(pipe.execute())
        return [
            (dict(fields), set(requested_categories))
            for fields, requested_categories in zip(replies, replies, strict=True)
        ]

    def gone(self, uids: Sequence[str]) -> set[str]:
        """The uids that were merged into another article or withdrawn by their publisher."""
        with self._client.pipeline(transaction=False) as pipe:
            for uid in uids:
                pipe.exists(self._key("joined", uid))
                pipe.hexists(keys.article(uid), "deleted_at")
            replies = iter(pipe.execute())
        return {uid for uid, *marks in zip(uids, replies, replies, strict=True) if any(marks)}

    def files(self, uid: str) -> str | None:
        """The field `files` of an article's HASH, as JSON text; None if missing."""
        found = self._client.hget(keys.article(uid), "files")
        return None if found is None else str(found)

    def relink(self, uid: str, before: str, files: str) -> bool:
        """Replaces the field `files` of an article's HASH, if it is still `before`; True if replaced."""
        return bool(self._relink(keys=[keys.article(uid)], args=[before, files]))

    def record(self, uid: str) -> dict[str, str]:
        """The whole HASH of an article or of a failed URL; empty if there is none."""
        return dict(self._client.hgetall(keys.article(uid)))

    # --- keys that consumers read ---

    def write(self, pipe: Pipeline, uid: str, fields: Mapping[str, str | int | float]) -> None:
        """Queues replacing the whole HASH of an article or of a failed URL: no field of an earlier version remains."""
        key = keys.article(uid)
        pipe.delete(key)
        pipe.hset(key, mapping=fields)
        pipe.expire(key, self._lives.article_sec)

    def mark_deleted(self, pipe: Pipeline, uid: str, at: str, why: str) -> None:
        """Queues marking a stored article as withdrawn by its publisher; a version stored later has no mark."""
        pipe.hset(keys.article(uid), mapping={"deleted_at": at, "deleted_why": why})

    def index(self, pipe: Pipeline, uid: str, categories: Iterable[str], fetched_ts: float) -> None:
        """Queues adding a stored article to the index by time and to its categories."""
        pipe.zadd(keys.ARTICLE_INDEX, {uid: fetched_ts})
        pipe.zremrangebyscore(keys.ARTICLE_INDEX, "-inf", fetched_ts - INDEX_LIFE_SEC)
        self.categorize(pipe, uid, categories)

    def uncategorize(self, pipe: Pipeline, uid: str, categories: Iterable[str]) -> None:
        """Queues removing an article from categories."""
        for category in categories:
            pipe.srem(keys.articles_by_category(category), uid)

    def categorize(self, pipe: Pipeline, uid: str, categories: Iterable[str]) -> None:
        """Queues adding an article to categories."""
        for category in categories:
            pipe.sadd(keys.articles_by_category(category), uid)
            pipe.expire(keys.articles_by_category(category), self._lives.article_sec)

    def failure(self, pipe: Pipeline, uid: str, code: str, at: float) -> None:
        """Queues adding a failure, with its code, to the list of failures."""
        pipe.zadd(keys.CANONICAL_FAILURES, {f"{uid}:{code}": at})
        pipe.zremrangebyscore(keys.CANONICAL_FAILURES, "-inf", at - INDEX_LIFE_SEC)

    def attempted(self, pipe: Pipeline, uids: Iterable[str], at: float) -> None:
        """Queues adding uids to the attempted ones; `expire` removes each 30 days after its last attempt."""
        for uid in uids:
            pipe.sadd(keys.CANONICAL_ATTEMPTED, uid)
            pipe.zadd(keys.CANONICAL_ATTEMPTED_AT, {uid: at})
        for key in (keys.CANONICAL_ATTEMPTED, keys.CANONICAL_ATTEMPTED_AT):
            pipe.expire(key, INDEX_LIFE_SEC)  # without a worker nothing else removes them

    def expire(self, now: float) -> int:
        """Removes attempts, failures and index entries of more than 30 days ago; returns their number.

        Can run in a thread beside the event loop.
        """
        before = now - INDEX_LIFE_SEC
        removed = 0
        while old := self._client.zrangebyscore(keys.CANONICAL_ATTEMPTED_AT, "-inf", before, start=0, num=PRUNE_LIMIT):
            with self._client.pipeline() as pipe:
                pipe.srem(keys.CANONICAL_ATTEMPTED, *old)
                in_order(pipe)
                pipe.zrem(keys.CANONICAL_ATTEMPTED_AT, *old)
                pipe.execute()
            removed += len(old)
        for key in (keys.CANONICAL_FAILURES, keys.ARTICLE_INDEX):
            removed += self._client.zremrangebyscore(key, "-inf", before)
        return removed

    def category_links(self, pipe: Pipeline, category: str, urls: Sequence[str]) -> None:
        """Queues adding canonical URLs to a category's links; the set expires 48 h after the last addition."""
        if urls:
            pipe.sadd(keys.category_links(category), *urls)
            pipe.expire(keys.category_links(category), self._lives.category_links_sec)

    # --- the page cache ---

    def cache_page(self, url_sha256: str, html: str, now: float) -> None:
        """Stores a page's decoded HTML for its time to live; over the limit of all pages, the oldest are dropped."""
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

    def are_cached(self, digests: Sequence[str]) -> list[bool]:
        """True for each URL (by sha256) whose page is cached."""
        with self._client.pipeline(transaction=False) as pipe:
            for each in digests:
                pipe.exists(keys.webpage(each))
            return [bool(number) for number in pipe.execute()]

    def cached_page(self, url_sha256: str) -> str:
        """A page's decoded HTML; empty if it is no longer stored."""
        return str(self._client.get(keys.webpage(url_sha256)) or "")

    def has_page(self, url_sha256: str) -> bool:
        """True if a page's decoded HTML is stored."""
        return bool(self._client.exists(keys.webpage(url_sha256)))

    def _make_room(self, total: int) -> None:
        """Drops the oldest pages until a sixteenth of the limit is free, so that this is rarely needed."""
        room = self._lives.pages_bytes - self._lives.pages_bytes // 16
        while total > room and (oldest := self._client.zrange(keys.PAGE_CACHE_INDEX, 0, 31)):
            sizes = self._client.hmget(keys.PAGE_CACHE_SIZES, oldest)
            left = [total - gone for gone in accumulate(int(size or 0) for size in sizes)]
            total = self._drop_pages(oldest[: 1 + sum(bytes_left > room for bytes_left in left)])

    def _drop_pages(self, digests: Sequence[str]) -> int:
        """Drops pages; returns the number of bytes still used."""
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
