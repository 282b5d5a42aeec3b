"""Page records: created on an actor's request, updated by fetch and extraction, and read afterwards.

A route, a command and the crawl call the same functions. The id of an article's page record follows from the article's
uid, so that writing it needs no lookup.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.articles import media as states
from feedcrawl.domain.articles.media import Media, media_id, new_media
from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.errors import Refusal
from feedcrawl.services.articles.collections import own_collection
from feedcrawl.services.articles.merging import merged_uids
from feedcrawl.services.articles.tasks import TaskOptions, article_task, record_of
from feedcrawl.store.articles.collections import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from feedcrawl.domain.articles.fields import ArticleFields
    from feedcrawl.domain.articles.page_records import MediaFragments, MediaRecord
    from feedcrawl.domain.frontier.payloads import Payload
    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.domain.sites.owners import Sources
    from feedcrawl.items import Article
    from feedcrawl.services.frontier.leases import Leases
    from feedcrawl.store.articles.collections import Collections
    from feedcrawl.store.articles.media import MediaRecords
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.articles.stories import Stories
    from feedcrawl.store.redis.client import Client, Pipeline

WAITING: Final = frozenset({"pending", "extracting"})
"""States of page records whose task has not ended."""


@dataclass(frozen=True, slots=True)
class Submission:
    """The result of a submitted URL. `duplicate`: another URL has already brought its article."""

    media: Media
    duplicate: bool
    enqueued: bool


@dataclass(frozen=True, slots=True)
class Prepared:
    """The stored state of a batch of tasks: tasks that lack only their end, and for each uid the uids that it
    must not be merged with.
    """

    done: Mapping[str, Media]
    apart: Mapping[str, frozenset[str]]


class UnknownMedia(Refusal):
    """There is no page record with this media_id."""


class MediaService:
    """Every method may raise StoreUnavailable."""

    def __init__(
        self,
        client: Client,
        stores: tuple[Articles, Stories, MediaRecords, Collections],
        leases: Leases,
        sources: Callable[[], Sources],
    ) -> None:
        self._client = client
        self._articles, self._stories, self._records, self._collections = stores
        self._leases = leases
        self._sources = sources

    # --- for actors ---

    def submit(
        self, url: str, actor: str, now: datetime, *, collection: str = DEFAULT, request_id: str | None = None
    ) -> Submission:
        """Create the page record of a URL, in a collection of the actor's, and its task.

        Each URL has one page record for all actors; for a URL that was merged, the record of the other article is
        returned. Submitting a URL again repairs a page record whose task was given up; a pending or leased task stays
        unchanged. A failed URL is tried again, and an article whose text is no longer stored is fetched anew. Raises
        InvalidUrl if the URL cannot be fetched, UnknownCollection.
        """
        task = article_task(url, self._sources())
        place = own_collection(self._collections, actor, collection)
        target = self._target_of(task.id)
        media = new_media(target or task.id, task.url, rfc3339(now), request_id)
        media, is_there = self._attached(media, place, now)
        if media.processing_status == "failed":
            return Submission(self._retried(media, now), duplicate=target is not None, enqueued=True)
        enqueued = not is_there
        if enqueued:
            self._fetch(media)
        return Submission(media, duplicate=target is not None, enqueued=enqueued)

    def hold(self, uid: str, actor: str, collection: str, now: datetime) -> Media:
        """Put a stored article into a collection; raises Refusal (`article_unknown`), UnknownCollection."""
        place = own_collection(self._collections, actor, collection)
        uid = self._target_of(uid) or uid
        article = self._article(uid)
        if article is None:
            raise Refusal("article_unknown", f"no article {uid[:32]!r} is stored: submit its URL to have it fetched")
        return self._attached(new_media(uid, article["canonical_url"], rfc3339(now)), place, now)[0]

    def retry(self, record_id: str, now: datetime) -> Media:
        """Start another round of attempts for a failed page record; raises UnknownMedia, or IllegalTransition for
        other states.
        """
        return self._retried(self._found(record_id), now)

    def get(self, record_id: str) -> MediaRecord:
        """The page record with its fragments, in the shape of docs/data-format.md; raises UnknownMedia."""
        media = self._found(record_id)
        parts = self._records.fragments(media) or self._fragments(media)
        return states.public(media, parts)

    # --- for the crawl ---

    def prepare(self, leases: Sequence[Lease], now: datetime) -> Prepared:
        """Mark the waiting page records of a batch as started: one round trip, two if any record waits."""
        ids = [lease.id for lease in leases]
        with self._client.pipeline(transaction=False) as pipe:
            for uid in ids:
                self._records.query(pipe, media_id(uid))
                self._stories.query_apart(pipe, uid)
            replies = pipe.execute()
        records = dict(zip(ids, map(self._records.read, replies[::2]), strict=True))
        apart = {uid: frozenset(others) for uid, others in zip(ids, replies[1::2], strict=True) if others}
        self._start([(lease, media) for lease in leases if (media := records[lease.id])], now)
        done = {lease.id: media for lease in leases if (media := records[lease.id]) and _only_ends(lease, media)}
        return Prepared(done, apart)

    def finish(self, pipe: Pipeline, article: Article, now: datetime | None = None) -> None:
        """Queue the page records' changes for an article or for the failure of its URL. Comes after all other writes of
        the item.

        `now` is given if it differs from the time of the fetch.
        """
        known, at = article.known, rfc3339(now or article.at)
        own = known.requested if article.extraction is None else known.own
        if article.extraction is None:
            media = self._started(article, own or new_media(article.lease.id, article.url, at))
            code, reason = article.code or "FAIL_PARSE", article.reason
            self._records.write(pipe, states.failed(media, at, code=code, reason=reason, detail=article.detail))
        elif article.merged_into is None:
            media = self._started(article, own or new_media(article.uid, article.url, at))
            values = {"canonical_url": article.canonical_url, "content_hash": article.content_hash}
            media = states.succeeded(media, at, **values)
            self._records.write(pipe, media)
            if known.own_in or known.requested_in:
                self._records.keep(pipe, media, article.record)
        for uid in merged_uids(article):
            merged = known.requested if uid == article.lease.id else known.own
            if merged is not None:
                target = media_id(article.merged_into or article.uid)
                self._records.write(pipe, states.merged(self._started(article, merged), at, target))
        if article.merged_into is not None and (known.requested_in or known.own_in):
            self._keep(pipe, article.merged_into)

    def finish_unfetched(self, pipe: Pipeline, uid: str, target: str, now: datetime) -> None:
        """Queue the end of a page record whose article another URL has brought; its collections then hold that
        article.
        """
        with self._client.pipeline(transaction=False) as asking:
            self._records.query(asking, media_id(uid))
            self._collections.query_holders(asking, media_id(uid))
            reply, holders = asking.execute()
        media, at = self._records.read(reply), rfc3339(now)
        if media is None:
            return
        article = self._article(target)
        if uid != target:
            self._records.write(pipe, states.merged(media, at, media_id(target)))
            if holders:
                self._records.hold(
                    pipe, new_media(target, article["canonical_url"] if article else media.requested_url, at)
                )
                self._collections.attach(pipe, holders, media_id(target), now.timestamp())
                self._collections.detach(pipe, holders, media_id(uid))
                self._keep(pipe, target)
        elif article is not None and media.processing_status in WAITING:
            values = {name: article[name] for name in ("canonical_url", "content_hash")}
            media = states.succeeded(states.started(media, at), at, **values)
            self._records.write(pipe, media)
            self._records.keep(pipe, media, article)

    def _start(self, found: Sequence[tuple[Lease, Media]], now: datetime) -> None:
        waiting = [(lease, media) for lease, media in found if media.processing_status in WAITING]
        if waiting:
            with self._client.pipeline(transaction=False) as pipe:
                for lease, media in waiting:
                    begun = states.started(media, rfc3339(now), attempts=lease.history.attempts)
                    self._records.write(pipe, begun)
                pipe.execute()

    @staticmethod
    def _started(article: Article, media: Media) -> Media:
        at = rfc3339(article.started_at or article.at)
        return states.started(media, at, attempts=article.lease.history.attempts)

    def _attached(self, media: Media, collection: str, now: datetime) -> tuple[Media, bool]:
        """The existing or new page record, held by a collection; and True if its article can be read."""
        with self._client.pipeline(transaction=False) as pipe:
            self._records.hold(pipe, media)
            self._collections.attach(pipe, [collection], media.media_id, now.timestamp())
            self._keep(pipe, media.uid)
            pipe.execute()
        media = self._records.get(media.media_id) or media
        return media, media.processing_status == "ready_for_reading" and bool(self._records.fragments(media))

    def _target_of(self, uid: str) -> str | None:
        """The article that a uid was finally merged into; None if it was not merged."""
        chain = [uid]
        while (target := self._articles.target_of(chain[-1])) is not None and target not in chain:
            chain.append(target)
        return chain[-1] if len(chain) > 1 else None

    def _retried(self, media: Media, now: datetime) -> Media:
        media = states.retried(media, rfc3339(now))
        with self._client.pipeline(transaction=False) as pipe:
            self._records.write(pipe, media)
            pipe.execute()
        self._leases.enqueue([article_task(media.requested_url, self._sources())], again="retry")
        return media

    def _fetch(self, media: Media) -> None:
        payload: Payload = {"request_id": media.request_id} if media.request_id else {}
        task = article_task(media.requested_url, self._sources(), TaskOptions(payload=payload))
        if self._leases.enqueue([task]) == [
            "known"
        ]:  # the task ended before there were page records, or its text is gone
            self._leases.enqueue([task], again="retry")

    def _keep(self, pipe: Pipeline, uid: str) -> None:
        """Queue a copy of an article's present version, which stays readable after its HASH has expired."""
        media, article = self._records.get(media_id(uid)), self._article(uid)
        if media is not None and article is not None and article["content_hash"] == media.content_hash:
            self._records.keep(pipe, media, article)

    def _found(self, record_id: str) -> Media:
        media = self._records.get(record_id)
        if media is None:
            raise UnknownMedia("media_unknown", f"no page record {record_id[:80]!r} is stored")
        return media

    def _fragments(self, media: Media) -> list[MediaFragments]:
        """The fragments of the stored article; empty if another version is stored, or none."""
        article = self._article(media.uid)
        if article is None or article["content_hash"] != media.content_hash:
            return []
        return states.fragments(article["content_html"] or "", article["clean_text"])

    def _article(self, uid: str) -> ArticleFields | None:
        """The stored article; None if there is none."""
        record = record_of(self._articles.record(uid))
        return record if record.get("status") == "success" else None


def _only_ends(lease: Lease, media: Media) -> bool:
    """True if a task has stored everything except its end, and was not requested again."""
    discovered = lease.history.discovered_at
    if lease.history.again or discovered is None:
        return False
    return states.already_done(media, rfc3339(datetime.fromtimestamp(discovered / 1000, UTC)))
