"""The end of an article's task: validators and lease in one script, after everything else is stored."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from feedcrawl.domain.operations.counters import Increments

if TYPE_CHECKING:
    from collections.abc import Callable

    from feedcrawl.domain.frontier.payloads import Patch
    from feedcrawl.items import Article
    from feedcrawl.services.frontier.leases import Leases
    from feedcrawl.store.operations.series import Series
    from feedcrawl.telemetry.tracing import Tracer


logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ArticleEnd:
    """Ends the tasks of articles. `count` adds to a counter of the run. If the lease was lost meanwhile, nothing
    changes.
    """

    leases: Leases
    series: Series
    tracer: Tracer
    count: Callable[[str, int], None]

    async def end(self, item: Article) -> bool:
        """End the task of an article or of its failure; False if the lease is lost. Raises StoreUnavailable."""
        fields = {"uid": item.uid, "result": item.reason or item.status, "fetch_id": item.fetch_id}
        self.tracer.note(item.lease, **fields, feed_id=item.record.get("feed_id"))
        counted = self.series.of_page(item.lease.shard, increments(item), item.at.timestamp())
        return await (self._stored(item, counted) if item.status == "success" else self._failed(item, counted))

    async def _stored(self, item: Article, counted: list[list[str | int]]) -> bool:
        validators = item.validators
        patch: Patch = {
            "url": item.url,
            "etag": validators.etag if validators else None,
            "last_modified": validators.last_modified if validators else None,
        }
        reason = "merged" if item.merged_into else "stored"
        if (
            await self.leases.done_soon(item.lease, status="fetched", reason=reason, patch=patch, commit=counted)
            == "lost"
        ):
            return False
        self.count(f"feedcrawl/articles/{reason}", 1)
        name = "article_merged" if item.merged_into else "article_stored"
        notes = "; ".join(item.extraction.notes) if item.extraction else None
        logger.info(name, extra=_details(item) | {"canonical_url": item.canonical_url, "notes": notes})
        return True

    async def _failed(self, item: Article, counted: list[list[str | int]]) -> bool:
        if item.ended:
            self.series.add(counted)
        elif (
            await self.leases.done_soon(
                item.lease,
                status="dead",
                reason=item.reason,
                dead_letter=item.dead_letter,
                http_status=item.http_status,
                patch={"url": item.url, "last_error": item.reason},
                commit=counted,
            )
            == "lost"
        ):
            return False
        if item.reason == "robots_blocked":
            self.count("feedcrawl/articles/skipped", 1)
        else:
            self.count("feedcrawl/articles/failed", 1)
            self.count(f"feedcrawl/articles/failed/{item.code}", 1)
        logger.info("article_refused", extra=_details(item) | {"code": item.code, "reason": item.reason})
        return True


def _details(item: Article) -> dict[str, object]:
    feed_id = item.record.get("feed_id")
    return {"uid": item.uid, "url": item.url, "host": item.lease.task.host, "feed_id": feed_id}


def increments(item: Article) -> Increments:
    """The counters of a page that has ended."""
    if item.status == "success":
        return Increments({f"article:{'merged' if item.merged_into else 'stored'}": 1})
    return Increments({f"article:{item.reason}": 1}, failed_host=item.lease.task.host)
