"""Lines of a feed's journal: the result of each poll, and each move of the feed."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from feedcrawl.domain.dates import moment, rfc3339
from feedcrawl.domain.frontier.traces import trace_id
from feedcrawl.domain.operations.counters import Increments
from feedcrawl.services.subscriptions import outcomes
from feedcrawl.services.subscriptions.polling import interval_ratio

if TYPE_CHECKING:
    from datetime import datetime

    from feedcrawl.domain.subscriptions.published import JournalLineRecord
    from feedcrawl.domain.subscriptions.records import Feed
    from feedcrawl.items import Decided, FeedPoll


def journal_line(poll: FeedPoll, decided: Decided) -> JournalLineRecord:
    """The journal line of a poll."""
    requested, received, entries = poll.requested, poll.received, poll.found.entries
    fields = outcomes.journal_fields(requested, received, decided.decision, poll.feed.polls.interval_sec)
    before, after = poll.feed.subscription.url, decided.subscription.url
    line = fields | {
        "new": len(entries.new),
        "changed": len(entries.changed),
        "deleted": len(entries.deleted),
        "known": entries.known,
        "over_limit": entries.over_limit,
        "possibly_missed": entries.possibly_missed,
        "migrated": entries.migrated,
        "asked": requested.kind if requested.kind in ("probe", "test") else None,
        "moved_from": before if after != before else None,
        "moved_to": after if after != before else None,
        "fetch_id": received.fetch_id,
        "archives": archives(poll),
        "notes": list(received.parsed.notes[:10]) if received.parsed else [],
    }
    return outcomes.filled(line)


def push_line(poll: FeedPoll, wait_sec: float) -> JournalLineRecord:
    """The journal line of a delivery by the feed's hub, with the time until the next poll."""
    received, entries = poll.received, poll.found.entries
    at = rfc3339(received.at)
    line = {
        "poll_id": f"{poll.feed.id}@push:{at}",
        "at": at,
        "result": "push" if not received.failed else received.result,
        "detail": received.detail[:200],
        "new": len(entries.new),
        "changed": len(entries.changed),
        "known": entries.known,
        "over_limit": entries.over_limit,
        "bytes": received.body_bytes,
        "duration_sec": received.duration_sec,
        "reason": "push",
        "interval_after_sec": round(wait_sec, 3),
        "next_at": rfc3339(received.at + timedelta(seconds=wait_sec)),
        "trace_id": trace_id(poll.lease.task.payload),
        "notes": list(received.parsed.notes[:10]) if received.parsed else [],
    }
    return outcomes.filled(line)


def moved_line(feed: Feed, url: str, now: datetime) -> JournalLineRecord:
    """The journal line of a move by an operator."""
    return {**_operator_line(feed, "moved", now), "moved_from": feed.subscription.url, "moved_to": url}


def migration_undone_line(feed: Feed, now: datetime) -> JournalLineRecord:
    """The journal line of a migration that an operator has undone."""
    return _operator_line(feed, "migration_undone", now)


SKIPS = frozenset({"own_outage", "circuit_open", "robots_unavailable", "paused"})
"""Reasons for which a poll that is due is not made; others last for a moment only."""


def skipped_line(feed: Feed, reason: str, now: datetime, wait_sec: float) -> JournalLineRecord:
    """The journal line of a poll that was due and not made, with the time at which it is tried again."""
    return {
        "poll_id": f"{feed.id}@skipped:{feed.polls.next_at or feed.subscription.added_at}:{reason}",
        "at": rfc3339(now),
        "result": "skipped",
        "reason": reason,
        "interval_after_sec": round(wait_sec, 3),
        "next_at": rfc3339(now + timedelta(seconds=wait_sec)),
    }


def _operator_line(feed: Feed, result: str, now: datetime) -> JournalLineRecord:
    at = rfc3339(now)
    return {
        "poll_id": f"{feed.id}@{result}:{at}",
        "at": at,
        "result": result,
        "reason": "initial",
        "interval_after_sec": 0,
        "next_at": at,
    }


def archives(poll: FeedPoll) -> str | None:
    """The start of the walk through a feed's archives, or the note that the feed declares itself complete (RFC
    5005 section 2).
    """
    if poll.received.parsed is not None and poll.received.parsed.paging.complete:
        return "complete"
    return poll.found.onward.step.reason if poll.found.onward is not None else None


STALE_RATIO = 2.0
"""A poll is late if it comes after more than this multiple of the chosen interval."""


def increments(poll: FeedPoll) -> Increments:
    """The counters of a poll, or of a delivery of its feed's hub, which is neither early nor late."""
    if poll.requested.is_delivery:
        result = poll.received.result if poll.received.failed else "read"
        counts = {f"push:{result}": 1, "new": len(poll.found.entries.new)}
    else:
        saved = poll.feed.polls.body_bytes if poll.received.result == "not_modified" else 0
        stale = (interval_ratio(poll.feed, poll.received.at) or 0.0) > STALE_RATIO
        counts = {
            f"poll:{poll.received.result}": 1,
            "new": len(poll.found.entries.new),
            "saved": saved,
            "stale": int(stale),
        }
        counts["late"] = round(_late_sec(poll))
    return Increments(
        {name: number for name, number in counts.items() if number},
        poll.feed.id if poll.found.entries.new else None,
        poll.lease.task.host if poll.received.failed else None,
    )


def _late_sec(poll: FeedPoll) -> float:
    """Seconds from the scheduled time of a poll to its request; 0 for an early poll and for a feed's first."""
    due = moment(poll.feed.polls.next_at)
    return max(0.0, (poll.received.at - due).total_seconds() - (poll.received.duration_sec or 0.0)) if due else 0.0
