"""Lists and undoes merges: which URLs became one article, why, and how each gets its own article again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from feedcrawl.domain.articles import media as states
from feedcrawl.domain.articles.media import media_id, new_media
from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.errors import Refusal
from feedcrawl.services.articles.tasks import (
    TaskOptions,
    article_events,
    article_task,
    hash_fields,
    uid_of,
    unmerged_event,
)
from feedcrawl.store.redis.connection import in_order

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from feedcrawl.domain.articles.fields import ArticleFields
    from feedcrawl.domain.articles.records import MergeRecord
    from feedcrawl.domain.operations.events import Event
    from feedcrawl.domain.sites.owners import Sources
    from feedcrawl.services.frontier.leases import Leases
    from feedcrawl.store.articles.collections import Collections
    from feedcrawl.store.articles.media import MediaRecords
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.articles.stories import Stories
    from feedcrawl.store.disk.ndjson import NdjsonFile
    from feedcrawl.store.operations.streams import Events
    from feedcrawl.store.redis.client import Client, Pipeline

Outcome = Literal["restored", "queued"]
"""The article is stored again as it was read | the article is fetched again, since its own text is not stored."""


class UnknownMerge(Refusal):
    """No merge of this uid or URL is stored."""


class Merges:
    """Every method may raise StoreUnavailable; `undo` may also raise DiskUnavailable."""

    def __init__(
        self,
        client: Client,
        stores: tuple[Articles, Stories, MediaRecords, Collections],
        outlets: tuple[NdjsonFile[ArticleFields], Events],
        leases: Leases,
        sources: Callable[[], Sources],
    ) -> None:
        self._client = client
        self._articles, self._stories, self._media, self._collections = stores
        self._lines, self._events = outlets
        self._leases = leases
        self._sources = sources

    def last(self, limit: int) -> list[MergeRecord]:
        """The last merges, newest first, in the shape of docs/data-format.md."""
        return self._stories.merges(limit)

    def find(self, name: str) -> MergeRecord:
        """The merge of a uid or of a URL; raises UnknownMerge."""
        uid = uid_of(name) if "/" in name else name
        found = self._stories.find(uid)
        if found is None:
            raise UnknownMerge("no_merge", f"{name} was not merged into another article within the last 30 days")
        return found

    def undo(self, name: str, now: datetime) -> tuple[MergeRecord, Outcome]:
        """Undo a merge for good; the merge, and the result for the merged article. Repeating an interrupted call
        completes it.

        First the pair is marked, so that it is not merged again; then the line on the disk is written, then all other
        records, the events, and the page record; the merge itself is removed last.
        """
        merge = self.find(name)
        with self._client.pipeline(transaction=False) as pipe:
            self._stories.part(pipe, merge["uid"], merge["winner"])
            pipe.execute()
            record = self._stories.record(merge["uid"])
        if record is not None:
            self._lines.append(now.date(), {"type": "article", **record})
        else:
            options = TaskOptions(categories=merge["categories"][:1])
            self._leases.enqueue([article_task(merge["url"], self._sources(), options)], again="operator")
        kept = self._articles.requested_categories(merge["winner"])
        with self._client.pipeline(transaction=False) as pipe:
            self._unmerge(pipe, merge, [name for name in merge["lacked"] if name not in kept])
            if record is not None:
                self._articles.write(pipe, merge["uid"], hash_fields(record))
                self._articles.index(pipe, merge["uid"], merge["categories"], record["fetched_ts"])
            in_order(pipe)
            self._events.add(pipe, _events_of(merge, record))
            in_order(pipe)
            self._return_media(pipe, merge, record, now)
            in_order(pipe)
            self._stories.undone(pipe, merge["uid"])
            pipe.execute()
        return merge, "queued" if record is None else "restored"

    def _unmerge(self, pipe: Pipeline, merge: MergeRecord, gained: list[str]) -> None:
        uid, requested, target = merge["uid"], merge["asked"], merge["winner"]
        self._articles.unmerge(pipe, uid)
        if requested != uid:
            self._articles.merge(pipe, requested, uid)
        self._articles.remove_other_url(pipe, target, merge["url"])
        self._articles.uncategorize(pipe, target, gained)

    def _return_media(self, pipe: Pipeline, merge: MergeRecord, record: ArticleFields | None, now: datetime) -> None:
        """Restore the merged article's own page record and its collections; no collection loses the other
        article.
        """
        at, own = rfc3339(now), media_id(merge["uid"])
        media = self._media.get(own) or new_media(merge["uid"], merge["url"], at)
        if merge["collections"]:
            self._media.hold(pipe, media)
            self._collections.attach(pipe, merge["collections"], own, now.timestamp())
        if media.processing_status == "duplicate":
            media = states.parted(media, at)
        if record is not None:
            values = {"canonical_url": record["canonical_url"], "content_hash": record["content_hash"]}
            media = states.succeeded(states.started(media, at), at, **values)
            if merge["collections"]:
                self._media.keep(pipe, media, record)
        self._media.write(pipe, media)


def _events_of(merge: MergeRecord, record: ArticleFields | None) -> list[Event]:
    parted = unmerged_event(merge["uid"], merge["winner"], merge["url"], merge["canonical_url"])
    return [parted, *([] if record is None else article_events(record, updated=False))]
