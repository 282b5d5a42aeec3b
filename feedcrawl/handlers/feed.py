"""Tasks of kind `feed`: one conditional request, one item."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from scrapy import Request

from feedcrawl.crawl.failures import sentence
from feedcrawl.domain.http.conditional import Validators
from feedcrawl.domain.http.validators import Question
from feedcrawl.domain.push import protocol, rsscloud
from feedcrawl.domain.subscriptions.access import login_wanted
from feedcrawl.handlers import discovery
from feedcrawl.handlers.base import (
    UNAUTHORIZED,
    Answers,
    auth_scheme,
    lasts,
    limits,
    note_body,
    note_headers,
    result_of,
    tolerated,
    was_redirected,
)
from feedcrawl.hints import program
from feedcrawl.items import FeedPoll
from feedcrawl.parsing import Done
from feedcrawl.services.subscriptions import backfill, journal, polling, whereabouts
from feedcrawl.store.redis.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.domain.subscriptions.access import Access
    from feedcrawl.domain.subscriptions.records import Feed
    from feedcrawl.domain.subscriptions.search import Search
    from feedcrawl.store.push.websub import Pushed


class FeedTasks(Answers):
    """Polls feeds. `unfold` is called for a document that is not a feed, and returns True if nothing is left to
    do.
    """

    _feeds: dict[str, Feed]
    _accesses: dict[str, Access]
    _pushes: dict[str, Pushed]

    def __init__(self, crawler: Crawler, unfold: Callable[[FeedPoll, Response | None], Awaitable[bool]]) -> None:
        super().__init__(crawler)
        self._unfold = unfold
        self._skips: dict[str, str] = {}

    def prepare(self, leases: Sequence[Lease]) -> None:
        """Load the feeds of a batch."""
        ids = [lease.id.removeprefix("feed:") for lease in leases]
        self._feeds = self.wired.registry.load(ids)
        self._accesses = self.wired.registry.accesses(self._feeds.values())
        self._pushes = self.wired.pushes.load(ids) if self.wired.websub.on else {}

    def request(self, lease: Lease) -> Request | None:
        """The conditional request of a poll; None if a delivery that brought the task has been read already."""
        feed = self.polled(lease, self._feeds.get(lease.id.removeprefix("feed:")))
        if feed is None:
            return None
        config, payload, pushed = self.wired.config, lease.task.payload, self._pushes.get(feed.id)
        if pushed is not None and pushed.delivery is not None and lease.task.url == feed.subscription.url:
            return self._delivery(lease, feed, pushed)
        whole = feed.wants_archives or "whole" in payload or "search" in payload
        wait = 0.0 if whole else self.wired.websub.unread_wait_sec(feed, lease.history.again)
        if wait > 0:
            self.leases.done(lease, status="pending", reason="waits", delay_sec=wait)
            return None
        asked = Question("plain", Validators()) if whole else polling.question(feed, self.wired.now())
        meta = {
            "feed": feed,
            "asked": asked.kind,
            "validators": asked.validators,
            "raw": {"feed_id": feed.id, "previous": feed.polls.raw},
            # An operator named the subscribed URL, while a guessed address is ours; robots.txt governs crawling only.
            "dont_obey_robotstxt": not (feed.is_guess or "search" in payload),
            **limits(config.fetch_timeout_sec, config.max_feed_bytes),
            "push": pushed.push if pushed is not None else None,
        }
        url = lease.task.url
        headers = self.feed_headers(lease, feed, self._accesses.get(feed.id), meta)
        return Request(url, self.parse, "GET", headers, meta=meta, errback=self.failed, dont_filter=True)

    def _delivery(self, lease: Lease, feed: Feed, pushed: Pushed) -> Request:
        """The delivery of the feed's hub, used in place of a response: no request is sent, and the host's slot is
        free again.
        """
        self.leases.release(lease, "none")
        meta = {"feed": feed, "asked": "plain", "delivery": pushed, "started": time.monotonic(), "push": pushed.push}
        return Request(lease.task.url, self.pushed, meta=meta, errback=self.failed, dont_filter=True)

    def skipped(self, lease: Lease, feed: Feed | None, reason: str, wait_sec: float) -> None:
        """Note in the journal that a poll was due and not made: once for each reason until the next poll.

        A failure that was counted before our own outage was known is taken back.
        """
        if feed is None or reason not in journal.SKIPS or self._skips.get(feed.id) == reason:
            return
        self._skips[feed.id] = reason
        with suppress(StoreUnavailable):  # the poll that follows says more
            self.wired.registry.add_line(feed.id, journal.skipped_line(feed, reason, self.wired.now(), wait_sec))
            if reason == lease.history.again == "own_outage":
                self.wired.registry.keep_polls(feed.id, polling.without_last_failure(feed.polls))

    async def pushed(self, response: Response) -> AsyncIterator[FeedPoll]:
        """A hub's delivery as an item, in the form that a poll would have given."""
        request = cast("Request", response.request)
        poll = self._poll(request, None, "fetched")
        poll.pushed, poll.waiting, poll.body_bytes = True, request.meta["delivery"].waiting, len(response.body)
        await self._read(poll, response)
        yield poll

    async def parse(self, response: Response) -> AsyncIterator[FeedPoll]:
        """The response as an item, parsed in a child process if the document is new."""
        request = cast("Request", response.request)
        poll = self._poll(request, response.status, result_of(request.meta["outcome"]))
        note_headers(poll, response)
        poll.final_url = response.url
        if response.status == UNAUTHORIZED:
            poll.detail = login_wanted(
                scheme=auth_scheme(response), sent=bool(request.meta.get("private")), program=program()
            )
        poll.moved_to = response.url if was_redirected(request) and lasts(request) else None
        if poll.result == "not_modified" and self._asks_whole(request, poll):
            return
        if poll.result == "fetched":
            note_body(poll, response.body)
            if poll.body_hash == poll.feed.polls.body_hash and not _reads_all(poll):
                poll.result, poll.digest = "unchanged", poll.feed.polls.digest
            else:
                await self._read(poll, response)
        if not await self._goes_on(poll, response):
            self._look_for_hub(poll, response)
            yield poll

    def _look_for_hub(self, poll: FeedPoll, response: Response) -> None:
        """Note the hub that the feed names in its Link headers or in its document."""
        if not self.wired.websub.on or poll.failed:
            return
        links = [value.decode("latin-1") for value in response.headers.getlist("Link")]
        named, own = (poll.parsed.hubs, poll.parsed.self_url) if poll.parsed is not None else ((), None)
        poll.topic = protocol.topic_of(links, named, own, url=response.url)
        if poll.topic is None and poll.parsed is not None:
            poll.topic = rsscloud.topic_of(poll.parsed.cloud, url=response.url)

    async def failed(self, failure: Failure) -> AsyncIterator[FeedPoll]:
        """Handle a poll that got no response."""
        settled = self.settled(failure)
        if settled is not None:
            request, outcome = settled
            poll = self._poll(request, request.meta.get("http_status"), outcome.reason)
            poll.detail = sentence(failure.value)
            if not await self._goes_on(poll, None):
                yield poll

    async def _goes_on(self, poll: FeedPoll, response: Response | None) -> bool:
        """True if the task moved on to another address, where the feed may be."""
        if poll.result in discovery.PAGES and response is not None:
            onward = await discovery.refresh(self.wired.parsers, response)
            if onward is not None and self.sent_on(response, onward) is None:
                return True
        search = whereabouts.search_of(poll)
        if search is not None:
            return await self._searched(poll, response, search)
        if not poll.failed:
            return False
        begun = whereabouts.begin(poll)
        if begun is None:
            return await self._unfold(poll, response)
        poll.searched = True
        if begun.at_page and poll.result in discovery.PAGES and response is not None:
            named = await discovery.announced(self.wired.parsers, response)
            begun = replace(begun, at_page=False, places=named) if named else begun
        return self._moves_on(poll, begun)

    async def _searched(self, poll: FeedPoll, response: Response | None, search: Search) -> bool:
        poll.searched = True
        if search.at_page:
            named = await discovery.announced(self.wired.parsers, response) if response is not None else ()
            if self._moves_on(poll, replace(search, at_page=False, places=named)):
                return True
        elif poll.parsed is not None and whereabouts.recognises(poll, poll.identified, self.wired.entries):
            poll.found_at = poll.lease.task.url
            return False
        elif self._moves_on(poll, search):
            return True
        whereabouts.ended(poll, search)
        return False

    def _moves_on(self, poll: FeedPoll, search: Search) -> bool:
        onward = whereabouts.patch(poll, search)
        if onward is not None:
            self.leases.give_back(poll.lease, reason="searched", patch=onward)
        return onward is not None

    def _asks_whole(self, request: Request, poll: FeedPoll) -> bool:
        """True if a 304 is unusable: no validator was sent, or only that of a replaced version. The feed is
        requested again, once.
        """
        sent = "If-None-Match" in request.headers or "If-Modified-Since" in request.headers
        why = "unasked" if not sent else "deaf" if poll.asked == "test" else None
        if why is None:
            return False
        payload = poll.lease.task.payload
        if "whole" in payload:
            poll.result, poll.detail = "unasked_304", "304 twice, though no validator was sent"
            return False
        assert self.crawler.stats is not None
        self.crawler.stats.inc_value(f"feedcrawl/validators/{why}")
        self.leases.give_back(poll.lease, reason=f"{why}_304", patch={"payload": {**payload, "whole": why}})
        return True

    async def _read(self, poll: FeedPoll, response: Response) -> None:
        known = None if poll.pushed or _reads_all(poll) else poll.feed.polls.digest
        read = await self.read_document(poll, response, self.how(poll.feed, known))
        if (
            isinstance(read, Done)
            and not poll.pushed
            and read.value.digest == poll.feed.polls.digest
            and not read.value.identified
        ):
            poll.result, poll.digest, poll.hints = "unchanged", read.value.digest, read.value.parsed.hints
        elif isinstance(read, Done):
            parsed = read.value.parsed
            poll.parsed = replace(parsed, notes=(*parsed.notes, *tolerated(response)))
            poll.hints = parsed.hints
            poll.identified, poll.digest = read.value.identified, read.value.digest
            if poll.feed.wants_archives and not poll.pushed:
                backfill.look_on(poll, limit=self.wired.config.max_archive_pages)
        else:
            poll.result, poll.detail = read.code, read.detail

    def _poll(self, request: Request, status: int | None, result: str) -> FeedPoll:
        meta = request.meta
        feed: Feed = meta["feed"]
        self._skips.pop(feed.id, None)
        scheduled = feed.polls.next_at or feed.subscription.added_at
        return FeedPoll(
            lease=meta["lease"],
            feed=feed,
            poll_id=f"{feed.id}@{scheduled}",
            at=self.wired.now(),
            status=status,
            result=result,
            fetch_id=meta.get("fetch_id"),
            raw_ref=meta.get("raw_ref"),
            duration_sec=round(time.monotonic() - meta["started"], 3),
            outgoing=meta.get("outgoing"),
            wire_bytes=meta.get("wire_bytes", 0),
            signal=meta.get("signal"),
            asked=meta["asked"],
            push=meta["push"],
            sources=self.wired.sources,
        )


def _reads_all(poll: FeedPoll) -> bool:
    """True if a document is parsed even if its digest is known: to find its archives, or to check that it is the
    lost feed.
    """
    return poll.feed.wants_archives or "search" in poll.lease.task.payload
