"""Polls of feeds as a test describes them: each value is passed by its name, whichever part of the poll has it."""

from dataclasses import fields
from datetime import datetime
from typing import Any

from feedcrawl.domain.cadence import CadencePolicy
from feedcrawl.domain.subscriptions.records import Feed, Subscription
from feedcrawl.items import ComparedEntries, Decided, FeedFound, FeedPoll, FeedReceived, FeedRequested
from feedcrawl.services.subscriptions import polling


def feed_poll(
    lease: Any, poll_id: str, at: datetime, status: int | None, result: str, feed: Feed, **values: Any
) -> FeedPoll:
    values |= {"lease": lease, "poll_id": poll_id, "at": at, "status": status, "result": result, "feed": feed}
    parts = [_part(kind, values) for kind in (FeedRequested, FeedReceived, ComparedEntries, FeedFound)]
    assert not values, f"no part of a poll has {', '.join(values)}"
    requested, received, entries, found = parts
    return FeedPoll(
        FeedRequested(**requested), FeedReceived(**received), FeedFound(entries=ComparedEntries(**entries), **found)
    )


def _part(kind: type, values: dict[str, Any]) -> dict[str, Any]:
    return {each.name: values.pop(each.name) for each in fields(kind) if each.name in values}


def decided(poll: FeedPoll, subscription: Subscription | None = None, policy: CadencePolicy | None = None) -> Decided:
    """The end of a poll; `subscription`: at the address to which its feed has moved."""
    decision = polling.decide(poll, poll.requested.push, policy or CadencePolicy(), 0)
    return Decided(decision, 0.0, subscription or poll.feed.subscription)
