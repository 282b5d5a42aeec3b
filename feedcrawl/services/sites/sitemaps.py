"""One poll of a sitemap, from the response to the stored result."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from feedcrawl.domain import cadence
from feedcrawl.domain.dates import moment, rfc3339, rfc3339_or_none
from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.frontier.payloads import OF_REDIRECTS, filled, without
from feedcrawl.domain.frontier.traces import TRACE, carried
from feedcrawl.domain.http.conditional import Validators
from feedcrawl.domain.sitemaps import MAX_SITEMAPS
from feedcrawl.domain.sitemaps.documents import TRUNCATED
from feedcrawl.domain.sitemaps.news import Terms
from feedcrawl.domain.sitemaps.state import MAX_DEPTH, Sitemap, SitemapRecord, Watched
from feedcrawl.domain.sitemaps.tasks import sitemap_task
from feedcrawl.domain.urls import canonicalize, hostname, registered_domain, resolve
from feedcrawl.items import Received, Requested
from feedcrawl.services.articles.submissions import BATCH, batches
from feedcrawl.services.articles.tasks import TaskOptions, article_task, explicit
from feedcrawl.services.subscriptions import outcomes
from feedcrawl.services.subscriptions.finding import url_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from feedcrawl.config import Config
    from feedcrawl.domain.cadence import CadencePolicy, Decision
    from feedcrawl.domain.frontier.payloads import Patch, Payload
    from feedcrawl.domain.frontier.tasks import Again, Lease, Task
    from feedcrawl.domain.publisher_hints import PublisherHints
    from feedcrawl.domain.sitemaps.news import Found, News
    from feedcrawl.domain.subscriptions.published import JournalLineRecord
    from feedcrawl.services.articles.submissions import Submissions
    from feedcrawl.services.frontier.leases import Leases
    from feedcrawl.store.sites.sitemaps import Known, Sitemaps

OLDEST: Final = timedelta(days=30)
"""The greatest age of a date that was missed because the sitemap was not polled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SitemapRequested(Requested):
    """The request of a sitemap."""

    watched: Watched


@dataclass(frozen=True, slots=True)
class SitemapPoll:
    """One poll of one sitemap, from the response to the commit. Each step returns a new value."""

    requested: SitemapRequested
    received: Received
    news: News | None = None

    @property
    def lease(self) -> Lease:
        """The lease of the poll's task."""
        return self.requested.lease

    @property
    def watched(self) -> Watched:
        """The sitemap and its state as stored before the poll."""
        return self.requested.watched

    @property
    def sitemap(self) -> Sitemap:
        """The sitemap that was polled."""
        return self.watched.sitemap

    @property
    def found(self) -> tuple[Found, ...]:
        """The URLs that the sitemap brought, or the parts of an index."""
        return self.news.found if self.news is not None else ()


def site_of(sitemap: Sitemap) -> str:
    """The registered domain whose new URLs are counted together."""
    return registered_domain(hostname(sitemap.url))


def day_of(at: datetime) -> str:
    """The day (UTC) on which new URLs are counted together."""
    return f"{at:%Y%m%d}"


