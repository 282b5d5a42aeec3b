"""The consumer that keeps the index of a search server, and the rebuild of that index."""

from __future__ import annotations

import asyncio
import logging
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.archive.retention import kept_since
from feedcrawl.domain.operations.events import Unprocessable
from feedcrawl.services.operations.consumer import BATCH, BatchResult, Consumer, GroupSource, TargetAway
from feedcrawl.store.search.interface import Changes, IndexUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from feedcrawl.domain.articles.fields import ArticleFields
    from feedcrawl.services.search.documents import Documents
    from feedcrawl.store.disk.ndjson import NdjsonFile
    from feedcrawl.store.operations.streams import Events, StoredEvent
    from feedcrawl.store.search.interface import Refused
    from feedcrawl.store.search.server import ServerIndex

logger = logging.getLogger(__name__)

GROUP: Final = "search"
PART_BYTES: Final = 4 << 20
FORGET: Final = 1000
"""Documents that retention removes with one request, between two batches of events: the server's default bulk size."""


@dataclass(frozen=True, slots=True)
class ServerIndexStores:
    """The stores of the consumer. `keep_days`: whole days for which articles are kept, None for ever."""

    index: ServerIndex
    events: Events
    article_lines: NdjsonFile[ArticleFields]
    documents: Documents
    now: Callable[[], datetime]
    keep_days: int | None


class ServerSource(GroupSource):
    """The events of the group `search`; the leading process also removes documents that are too old, once a day."""

    def __init__(self, stores: ServerIndexStores, *, worker: str) -> None:
        super().__init__(stores.events, GROUP, worker=worker)
        self._stores = stores
        self._kept_since: datetime | None = None

    def take(self) -> list[StoredEvent]:
        """The next events; removes a part of the old documents first."""
        events = super().take()
        self.is_busy = self.leads and self._forget()
        return events

    def _forget(self) -> bool:
        """Remove documents that are older than articles are kept; True if more may be left of today's pass."""
        if self._stores.keep_days is None:
            return False
        since = kept_since(self._stores.now(), self._stores.keep_days)
        if since == self._kept_since:
            return False
        with _failures():
            self._stores.index.prepare()
            if self._stores.index.forget(since.timestamp(), FORGET):
                return True
        self._kept_since = since
        return False


class ServerTarget:
    """The index of a server as the target of a consumer."""

    def __init__(self, stores: ServerIndexStores) -> None:
        self._stores = stores

    async def deliver(self, events: Sequence[StoredEvent]) -> BatchResult:
        """Store and remove the documents of the events. Raises TargetAway."""
        return await asyncio.to_thread(self._deliver, events)

    def _deliver(self, events: Sequence[StoredEvent]) -> BatchResult:
        changes, ends = self._stores.documents.changes(events)
        with _failures():
            self._stores.index.prepare()
            refused = self._stores.index.store(changes)
        dead_letters = [(each, why) for each, why in zip(events, ends, strict=True) if why is not None]
        dead_letters += [(_last(events, each.uid), Unprocessable(each.reason, each.detail)) for each in refused]
        return BatchResult(len(changes.stored) + len(changes.removed) - len(refused), dead_letters)

    async def close(self) -> None:
        """Nothing: the connections are closed with the stores."""


def _last(events: Sequence[StoredEvent], uid: str) -> StoredEvent:
    """The last event that names a uid."""
    return next(each for each in reversed(events) if f'"{uid}"' in each.fields.get("data", ""))


def indexer(stores: ServerIndexStores, *, worker: str) -> Consumer:
    """The consumer of the index of a server, in the process that is named `worker`."""
    return Consumer(ServerSource(stores, worker=worker), ServerTarget(stores), name="index")


def rebuild(stores: ServerIndexStores) -> int:
    """Build the index anew from `articles/` of this data directory and from the whole stream; the number of documents
    stored.

    The old index answers until the new one is complete. Events that come meanwhile are stored in both: those that the
    consumer gave to the old one are read from the stream again, after the switch a last time. Raises IndexUnavailable.
    """
    index = stores.index
    index.prepare()
    built, count = index.begin(), 0
    for day in stores.article_lines.days():
        start = 0
        while part := stores.article_lines.part(day, start, PART_BYTES):
            documents = stores.documents.of_lines(record for _, record in part.records)
            _log(index.store(Changes(documents), index=built))
            count, start = count + len(documents), part.end
    cursor = _follow(stores, "0", built)
    index.complete(built)
    _follow(stores, cursor, built)
    return count


def _follow(stores: ServerIndexStores, cursor: str, index: str) -> str:
    """Apply the events after a cursor to an index; the cursor of the last."""
    while events := stores.events.after(cursor, BATCH):
        _log(stores.index.store(stores.documents.changes(events)[0], index=index))
        cursor = events[-1].at
    return cursor


def _log(refused: Sequence[Refused]) -> None:
    for each in refused:
        logger.warning("document_refused", extra={"uid": each.uid, "reason": each.reason, "detail": each.detail})


@contextmanager
def _failures() -> Iterator[None]:
    try:
        yield
    except IndexUnavailable as error:
        raise TargetAway(error.code, error.detail) from error
