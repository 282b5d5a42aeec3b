"""Spreads overdue polls: after an outage of workers, network or server, most feeds are overdue at once."""

from __future__ import annotations

import logging
from itertools import islice
from typing import TYPE_CHECKING

from feedcrawl.domain.cadence.arrivals import batch_size, expected
from feedcrawl.domain.cadence.catch_up import Due, spread, usual_rate
from feedcrawl.domain.dates import moment
from feedcrawl.services.subscriptions.registering import poll_task

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from feedcrawl.domain.subscriptions.records import Feed
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.subscriptions.registry import Registry

logger = logging.getLogger(__name__)

OVERDUE_SEC = 600.0
ONCE_IN_SEC = 600
PAGE = 500
SAMPLE, MANY = 200, 0.1
"""The number of feeds in the sample, and the share of overdue feeds that indicates an outage."""


def spread_overdue(registry: Registry, frontier: Frontier, now: datetime) -> int:
    """Spread the feeds that are overdue by more than ten minutes, if there are many; returns the number of feeds moved.

    All feeds are read only if a sample indicates an outage, by one worker in ten minutes, in pages: of a million feeds
    only what decides their order stays in memory. Each run spreads the waiting feeds anew, so that feeds with more
    expected entries come first.
    """
    sample = list(islice(_polled(registry), SAMPLE))
    if sum(_is_overdue(feed, now) for feed in sample) <= MANY * len(sample) or not registry.may_spread(ONCE_IN_SEC):
        return 0
    rate, overdue = 0.0, []
    for feed in _polled(registry):
        rate += usual_rate([feed.polls.interval_sec or 1.0])
        if _is_overdue(feed, now):
            overdue.append(_due(feed, now))
    moved, longest, rest = 0, 0.0, spread(overdue, rate)
    while page := dict(islice(rest, PAGE)):
        feeds = registry.load(list(page))
        frontier.enqueue_each((poll_task(each.subscription), page[each.id], "operator") for each in feeds.values())
        moved, longest = moved + len(feeds), max(page.values())
    if moved:
        logger.info("overdue_feeds_spread", extra={"feeds": moved, "over_sec": round(longest)})
    return moved


def _polled(registry: Registry) -> Iterator[Feed]:
    return (feed for feed in registry.all() if feed.polls.next_at is not None and not feed.subscription.paused)


def _is_overdue(feed: Feed, now: datetime) -> bool:
    at = moment(feed.polls.next_at)
    return at is not None and (now - at).total_seconds() > OVERDUE_SEC


def _due(feed: Feed, now: datetime) -> Due:
    """A feed with the expected number of new entries, at most the size of its window."""
    known, last = feed.polls.cadence_state.arrivals, moment(feed.polls.last_fetch_at)
    brings = 0.0
    if known is not None and last is not None:
        brings = min(expected(known, last.timestamp(), now.timestamp()) * batch_size(known), known.window)
    return Due(feed.id, feed.polls.interval_sec or 1.0, brings)