def until_tomorrow(at: datetime) -> float:
    """Seconds until the next such day begins."""
    tomorrow = (at + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return (tomorrow - at).total_seconds()


def terms_for(watched: Watched, known: Known, config: Config, at: datetime, hosts: Mapping[str, bool]) -> Terms:
    """The terms that decide which URLs of a sitemap are new. After a pause without polls, the window is as long
    as the pause.
    """
    since, last = at - timedelta(seconds=config.sitemap_window_sec), moment(watched.record.last_success_at)
    if last is not None and last < since:
        since = max(last, at - OLDEST)
    return Terms(
        now=at,
        since=since,
        limit=max(min(config.sitemap_max_new, config.sitemap_urls_per_day - known.today), 0),
        parts=max(MAX_SITEMAPS - known.parts, 0) if watched.sitemap.depth < MAX_DEPTH else 0,
        seen=known.seen,
        hosts=hosts,
    )


def names_it(sitemap: Sitemap, named: Iterable[str]) -> bool:
    """True if a robots.txt that names these sitemaps names this sitemap, or the index to which it belongs."""
    own = {canonicalize(url) for url in (sitemap.url, sitemap.root_url) if url}
    for url in named:
        try:
            if canonicalize(url) in own:
                return True
        except InvalidUrl:
            continue
    return False


def article_tasks(poll: SitemapPoll) -> Iterator[tuple[Task, Again]]:
    """A task for each URL found, with the reason why a known URL comes again."""
    sitemap = poll.sitemap
    for found in poll.found:
        try:
            options = TaskOptions(
                "sitemap",
                sitemap.source,
                sitemap.categories,
                explicit(sitemap.priority),
                parent=sitemap.url,
                payload={**provenance(sitemap, found), **carried(poll.lease.task.payload)},
            )
            task = article_task(found.url, poll.requested.sources, options)
        except InvalidUrl:
            continue
        yield task, "edited" if found.edited else ""


def provenance(sitemap: Sitemap, found: Found) -> Payload:
    """The part of an article task's payload that names its source: where the URL was found, and its fields in a
    news sitemap.
    """
    fields = {
        "sitemap_id": sitemap.id,
        "title": found.title,
        "published": rfc3339_or_none(found.published),
        "language": found.language,
    }
    return filled(fields)


def parts(poll: SitemapPoll) -> Iterator[tuple[Sitemap, Again]]:
    """The parts of an index, or those that a urlset lists against the schema, each with the reason why a known part is
    read ahead of its schedule.
    """
    sitemap, news = poll.sitemap, poll.news
    listed = news.parts if news is not None and news.kind != "index" else poll.found
    for found in listed:
        try:
            url = resolve(found.url)
        except InvalidUrl:
            continue
        root = sitemap.root or sitemap.id, sitemap.root_url or sitemap.url
        part = replace(
            sitemap,
            id=str(uuid.uuid4()),
            url=url,
            root=root[0],
            root_url=root[1],
            depth=sitemap.depth + 1,
            guess=False,
            added_at=rfc3339(poll.received.at),
        )
        yield part, "edited" if found.edited else ""


def observation(poll: SitemapPoll, hints: PublisherHints) -> cadence.Observation:
    """The result of a poll in the form that the cadence reads."""
    new = sum(not found.edited for found in poll.found)
    known = (poll.news.urls if poll.news else 0) - new
    return outcomes.observation(
        poll.received, [found.date for found in poll.found], (new, known, min(new, BATCH)), hints
    )


def policy_for(watched: Watched, policy: CadencePolicy, config: Config, at: datetime) -> CadencePolicy:
    """The cadence policy with the bounds of sitemaps, or of a retired sitemap (one that has long brought
    nothing).
    """
    sitemap, news_at = watched.sitemap, moment(watched.record.news_at)
    if news_at is not None and at - news_at >= timedelta(seconds=config.sitemap_retire_sec):
        slow = config.sitemap_probe_sec
        return replace(policy, min_interval_sec=slow, initial_interval_sec=slow, max_interval_sec=slow)
    shortest = sitemap.min_interval_sec or config.sitemap_interval_sec
    return replace(
        policy,
        min_interval_sec=shortest,
        initial_interval_sec=shortest,
        max_interval_sec=max(sitemap.max_interval_sec or policy.max_interval_sec, shortest),
    )


def decide(poll: SitemapPoll, policy: CadencePolicy, jitter: float) -> Decision:
    """The time of the next poll of this sitemap, and the reason."""
    state = poll.watched.record.cadence_state
    return cadence.next_poll(state, observation(poll, state.hints), now=poll.received.at, policy=policy, jitter=jitter)


def poll_record(poll: SitemapPoll, decision: Decision) -> SitemapRecord:
    """The record that the next poll begins with. Validators change only with a body that was read, or with a 304."""
    before = poll.watched.record
    record = replace(before, **outcomes.scheduled(poll.received, decision))
    if poll.received.failed:
        return record
    validators = outcomes.newest(poll.received, Validators(before.etag, before.last_modified))
    record = replace(
        record, etag=validators.etag, last_modified=validators.last_modified, last_success_at=rfc3339(poll.received.at)
    )
    if poll.news is None:
        return record
    if TRUNCATED in poll.news.notes:  # a 304 would hide the rest; the validators of the same body again count
        record = replace(record, etag=None, last_modified=None)
    return replace(
        record,
        body_hash=poll.received.body_hash,
        kind=poll.news.kind,
        urls=poll.news.urls,
        waiting=poll.news.waiting,
        news_at=rfc3339(poll.received.at)
        if poll.found or poll.received.body_hash != before.body_hash
        else before.news_at,
    )


def journal_line(poll: SitemapPoll, decision: Decision) -> JournalLineRecord:
    """One line of a sitemap's journal."""
    news, before = poll.news, poll.watched.record
    line = outcomes.journal_fields(poll.requested, poll.received, decision, before.interval_sec)
    if news is not None:
        edited = sum(found.edited for found in news.found)
        line |= {"kind": news.kind, "urls": news.urls, "new": len(news.found) - edited, "changed": edited}
        line |= {"old": news.old, "refused": news.refused, "waiting": news.waiting, "notes": list(news.notes[:10])}
    return outcomes.filled(line)


def back_home(task: Task, sitemap: Sitemap) -> Patch:
    """The patch that moves a poll's task back to its own URL after a redirect."""
    if "redirect_chain" not in task.payload:
        return {}
    payload = without(task.payload, (*OF_REDIRECTS, TRACE))
    return {"url": sitemap.url, "host": hostname(sitemap.url), "payload": payload or None}


class Commits:
    """Writes the result of a poll and ends it: first tasks, then seen URLs, last state, journal and lease.

    A kill between any two steps repeats work and loses none.
    """

    def __init__(self, store: Sitemaps, submissions: Submissions, leases: Leases) -> None:
        self._store = store
        self._submissions = submissions
        self._leases = leases

    async def commit(self, poll: SitemapPoll, decision: Decision) -> None:
        """Run all steps, in turns with the event loop."""
        if poll.news is not None:
            if poll.news.kind == "index" or poll.news.parts:
                await self._parts(poll)
            if poll.news.kind != "index":
                await self._submissions.submit(article_tasks(poll), poll.sitemap.categories)
            self._store.save_seen(poll.watched.id, poll.news.seen)
        await self._leases.done_soon(
            poll.lease,
            status="pending",
            reason=poll.received.result,
            delay_sec=decision.interval_sec,
            recovered_sec=cadence.once_answered(decision, poll.received.status),
            commit=self._store.commit(poll.watched.id, poll_record(poll, decision), journal_line(poll, decision)),
            signal=poll.received.signal,
            patch=back_home(poll.lease.task, poll.sitemap),
        )

    async def _parts(self, poll: SitemapPoll) -> None:
        for batch in batches(parts(poll)):
            ids = self._store.add([(part, url_key(part.url)) for part, _ in batch])
            tasks = [
                (sitemap_task(replace(part, id=own)), again) for (part, again), own in zip(batch, ids, strict=True)
            ]
            # An index that lists itself does not make itself due again.
            self._leases.enqueue_each((task, 0.0, again) for task, again in tasks if task.id != poll.lease.id)
            await asyncio.sleep(0)
