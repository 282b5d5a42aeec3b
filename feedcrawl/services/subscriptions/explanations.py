"""Explains when a feed is polled: the stored decision in values and in words, for the command and the API."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from feedcrawl.domain.cadence.reasons import in_words_or_none, proposals
from feedcrawl.domain.cadence.tempo import entries_per_day
from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.http.validators import trust_from
from feedcrawl.domain.push.leases import relied_on, state

if TYPE_CHECKING:
    from feedcrawl.domain.push.leases import HubSubscription
    from feedcrawl.domain.subscriptions.published import WhyHub, WhyRecord
    from feedcrawl.domain.subscriptions.records import Feed


def explained(feed: Feed, push: HubSubscription | None, now: datetime) -> WhyRecord:
    """The next poll, each candidate with its wait in seconds, and the state of the feed's hub. A paused feed has
    neither next poll nor candidates.
    """
    polls, paused = feed.polls, feed.subscription.paused
    reason = "paused" if paused else polls.reason
    per_day = entries_per_day(polls.cadence_state.arrivals)
    return {
        "id": feed.id,
        "url": feed.subscription.url,
        "title": feed.subscription.title or polls.title,
        "next_at": None if paused else polls.next_at,
        "interval_sec": polls.interval_sec,
        "reason": reason,
        "because": in_words_or_none(reason),
        "candidates": proposals(reason, () if paused else polls.candidates),
        "new_entries_per_day": per_day or None,
        "mean_delay_sec": polls.interval_sec / 2 if per_day and polls.interval_sec and not paused else None,
        "not_sent": list(trust_from(polls.trust).marks),
        "last_item_count": polls.shown,
        "possibly_missed": polls.possibly_missed,
        "quiet_since": polls.quiet_since,
        "last_fetch_at": polls.last_fetch_at,
        "last_success_at": polls.last_success_at,
        "last_result": polls.last_result,
        "last_status": polls.last_status,
        "consecutive_failures": polls.cadence_state.errors,
        "hub": None if push is None else hub(push, now),
    }


def hub(push: HubSubscription, now: datetime) -> WhyHub:
    """The state of a feed's WebSub subscription."""
    at = now.timestamp()
    return {
        "url": push.hub,
        "state": state(push, now=at),
        "reason": push.reason or None,
        "lease_until": rfc3339(datetime.fromtimestamp(push.current.until, UTC)) if push.current else None,
        "pushes": push.pushes,
        "last_push_at": rfc3339(datetime.fromtimestamp(push.pushed_at, UTC)) if push.pushed_at else None,
        "misses": push.misses,
        "relied_on": relied_on(push, now=at),
    }
