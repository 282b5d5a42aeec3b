"""Archives of feeds: read once, document by document, beside the polls (RFC 5005; JSON Feed 1.1, `next_url`).

A poll of a feed whose archives are requested starts the walk as a task of its own; the task's payload keeps the
progress. The poll's record notes that the walk has begun, so that later polls read only the current document.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.domain.frontier.traces import carried
from feedcrawl.domain.subscriptions.archives import Step, Walk, next_document, walk_from
from feedcrawl.domain.urls import hostname
from feedcrawl.items import WalkStep
from feedcrawl.services.subscriptions import outcomes

if TYPE_CHECKING:
    from datetime import datetime

    from feedcrawl.domain.frontier.payloads import Patch, Payload
    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.domain.subscriptions.published import JournalLineRecord
    from feedcrawl.domain.subscriptions.records import Feed
    from feedcrawl.items import FeedPoll
    from feedcrawl.store.frontier.interface import EndingFields

PRIORITY = 1
"""The priority of archives and of their articles: new entries come first."""


def task_id(feed_id: str) -> str:
    """The id of a feed's one walk."""
    return f"archive:{feed_id}"


def feed_id_of(lease: Lease) -> str:
    """The feed whose archives a task reads."""
    return lease.id.removeprefix("archive:")


def walk_step(poll: FeedPoll, *, limit: int) -> WalkStep | None:
    """The next step of the walk from a poll's document, or from an archive document; None if none is requested.

    `limit` is the most archive documents of one walk. A walk that fills the gap after a poll that may have missed
    entries ends at the first known entry, and does not mark the feed's archives as read.
    """
    requested, received = poll.requested, poll.received
    if requested.is_archive:
        begun = walk_from(poll.lease.task.payload)
    elif poll.feed.needs_archives and not requested.is_delivery:
        begun = Walk()
    elif poll.found.entries.possibly_missed:
        begun = Walk(gap=True)
    else:
        return None
    assert received.parsed is not None
    assert received.final_url is not None
    walk = begun.at(poll.lease.task.url, received.final_url)
    step = next_document(received.parsed.paging, url=received.final_url, visited=walk.visited, limit=limit + 1)
    return WalkStep(walk, step)


def first_task(poll: FeedPoll) -> Task | None:
    """The task that reads a feed's archives if its poll requests them; None if there are none."""
    onward = poll.found.onward
    if poll.requested.is_archive or onward is None or onward.step.url is None:
        return None
    subscription, url = poll.feed.subscription, onward.step.url
    return Task(
        id=task_id(subscription.id),
        kind="archive",
        url=url,
        host=hostname(url),
        priority=PRIORITY,
        origin="feed",
        parent=subscription.url,
        source=subscription.source,
        payload={**onward.walk.to_record(), **carried(poll.lease.task.payload)},
    )


def next_step(poll: FeedPoll) -> tuple[EndingFields, Walk, Step | None]:
    """The result for the task after a document is stored: fields of an ending, the walk, and the step that ends the
    walk (None if it goes on).

    A document with more new entries than the limit of one reading is read again: the entries left over are then new.
    """
    onward, entries = poll.found.onward, poll.found.entries
    assert onward is not None
    walk = onward.walk.read(len(entries.new), whole=not entries.over_limit)
    if walk.gap and entries.known:
        return {"status": "fetched", "reason": "overlap"}, walk, Step(None, "overlap")
    url = poll.lease.task.url if walk.readings else onward.step.url
    if url is None:
        return {"status": "fetched", "reason": onward.step.reason}, walk, onward.step
    payload: Payload = {**walk.to_record(), **carried(poll.lease.task.payload)}
    patch: Patch = {"url": url, "host": hostname(url), "payload": payload}
    return {"status": "pending", "reason": poll.received.result, "patch": patch}, walk, None


def journal_line(feed: Feed, walk: Walk, reason: str, at: datetime, detail: str = "") -> JournalLineRecord:
    """The journal line for the end of a walk: `end`, `loop`, `limit`, or the failure."""
    polls, moment = feed.polls, rfc3339(at)
    line = {
        "poll_id": f"{feed.id}@archives:{moment}",
        "at": moment,
        "result": "archives_read",
        "archives": reason,
        "detail": detail[:200],
        "documents": walk.documents,
        "new": walk.new,
        "reason": polls.reason or "initial",
        "interval_after_sec": polls.interval_sec or 0,
        "next_at": polls.next_at or moment,
    }
    return outcomes.filled(line)
