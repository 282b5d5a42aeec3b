"""Ends the task (last step): validators, schedule, journal and the lease in one script, after all else is safe."""

from __future__ import annotations

import logging
import random
from typing import TYPE_CHECKING, Any, Self

from feedcrawl import wiring
from feedcrawl.domain import cadence
from feedcrawl.domain.cadence.tempo import demand
from feedcrawl.exceptions import LeaseLost
from feedcrawl.items import Article, FeedPoll
from feedcrawl.services.operations import tallies
from feedcrawl.services.subscriptions import backfill, journal, polling, registering
from feedcrawl.telemetry.tracing import traced

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.wiring import Wiring

logger = logging.getLogger(__name__)

ERRORS_WORTH_AN_ALARM = 10


class CommitPipeline:
    """A lease that was lost meanwhile changes nothing; whoever has it now does the same again."""

    def __init__(self, wired: Wiring, stats: StatsCollector) -> None:
        self._wired = wired
        self._stats = stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Shares the crawler's leases."""
        assert crawler.stats is not None
        return cls(wiring.of(crawler), crawler.stats)

    @traced("commit")
    async def process_item(self, item: Any) -> Any:
        """The item, its task ended or rescheduled."""
        self._note(item)
        if isinstance(item, FeedPoll) and item.is_archive:
            await self._archive(item)
        elif isinstance(item, FeedPoll) and item.pushed:
            await self._push(item)
        elif isinstance(item, FeedPoll):
            await self._poll(item)
        elif isinstance(item, Article):
            await self._article(item)
        return item

    def close_spider(self) -> None:
        """Nothing ends any more."""
        self._wired.leases.close()

    def _note(self, item: Any) -> None:
        if isinstance(item, FeedPoll):
            said = {"poll_id": item.poll_id, "feed_id": item.feed.id, "result": item.result, "new": len(item.new)}
            self._wired.tracer.note(item.lease, **said, fetch_id=item.fetch_id, reason_before=item.feed.polls.reason)
        elif isinstance(item, Article):
            said = {"uid": item.uid, "result": item.reason or item.status, "fetch_id": item.fetch_id}
            self._wired.tracer.note(item.lease, **said, feed_id=item.record.get("feed_id"))

    async def _end(self, lease: Lease, **ending: Any) -> None:
        if await self._wired.leases.done_soon(lease, **ending) == "lost":
            raise LeaseLost(lease)

    async def _poll(self, poll: FeedPoll) -> None:
        registry = self._wired.registry
        policy = self._wired.tempo.policy(poll.at)
        self._wired.websub.seen(poll)
        poll.decision = polling.decide(poll, policy, random.uniform(-1, 1))  # noqa: S311 - jitter
        self._wired.tracer.note(poll.lease, decision=poll.decision.reason, wait_sec=poll.decision.interval_sec)
        poll.demand = demand(policy.tempo, poll.decision.interval_sec)
        moved = registering.move(registry, poll)
        before, record = poll.feed.polls, polling.poll_record(poll)
        commands = registry.commit(poll.feed.id, record, journal.journal_line(poll))
        commands += registry.demand_changed(poll.feed.id, poll.demand - poll.feed.polls.demand)
        commands += registry.failing_changed(poll.feed.id, before, record)
        commands += self._wired.series.of_feed(poll.feed.id, tallies.of_poll(poll), poll.at.timestamp())
        await self._end(
            poll.lease,
            status="pending",
            reason=poll.result,
            delay_sec=poll.decision.interval_sec,
            recovered_sec=cadence.once_answered(poll.decision, poll.status),
            commit=[*moved, *commands],
            signal=poll.signal,
            patch=polling.back_home(poll.lease.task, poll.feed),
        )
        self._stats.inc_value(f"feedcrawl/polls/{'failed' if poll.failed else poll.result}")
        self._stats.inc_value("feedcrawl/entries/new", len(poll.new))
        self._stats.inc_value("feedcrawl/entries/changed", len(poll.changed))
        self._stats.inc_value("feedcrawl/feeds/possibly_missed", int(poll.possibly_missed))
        if poll.result == "not_modified":
            self._stats.inc_value("feedcrawl/bytes_saved", before.body_bytes)
        self._log_poll(poll)
        for name, said in polling.turns(before, record):
            self._stats.inc_value(f"feedcrawl/{name}")
            logger.warning(name, extra={"feed_id": poll.feed.id, "url": poll.feed.subscription.url, **said})

    async def _push(self, item: FeedPoll) -> None:
        """A delivery has been read; what the polls have learnt stays as it is."""
        ending = self._wired.websub.read(item)
        ending["commit"] += self._wired.series.of_feed(item.feed.id, tallies.of_poll(item), item.at.timestamp())
        await self._end(item.lease, **ending)
        self._stats.inc_value(f"feedcrawl/pushes/{'failed' if item.failed else 'read'}")
        self._stats.inc_value("feedcrawl/entries/new", len(item.new))
        said = {"feed_id": item.feed.id, "url": item.feed.subscription.url, "result": item.result}
        logger.info("push_read", extra={**said, "new": len(item.new), "known": item.known, "detail": item.detail[:200]})

    async def _archive(self, item: FeedPoll) -> None:
        """The walk goes on, or ends with a line in the journal; schedule and validators are the polls' alone."""
        ending, walk, last = backfill.next_step(item)
        if last is not None:
            line = backfill.journal_line(item.feed, walk, last.reason, item.at)
            ending["commit"] = self._wired.registry.note(item.feed.id, line)
        await self._end(item.lease, **ending)
        self._stats.inc_value("feedcrawl/archives/documents")
        self._stats.inc_value("feedcrawl/entries/new", len(item.new))
        details = {"feed_id": item.feed.id, "url": item.lease.task.url, "host": item.lease.task.host}
        logger.info("archive_read", extra={**details, "new": len(item.new), "known": item.known})
        if last is not None:
            ended = {"documents": walk.documents, "new": walk.new, "reason": last.reason}
            logger.info("archives_read", extra={**details, **ended})

    def _log_poll(self, poll: FeedPoll) -> None:
        decision, errors = poll.decision, 0
        assert decision is not None
        details = {
            "feed_id": poll.feed.id,
            "url": poll.feed.subscription.url,
            "host": poll.lease.task.host,
            "poll_id": poll.poll_id,
            "http_status": poll.status,
            "reason": decision.reason,
            "new": len(poll.new),
            "interval_before": poll.feed.polls.interval_sec,
            "interval_after": round(decision.interval_sec, 1),
        }
        errors = decision.state.errors
        if poll.possibly_missed:
            logger.warning("entries_possibly_missed", extra={**details, "shown": len(poll.new)})
        if not poll.failed:
            logger.info("feed_polled", extra={**details, "result": poll.result})
        elif errors >= ERRORS_WORTH_AN_ALARM:
            logger.error("feed_keeps_failing", extra={**details, "result": poll.result, "errors": errors})
        else:
            logger.warning("feed_failed", extra={**details, "result": poll.result, "detail": poll.detail[:200]})

    async def _article(self, item: Article) -> None:
        feed_id = item.record.get("feed_id")
        details = {"uid": item.uid, "url": item.url, "host": item.lease.task.host, "feed_id": feed_id}
        counted = self._wired.series.of_page(item.lease.shard, tallies.of_article(item), item.at.timestamp())
        if item.status == "success":
            validators = item.validators
            patch = {
                "url": item.url,
                "content_hash": item.content_hash,
                "etag": validators.etag if validators else None,
                "last_modified": validators.last_modified if validators else None,
            }
            reason = "merged" if item.merged_into else "stored"
            await self._end(item.lease, status="fetched", reason=reason, patch=patch, commit=counted)
            self._stats.inc_value(f"feedcrawl/articles/{reason}")
            name = "article_merged" if item.merged_into else "article_stored"
            notes = "; ".join(item.extraction.notes) if item.extraction else None
            logger.info(name, extra={**details, "canonical_url": item.canonical_url, "notes": notes})
            return
        if not item.ended:
            await self._end(
                item.lease,
                status="dead",
                reason=item.reason,
                dead_letter=item.dead_letter,
                http_status=item.http_status,
                patch={"url": item.url, "last_error": item.reason},
                commit=counted,
            )
        else:
            self._wired.series.add(counted)
        self._stats.inc_value("feedcrawl/articles/failed")
        self._stats.inc_value(f"feedcrawl/articles/failed/{item.code}")
        logger.info("article_refused", extra={**details, "code": item.code, "reason": item.reason})
