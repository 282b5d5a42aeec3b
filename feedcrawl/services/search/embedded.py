"""The consumer that keeps the embedded index equal to the stored articles.

The index itself remembers the last event, in the transaction of the event's documents: each event counts exactly once,
and no consumer group of a lost index keeps the stream from being trimmed. An index that is missing, damaged, of another
version, or older than the stream is built from `articles/` of this data directory and then from the whole stream, in
parts: a process that ends meanwhile leaves the rest to the next.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.archive.retention import kept_since
from feedcrawl.services.operations.consumer import BATCH, BatchResult, Consumer, TargetAway, count
from feedcrawl.store.search.interface import DAMAGED, Changes, IndexUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from feedcrawl.domain.articles.fields import ArticleFields
    from feedcrawl.services.search.documents import Documents
    from feedcrawl.store.disk.ndjson import NdjsonFile
    from feedcrawl.store.operations.streams import Events, StoredEvent
    from feedcrawl.store.search.embedded import EmbeddedIndex
    from feedcrawl.store.search.sqlite import IndexFile

logger = logging.getLogger(__name__)

GROUP: Final = "search"
PART_BYTES: Final = 4 << 20
"""Bytes of `articles/` that are indexed in one transaction while an index is built."""
FORGET: Final = 200
"""Documents that retention removes in one transaction, between two batches of events."""
SEEN_SEC: Final = 60.0
"""Seconds between two notes that the index has seen the end of the stream."""


@dataclass(frozen=True, slots=True)
class EmbeddedIndexStores:
    """The stores of the consumer. `kept_sec`: events younger than this are in the stream; `keep_days`: whole days for
    which articles are kept, None for ever.
    """

    index: EmbeddedIndex
    events: Events
    article_lines: NdjsonFile[ArticleFields]
    documents: Documents
    now: Callable[[], datetime]
    kept_sec: float
    keep_days: int | None


class EmbeddedIndexer:
    """Source and target of the consumer; the process that holds the lock of the index consumes."""

    def __init__(self, stores: EmbeddedIndexStores) -> None:
        self._stores = stores
        self._seen = 0.0
        self.leads = self.is_busy = False

    # --- the source ---

    def take(self) -> list[StoredEvent]:
        """The next events; builds a part of the index first if there is none."""
        self.is_busy = False
        with self._failures():
            self.leads = self._stores.index.lock()
            if not self.leads:
                return []
            file = self._stores.index.writable()
            if file is not None and not self._seen and self._is_too_old(file):
                self._stores.index.request_rebuild()
                file = None
            if file is None:
                self._build()
                self.is_busy = True
                return []
            self.is_busy = self._forget(file)
            return self._after(file)

    def _forget(self, file: IndexFile) -> bool:
        """Remove a part of the documents that are older than articles are kept; True if more may be left of today's
        pass.
        """
        if self._stores.keep_days is None:
            return False
        since = kept_since(self._stores.now(), self._stores.keep_days)
        if file.note("kept_since") == f"{since.date()}":
            return False
        if file.forget(since.timestamp(), FORGET):
            return True
        file.apply(Changes(), {"kept_since": f"{since.date()}"})
        return False

    def _after(self, file: IndexFile) -> list[StoredEvent]:
        events = self._stores.events.after(file.note("cursor") or "0", BATCH)
        now = self._stores.now().timestamp()
        if not events and now - self._seen > SEEN_SEC:
            file.apply(Changes(), {"seen_ts": str(now)})
            self._seen = now
        return events

    def _is_too_old(self, file: IndexFile) -> bool:
        """True if the stream may have been trimmed beyond the last event of the index."""
        return float(file.note("seen_ts") or 0) < self._stores.now().timestamp() - self._stores.kept_sec

    def finish(self, stored: Sequence[StoredEvent], done: BatchResult) -> None:  # noqa: ARG002 - the index has noted the last
        """Store the events that cannot be read."""
        for each, why in done.refused:
            self._stores.events.refuse(each, GROUP, why.reason, why.detail)
        count(self._stores.events, GROUP, done)

    def retry(self) -> None:
        """Count the failure; the events after the last one of the index are taken again by themselves."""
        self._stores.events.count(GROUP, "failed")

    def leave(self) -> None:
        """Let another process write."""
        self._stores.index.unlock()

    def waiting(self) -> int | None:
        """Unknown: the stream cannot count the events after one."""
        return None

    # --- the target ---

    async def deliver(self, events: Sequence[StoredEvent]) -> BatchResult:
        """Store and remove the documents of the events, with the note of the last event, in one transaction."""
        return await asyncio.to_thread(self._deliver, events)

    def _deliver(self, events: Sequence[StoredEvent]) -> BatchResult:
        changes, ends = self._stores.documents.changes(events)
        with self._failures():
            file = self._stores.index.writable()
            if file is None:
                raise TargetAway(DAMAGED, "the index is about to be built again")
            now = self._stores.now().timestamp()
            file.apply(changes, {"cursor": events[-1].at, "seen_ts": str(now)})
            self._seen = now
        refused = [(each, why) for each, why in zip(events, ends, strict=True) if why is not None]
        return BatchResult(len(changes.stored) + len(changes.removed), refused)

    async def close(self) -> None:
        """Nothing: the files are closed by `leave` and with the stores."""

    # --- building ---

    def _build(self) -> None:
        """Index one part of `articles/`; after the last part the new index takes the place of the old one."""
        built = self._stores.index.building()
        noted = (built.note("built") or "").split(":")
        first, start = (date.fromisoformat(noted[0]), int(noted[1])) if len(noted) > 1 else (date.min, 0)
        if first == date.min:
            logger.info("index_build")
        for day in self._stores.article_lines.days():
            if day < first:
                continue
            part = self._stores.article_lines.part(day, start if day == first else 0, PART_BYTES)
            if part is not None:
                documents = self._stores.documents.of_lines(record for _, record in part.records)
                built.apply(Changes(documents), {"built": f"{day}:{part.end}"})
                return
        self._seen = self._stores.now().timestamp()
        built.apply(Changes(), {"cursor": "0", "seen_ts": str(self._seen)})
        self._stores.index.complete(built)
        logger.info("index_built", extra={"articles": self._stores.index.count()})

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Turns an index that cannot be used into TargetAway; a damaged one is built again."""
        try:
            yield
        except IndexUnavailable as error:
            if error.code == DAMAGED:
                self._stores.index.discard()
                self._stores.index.request_rebuild()
            raise TargetAway(error.code, error.detail) from error


def indexer(stores: EmbeddedIndexStores) -> Consumer:
    """The consumer of the embedded index."""
    found = EmbeddedIndexer(stores)
    return Consumer(found, found, name="index")
