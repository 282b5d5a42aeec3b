"""The end of a poll, of a hub's delivery and of an archive document: the stored result, and the time of the next
task.
"""

from __future__ import annotations

import logging
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from feedcrawl.domain import cadence
from feedcrawl.domain.cadence.tempo import demand
from feedcrawl.items import Decided
from feedcrawl.services.subscriptions import backfill, discovery, journal, polling
from feedcrawl.services.subscriptions.outcomes import ALARM_ERRORS

if TYPE_CHECKING:
    from collections.abc import Callable

    from feedcrawl.domain.push.leases import HubSubscription
    from feedcrawl.domain.subscriptions.records import PollRecord
    from feedcrawl.items import FeedPoll
    from feedcrawl.services.frontier.leases import Leases
    from feedcrawl.services.subscriptions.tempo import Tempo
    from feedcrawl.store.frontier.interface import EndingFields
    from feedcrawl.store.operations.series import Series
    from feedcrawl.store.subscriptions.registry import Registry
    from feedcrawl.telemetry.tracing import Tracer

logger = logging.getLogger(__name__)


class Hubs(Protocol):
    """The part of the use cases of WebSub that the end of a poll needs."""

    def seen(self, poll: FeedPoll) -> HubSubscription | None:
        """Updates the subscription at the hub that the poll's document names; the state of the feed's subscription."""

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
    websub: Hubs
    tempo: Tempo
    tracer: Tracer
    count: Callable[[str, int], None]

    async def end(self, item: FeedPoll) -> bool:
        """End or reschedule the task of a document; False if its lease is lost. Raises StoreUnavailable."""
        requested, received = item.requested, item.received
        fields = {"poll_id": requested.poll_id, "feed_id": item.feed.id, "result": received.result}
        counted = {"new": len(item.found.entries.new), "fetch_id": received.fetch_id}
        self.tracer.note(item.lease, **fields, **counted, reason_before=item.feed.polls.reason)
        if requested.is_archive:
            return await self._archive(item)
        return await (self._delivery(item) if requested.is_delivery else self._poll(item))

    async def _poll(self, poll: FeedPoll) -> bool:
        feed, received = poll.feed, poll.received
        policy = self.tempo.policy(received.at)
        push = self.websub.seen(poll)
        decision = polling.decide(poll, push, policy, random.uniform(-1, 1))  # noqa: S311 - jitter
        self.tracer.note(poll.lease, decision=decision.reason, wait_sec=decision.interval_sec)
        subscription, moved = discovery.move(self.registry, poll)
        decided = Decided(decision, demand(policy.tempo, decision.interval_sec), subscription)
        record = polling.poll_record(poll, decided)
        commands = self.registry.commit(feed.id, record, journal.journal_line(poll, decided))
        commands += self.registry.demand_changed(feed.id, decided.demand - feed.polls.demand)
        commands += self.registry.failing_changed(feed.id, feed.polls, record)
        commands += self.series.of_feed(feed.id, journal.increments(poll), received.at.timestamp())
        ended = await self.leases.done_soon(
            poll.lease,
            status="pending",
            reason=received.result,
            delay_sec=decision.interval_sec,
            recovered_sec=cadence.once_answered(decision, received.status),
            commit=[*moved, *commands],
            signal=received.signal,
            patch=polling.back_home(poll.lease.task, subscription.url),
        )
        if ended == "lost":
            return False
        self._log_changes(poll, decided, record)
        return True

    def _log_changes(self, poll: FeedPoll, decided: Decided, record: PollRecord) -> None:
        before = poll.feed.polls
        self.count(f"feedcrawl/polls/{'failed' if poll.received.failed else poll.received.result}", 1)
        self.count("feedcrawl/entries/new", len(poll.found.entries.new))
        self.count("feedcrawl/entries/changed", len(poll.found.entries.changed))
        self.count("feedcrawl/feeds/possibly_missed", int(poll.found.entries.possibly_missed))
        if poll.received.result == "not_modified":
            self.count("feedcrawl/bytes_saved", before.body_bytes)
        self._log_poll(poll, decided)
        for name, details in polling.state_changes(before, record):
            self.count(f"feedcrawl/{name}", 1)
            logger.warning(name, extra={"feed_id": poll.feed.id, "url": decided.subscription.url, **details})

    def _log_poll(self, poll: FeedPoll, decided: Decided) -> None:
        decision, subscription = decided.decision, decided.subscription
        details = {
            "feed_id": poll.feed.id,
            "url": subscription.url,
            "title": subscription.title or poll.feed.polls.title or None,
            "host": poll.lease.task.host,
            "poll_id": poll.requested.poll_id,
            "http_status": poll.received.status,
            "reason": decision.reason,
            "new": len(poll.found.entries.new),
            "interval_before": poll.feed.polls.interval_sec,
            "interval_after": round(decision.interval_sec, 1),
        }
        errors = decision.state.errors
        if poll.found.entries.possibly_missed:
            logger.warning("entries_possibly_missed", extra={**details, "shown": len(poll.found.entries.new)})
        if poll.found.entries.migrated:
            logger.warning(
                "feed_migrated", extra={**details, "known": poll.found.entries.known + len(poll.found.entries.changed)}
            )
        if not poll.received.failed:
            logger.info("feed_polled", extra={**details, "result": poll.received.result})
        elif errors >= ALARM_ERRORS:
            logger.error("feed_keeps_failing", extra={**details, "result": poll.received.result, "errors": errors})
        else:
            logger.warning(
                "feed_failed", extra={**details, "result": poll.received.result, "detail": poll.received.detail[:200]}
            )

    async def _delivery(self, item: FeedPoll) -> bool:
        """End a delivery; the state that polls have learnt stays unchanged."""
        ending = self.websub.read(item)
        counted = self.series.of_feed(item.feed.id, journal.increments(item), item.received.at.timestamp())
        ending["commit"] = [*ending["commit"], *counted]
        if await self.leases.done_soon(item.lease, **ending) == "lost":
            return False
        self.count(f"feedcrawl/pushes/{'failed' if item.received.failed else 'read'}", 1)
        self.count("feedcrawl/entries/new", len(item.found.entries.new))
        fields = {"feed_id": item.feed.id, "url": item.feed.subscription.url, "result": item.received.result}
        logger.info(
            "push_read",
            extra={
                **fields,
                "new": len(item.found.entries.new),
                "known": item.found.entries.known,
                "detail": item.received.detail[:200],
            },
        )
        return True

    async def _archive(self, item: FeedPoll) -> bool:
        """Continue the walk, or end it with a line in the journal; only polls change schedule and validators."""
        ending, walk, last = backfill.next_step(item)
        if last is not None:
            line = backfill.journal_line(item.feed, walk, last.reason, item.received.at)
            ending["commit"] = self.registry.note(item.feed.id, line)
        if await self.leases.done_soon(item.lease, **ending) == "lost":
            return False
        self.count("feedcrawl/archives/documents", 1)
        self.count("feedcrawl/entries/new", len(item.found.entries.new))
        details = {"feed_id": item.feed.id, "url": item.lease.task.url, "host": item.lease.task.host}
        logger.info(
            "archive_read", extra={**details, "new": len(item.found.entries.new), "known": item.found.entries.known}
        )
        if last is not None:
            ended = {"documents": walk.documents, "new": walk.new, "reason": last.reason}
            logger.info("archives_read", extra={**details, **ended})
        return True
