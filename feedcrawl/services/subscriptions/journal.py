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
    from feedcrawl.items import FeedPoll


def journal_line(poll: FeedPoll) -> JournalLineRecord:
    """The journal line of a poll."""
    line = outcomes.journal_fields(poll, poll.feed.polls.interval_sec) | {
        "new": len(poll.entries.new),
        "changed": len(poll.entries.changed),
        "deleted": len(poll.entries.deleted),
        "known": poll.entries.known,
        "over_limit": poll.entries.over_limit,
        "possibly_missed": poll.entries.possibly_missed,
        "migrated": poll.entries.migrated,
        "asked": poll.asked if poll.asked in ("probe", "test") else None,
        "moved_from": poll.moved_from,
        "moved_to": poll.feed.subscription.url if poll.moved_from else None,
        "fetch_id": poll.fetch_id,
        "archives": archives(poll),
        "notes": list(poll.parsed.notes[:10]) if poll.parsed else [],
    }
    return outcomes.filled(line)


def push_line(poll: FeedPoll, wait_sec: float) -> JournalLineRecord:
    """The journal line of a delivery by the feed's hub, with the time until the next poll."""
    at = rfc3339(poll.at)
    line = {
        "poll_id": f"{poll.feed.id}@push:{at}",
        "at": at,
        "result": "push" if not poll.failed else poll.result,
        "detail": poll.detail[:200],
        "new": len(poll.entries.new),
        "changed": len(poll.entries.changed),
        "known": poll.entries.known,
        "over_limit": poll.entries.over_limit,
        "bytes": poll.body_bytes,
        "duration_sec": poll.duration_sec,
        "reason": "push",
        "interval_after_sec": round(wait_sec, 3),
        "next_at": rfc3339(poll.at + timedelta(seconds=wait_sec)),
        "trace_id": trace_id(poll.lease.task.payload),
        "notes": list(poll.parsed.notes[:10]) if poll.parsed else [],
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
    if poll.parsed is not None and poll.parsed.paging.complete:
        return "complete"
    return poll.step.reason if poll.step is not None else None


STALE_RATIO = 2.0
"""A poll is late if it comes after more than this multiple of the chosen interval."""


def increments(poll: FeedPoll) -> Increments:
    """The counters of a poll, or of a delivery of its feed's hub, which is neither early nor late."""
    if poll.pushed:
        result = poll.result if poll.failed else "read"
        said = {f"push:{result}": 1, "new": len(poll.entries.new)}
    else:
        saved = poll.feed.polls.body_bytes if poll.result == "not_modified" else 0
        stale = (interval_ratio(poll) or 0.0) > STALE_RATIO
        said = {f"poll:{poll.result}": 1, "new": len(poll.entries.new), "saved": saved, "stale": int(stale)}
        said["late"] = round(_late_sec(poll))
    return Increments(
        {name: number for name, number in said.items() if number},
        poll.feed.id if poll.entries.new else None,
        poll.lease.task.host if poll.failed else None,
    )


def _late_sec(poll: FeedPoll) -> float:
    """Seconds from the scheduled time of a poll to its request; 0 for an early poll and for a feed's first."""
    due = moment(poll.feed.polls.next_at)
    return max(0.0, (poll.at - due).total_seconds() - (poll.duration_sec or 0.0)) if due else 0.0
