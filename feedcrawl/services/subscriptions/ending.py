"""The end of a poll, of a hub's delivery and of an archive document: the stored result, and the time of the next
task.
"""

from __future__ import annotations

import logging
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from feedcrawl.domain import cadence
from feedcrawl.domain.cadence.tempo import demand
from feedcrawl.services.subscriptions import backfill, discovery, journal, polling

if TYPE_CHECKING:
    from collections.abc import Callable

    from feedcrawl.domain.subscriptions.records import PollRecord
    from feedcrawl.items import FeedPoll
    from feedcrawl.services.frontier.leases import Leases
    from feedcrawl.services.subscriptions.tempo import Tempo
    from feedcrawl.store.frontier.interface import EndingFields
    from feedcrawl.store.operations.series import Series
    from feedcrawl.store.subscriptions.registry import Registry
    from feedcrawl.telemetry.tracing import Tracer

logger = logging.getLogger(__name__)

ERRORS_WORTH_AN_ALARM: Final = 10


class Pushes(Protocol):
    """The part of the use cases of WebSub that the end of a poll needs."""

    def seen(self, poll: FeedPoll) -> None:
        """Updates the subscription at the hub that the poll's document names."""

    def read(self, poll: FeedPoll) -> EndingFields:
        """Arguments of the lease's end for a delivery that was read."""


@dataclass(frozen=True, slots=True)
class PollEnd:
    """Validators, schedule, journal and the lease of a feed's document, in one script.

    `count` adds to a counter of the run. If the lease was lost meanwhile, nothing changes: its new owner repeats the
    work.
    """

    leases: Leases
    registry: Registry
    series: Series
    websub: Pushes
    tempo: Tempo
    tracer: Tracer
    count: Callable[[str, int], None]

    async def end(self, item: FeedPoll) -> bool:
        """End or reschedule the task of a document; False if its lease is lost. Raises StoreUnavailable."""
        fields = {"poll_id": item.poll_id, "feed_id": item.feed.id, "result": item.result, "new": len(item.entries.new)}
        self.tracer.note(item.lease, **fields, fetch_id=item.fetch_id, reason_before=item.feed.polls.reason)
        if item.is_archive:
            return await self._archive(item)
        return await (self._delivery(item) if item.pushed else self._poll(item))

    async def _poll(self, poll: FeedPoll) -> bool:
        policy = self.tempo.policy(poll.at)
        self.websub.seen(poll)
        poll.decision = polling.decide(poll, policy, random.uniform(-1, 1))  # noqa: S311 - jitter
        self.tracer.note(poll.lease, decision=poll.decision.reason, wait_sec=poll.decision.interval_sec)
        poll.demand = demand(policy.tempo, poll.decision.interval_sec)
        moved = discovery.move(self.registry, poll)
        before, record = poll.feed.polls, polling.poll_record(poll)
        commands = self.registry.commit(poll.feed.id, record, journal.journal_line(poll))
        commands += self.registry.demand_changed(poll.feed.id, poll.demand - poll.feed.polls.demand)
        commands += self.registry.failing_changed(poll.feed.id, before, record)
        commands += self.series.of_feed(poll.feed.id, journal.increments(poll), poll.at.timestamp())
        ended = await self.leases.done_soon(
            poll.lease,
            status="pending",
            reason=poll.result,
            delay_sec=poll.decision.interval_sec,
            recovered_sec=cadence.once_answered(poll.decision, poll.status),
            commit=[*moved, *commands],
            signal=poll.signal,
            patch=polling.back_home(poll.lease.task, poll.feed),
        )
        if ended == "lost":
            return False
        self._tell_poll(poll, before, record)
        return True

    def _tell_poll(self, poll: FeedPoll, before: PollRecord, record: PollRecord) -> None:
        self.count(f"feedcrawl/polls/{'failed' if poll.failed else poll.result}", 1)
        self.count("feedcrawl/entries/new", len(poll.entries.new))
        self.count("feedcrawl/entries/changed", len(poll.entries.changed))
        self.count("feedcrawl/feeds/possibly_missed", int(poll.entries.possibly_missed))
        if poll.result == "not_modified":
            self.count("feedcrawl/bytes_saved", before.body_bytes)
        self._log_poll(poll)
        for name, said in polling.turns(before, record):
            self.count(f"feedcrawl/{name}", 1)
            logger.warning(name, extra={"feed_id": poll.feed.id, "url": poll.feed.subscription.url, **said})

    def _log_poll(self, poll: FeedPoll) -> None:
        decision, errors = poll.decision, 0
        assert decision is not None
        details = {
            "feed_id": poll.feed.id,
            "url": poll.feed.subscription.url,
            "title": poll.feed.subscription.title or poll.feed.polls.title or None,
            "host": poll.lease.task.host,
            "poll_id": poll.poll_id,
            "http_status": poll.status,
            "reason": decision.reason,
            "new": len(poll.entries.new),
            "interval_before": poll.feed.polls.interval_sec,
            "interval_after": round(decision.interval_sec, 1),
        }
        errors = decision.state.errors
        if poll.entries.possibly_missed:
            logger.warning("entries_possibly_missed", extra={**details, "shown": len(poll.entries.new)})
        if poll.entries.migrated:
            logger.warning("feed_migrated", extra={**details, "known": poll.entries.known + len(poll.entries.changed)})
        if not poll.failed:
            logger.info("feed_polled", extra={**details, "result": poll.result})
        elif errors >= ERRORS_WORTH_AN_ALARM:
            logger.error("feed_keeps_failing", extra={**details, "result": poll.result, "errors": errors})
        else:
            logger.warning("feed_failed", extra={**details, "result": poll.result, "detail": poll.detail[:200]})

    async def _delivery(self, item: FeedPoll) -> bool:
        """End a delivery; the state that polls have learnt stays unchanged."""
        ending = self.websub.read(item)
        counted = self.series.of_feed(item.feed.id, journal.increments(item), item.at.timestamp())
        ending["commit"] = [*ending["commit"], *counted]
        if await self.leases.done_soon(item.lease, **ending) == "lost":
            return False
        self.count(f"feedcrawl/pushes/{'failed' if item.failed else 'read'}", 1)
        self.count("feedcrawl/entries/new", len(item.entries.new))
        fields = {"feed_id": item.feed.id, "url": item.feed.subscription.url, "result": item.result}
        logger.info(
            "push_read",
            extra={**fields, "new": len(item.entries.new), "known": item.entries.known, "detail": item.detail[:200]},
        )
        return True

    async def _archive(self, item: FeedPoll) -> bool:
        """Continue the walk, or end it with a line in the journal; only polls change schedule and validators."""
        ending, walk, last = backfill.next_step(item)
        if last is not None:
            line = backfill.journal_line(item.feed, walk, last.reason, item.at)
            ending["commit"] = self.registry.note(item.feed.id, line)
        if await self.leases.done_soon(item.lease, **ending) == "lost":
            return False
        self.count("feedcrawl/archives/documents", 1)
        self.count("feedcrawl/entries/new", len(item.entries.new))
        details = {"feed_id": item.feed.id, "url": item.lease.task.url, "host": item.lease.task.host}
        logger.info("archive_read", extra={**details, "new": len(item.entries.new), "known": item.entries.known})
        if last is not None:
            ended = {"documents": walk.documents, "new": walk.new, "reason": last.reason}
            logger.info("archives_read", extra={**details, **ended})
        return True
