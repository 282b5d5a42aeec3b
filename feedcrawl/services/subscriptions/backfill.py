"""Archives of feeds: walked once, document by document, beside the polls (RFC 5005; JSON Feed 1.1, `next_url`).

A poll whose feed wants its archives begins the walk as a task of its own, which then carries how far it has come. The
poll's record notes that it has begun, so that later polls see to the current document only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.domain.frontier.traces import carried
from feedcrawl.domain.subscriptions.archives import Step, Walk, next_document, walk_from
from feedcrawl.domain.urls import hostname

if TYPE_CHECKING:
    from datetime import datetime

    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.domain.subscriptions.records import Feed
    from feedcrawl.items import FeedPoll

PRIORITY = 1
"""Of archives and of the articles that they name: whatever is news comes first."""


def task_id(feed_id: str) -> str:
    """A feed has one walk."""
    return f"archive:{feed_id}"


def feed_id_of(lease: Lease) -> str:
    """The feed whose archives a task walks."""
    return lease.id.removeprefix("archive:")


def look_on(poll: FeedPoll, *, limit: int, gap: bool = False) -> None:
    """Notes where the walk goes on from the document of a poll, or from the archive document that it stands for.

    `limit` is the most archive documents of one walk. One that fills a `gap` between two polls ends where it meets
    what is known, and says nothing of whether the feed's archives have been read.
    """
    assert poll.parsed is not None
    assert poll.final_url is not None
    begun = walk_from(poll.lease.task.payload) if poll.is_archive else Walk(gap=gap)
    poll.walk = begun.at(poll.lease.task.url, poll.final_url)
    visited = poll.walk.visited
    poll.step = next_document(poll.parsed.paging, url=poll.final_url, visited=visited, limit=limit + 1)


def first_task(poll: FeedPoll) -> Task | None:
    """The task that walks the archives of a feed whose poll wants them; None if there are none."""
    if poll.is_archive or poll.walk is None or poll.step is None or poll.step.url is None:
        return None
    said, url = poll.feed.subscription, poll.step.url
    return Task(
        id=task_id(said.id),
        kind="archive",
        url=url,
        host=hostname(url),
        priority=PRIORITY,
        origin="feed",
        parent=said.url,
        source=said.source,
        payload=poll.walk.to_record() | carried(poll.lease.task.payload),
    )


def next_step(poll: FeedPoll) -> tuple[dict[str, Any], Walk, Step | None]:
    """What becomes of the task once a document is stored: fields of an ending, the walk, and the step that ends it.

    A document with more new entries than one reading may bring is read again: then the next of them are new.
    """
    assert poll.walk is not None
    assert poll.step is not None
    walk = poll.walk.read(len(poll.new), whole=not poll.over_limit)
    if walk.gap and poll.known:
        return {"status": "fetched", "reason": "overlap"}, walk, Step(None, "overlap")
    url = poll.lease.task.url if walk.readings else poll.step.url
    if url is None:
        return {"status": "fetched", "reason": poll.step.reason}, walk, poll.step
    patch = {"url": url, "host": hostname(url), "payload": walk.to_record() | carried(poll.lease.task.payload)}
    return {"status": "pending", "reason": poll.result, "patch": patch}, walk, None


def journal_line(feed: Feed, walk: Walk, reason: str, at: datetime, detail: str = "") -> dict[str, Any]:
    """The line of a feed's journal that tells how a walk ended: `end`, `loop`, `limit`, or what went wrong."""
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
    return {name: value for name, value in line.items() if value not in ("", 0) or name == "interval_after_sec"}
