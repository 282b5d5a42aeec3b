"""Fills a feed's gap from its site's sitemaps: the task, its steps, the tasks of articles, the line in the journal."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.dates import moment, rfc3339
from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.domain.sitemaps.gaps import ROBOTS, Gap, folder_of
from feedcrawl.domain.urls import hostname
from feedcrawl.services.articles.tasks import TaskOptions, article_task
from feedcrawl.services.subscriptions.backfill import PRIORITY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from feedcrawl.domain.frontier.payloads import GapRecord, Patch, Payload
    from feedcrawl.domain.frontier.tasks import Again, Lease
    from feedcrawl.domain.sitemaps.gaps import Found
    from feedcrawl.domain.sites.owners import Sources
    from feedcrawl.domain.subscriptions.published import JournalLineRecord
    from feedcrawl.domain.subscriptions.records import Feed
    from feedcrawl.items import FeedPoll

PREFIX: Final = "gap:"


def first_task(poll: FeedPoll) -> Task | None:
    """The task that fills the gap before a poll, at most one a day for a feed; None if no site can be named, and for a
    feed whose articles are not fetched.
    """
    last = moment(poll.feed.polls.last_success_at)
    links = [entry.link for entry in poll.received.parsed.entries] if poll.received.parsed is not None else []
    below = folder_of(links)
    if last is None or below is None or poll.feed.subscription.entries_only:
        return None
    site = next(link for link in links if link)
    url = f"{site.partition('//')[0]}//{below.partition('/')[0]}{ROBOTS}"
    gap = Gap(last, poll.received.at, below)
    subscription = poll.feed.subscription
    return Task(
        f"{PREFIX}{poll.feed.id}:{poll.received.at:%Y-%m-%d}",
        "gap",
        url,
        hostname(url),
        PRIORITY,
        origin="sitemap",
        parent=subscription.url,
        source=subscription.source,
        payload=payload_of(gap),
    )


def feed_id_of(lease: Lease) -> str:
    """The feed whose gap a task fills."""
    return lease.id.removeprefix(PREFIX).partition(":")[0]


def payload_of(gap: Gap) -> Payload:
    """The payload of the task that fills a gap."""
    record: GapRecord = {
        "since": gap.since.isoformat(),
        "until": gap.until.isoformat(),
        "below": gap.below,
        "places": list(gap.places),
        "documents": gap.documents,
        "found": gap.found,
    }
    return {"fills": record}


def gap_of(lease: Lease) -> Gap:
    """The gap that a task fills."""
    record = lease.task.payload["fills"]
    since, until = datetime.fromisoformat(record["since"]), datetime.fromisoformat(record["until"])
    return Gap(since, until, record["below"], tuple(record["places"]), record["documents"], record["found"])


def onward(gap: Gap) -> Patch | None:
    """The patch that leads the task to the next sitemap; None if the walk ends."""
    url = gap.next
    if url is None:
        return None
    left = Gap(gap.since, gap.until, gap.below, gap.places[1:], gap.documents, gap.found)
    return {"url": url, "host": hostname(url), "payload": payload_of(left)}


def article_tasks(feed: Feed, found: Iterable[Found], sources: Sources, sitemap: str) -> Iterator[tuple[Task, Again]]:
    """The tasks of the articles of a gap."""
    subscription = feed.subscription
    for each in found:
        evidence: Payload = {"feed_id": feed.id, "title": each.title, "published": rfc3339(each.at)}
        options = TaskOptions(
            origin="sitemap",
            source=subscription.source,
            categories=subscription.categories,
            priority=PRIORITY,
            parent=sitemap,
            payload=evidence,
        )
        try:
            yield article_task(each.url, sources, options), ""
        except InvalidUrl:
            continue


def journal_line(feed: Feed, gap: Gap, queued: int, at: datetime) -> JournalLineRecord:
    """The journal line of a gap that was filled as far as sitemaps cover it."""
    when, polls = rfc3339(at), feed.polls
    line: JournalLineRecord = {
        "poll_id": f"{feed.id}@gap:{rfc3339(gap.until)}",
        "at": when,
        "result": "gap_filled",
        "reason": polls.reason or "initial",
        "interval_after_sec": polls.interval_sec or 0,
        "next_at": polls.next_at or when,
    }
    if gap.documents:
        line["documents"] = gap.documents
    if queued:
        line["new"] = queued
    return line
