"""Tasks of kind `feed`: one conditional request, one item."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, cast

from scrapy import Request

from feedcrawl.crawl.failures import sentence
from feedcrawl.domain.http.conditional import Validators
from feedcrawl.domain.http.validators import Preconditions
from feedcrawl.domain.push import protocol, rsscloud
from feedcrawl.domain.subscriptions.access import login_hint
from feedcrawl.handlers import discovery
from feedcrawl.handlers.base import (
    UNAUTHORIZED,
    TaskHandler,
    archived,
    auth_scheme,
    challenge_detail,
    lasts,
    limits,
    result_of,
    tolerated,
    transfer_of,
    was_redirected,
)
from feedcrawl.hints import program
from feedcrawl.items import FeedFound, FeedPoll, FeedReceived, FeedRequested
from feedcrawl.parsing import Done
from feedcrawl.services.subscriptions import journal, polling, whereabouts
from feedcrawl.store.redis.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.domain.push.protocol import Topic
    from feedcrawl.domain.subscriptions.access import Access
    from feedcrawl.domain.subscriptions.records import Feed
    from feedcrawl.domain.subscriptions.search import Search
    from feedcrawl.store.push.websub import HubState

    Unfold = Callable[[FeedPoll, Response | None], Awaitable[FeedPoll | None]]


class FeedTasks(TaskHandler):
    """Polls feeds. `unfold` is called for a document that is not a feed; it returns the poll as it ends, or None if
    nothing is left to do.
    """

    _feeds: dict[str, Feed]
    _accesses: dict[str, Access]
    _hub_states: dict[str, HubState]

    def __init__(self, crawler: Crawler, unfold: Unfold) -> None:
        super().__init__(crawler)
        self._unfold = unfold
        self._skips: dict[str, str] = {}

    def prepare(self, leases: Sequence[Lease]) -> None:
        """Load the feeds of a batch."""
        ids = [lease.id.removeprefix("feed:") for lease in leases]
        self._feeds = self.wired.registry.load(ids)
        self._accesses = self.wired.registry.accesses(self._feeds.values())
        self._hub_states = self.wired.hub_subscriptions.load(ids) if self.wired.websub.on else {}

    def request(self, lease: Lease) -> Request | None:
        """The conditional request of a poll; None if a delivery that brought the task has been read already."""
        feed = self.polled(lease, self._feeds.get(lease.id.removeprefix("feed:")))
        if feed is None:
            return None
        config, payload, hub = self.wired.config, lease.task.payload, self._hub_states.get(feed.id)
        if hub is not None and hub.delivery is not None and lease.task.url == feed.subscription.url:
            return self._delivery(lease, feed, hub)
        whole = feed.needs_archives or "whole" in payload or "search" in payload
        wait = 0.0 if whole else self.wired.websub.unread_wait_sec(feed, lease.history.again)
        if wait > 0:
            self.leases.done(lease, status="pending", reason="waits", delay_sec=wait)
            return None
        preconditions = Preconditions("plain", Validators()) if whole else polling.preconditions(feed, self.wired.now())
        meta = {
            "feed": feed,
            "kind": preconditions.kind,
            "validators": preconditions.validators,
            "raw": {"feed_id": feed.id, "previous": feed.polls.raw},
            # An operator named the subscribed URL, while a guessed address is ours; robots.txt governs crawling only.
            "dont_obey_robotstxt": not (feed.is_guess or "search" in payload),
            **limits(config.fetch_timeout_sec, config.max_feed_bytes),
            "push": hub.push if hub is not None else None,
        }
        url = lease.task.url
        headers = self.feed_headers(lease, feed, self._accesses.get(feed.id), meta)
        return Request(url, self.parse, "GET", headers, meta=meta, errback=self.failed, dont_filter=True)

    def _delivery(self, lease: Lease, feed: Feed, hub: HubState) -> Request:
        """The delivery of the feed's hub, used in place of a response: no request is sent, and the host's slot is
        free again.
        """
        self.leases.release(lease, "none")
        meta = {"feed": feed, "kind": "plain", "delivery": hub, "started": time.monotonic(), "push": hub.push}
        return Request(lease.task.url, self.delivered, meta=meta, errback=self.failed, dont_filter=True)

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
                self.wired.registry.save_polls(feed.id, polling.without_last_failure(feed.polls))

    async def delivered(self, response: Response) -> AsyncIterator[FeedPoll]:
        """A hub's delivery as an item, in the form that a poll would have given."""
        request = cast("Request", response.request)
        requested = self._requested(request)
        received = FeedReceived(**transfer_of(request, "fetched", self.wired.now()))
        yield FeedPoll(
            requested, await self._read(requested, replace(received, body_bytes=len(response.body)), response)
        )

    async def parse(self, response: Response) -> AsyncIterator[FeedPoll]:
        """The response as an item, parsed in a child process if the document is new."""
        request = cast("Request", response.request)
        requested, received = self._requested(request), self._received(response)
        feed = requested.feed
        if (why := _unusable(requested, received.result)) is not None:
            if "whole" not in requested.lease.task.payload:
                self._request_whole(requested.lease, why)
                return
            detail = "304 twice, though no validator was sent"
            received = replace(received, result="unasked_304", detail=detail)
        elif received.result == "fetched":
            if received.body_hash == feed.polls.body_hash and not _reads_all(requested):
                received = replace(received, result="unchanged", digest=feed.polls.digest)
            else:
                received = await self._read(requested, received, response)
        poll = await self._ended(FeedPoll(requested, received), response)
        if poll is not None:
            topic = self._hub_of(poll.received, response)
            yield poll if topic is None else replace(poll, received=replace(poll.received, topic=topic))

    def _hub_of(self, received: FeedReceived, response: Response) -> Topic | None:
        """The hub that the feed names in its Link headers or in its document."""
        if not self.wired.websub.on or received.failed:
            return None
        links = [value.decode("latin-1") for value in response.headers.getlist("Link")]
        parsed = received.parsed
        if parsed is None:
            return protocol.topic_of(links, (), None, url=response.url)
        named = protocol.topic_of(links, parsed.hubs, parsed.self_url, url=response.url)
        return named or rsscloud.topic_of(parsed.cloud, url=response.url)

    async def failed(self, failure: Failure) -> AsyncIterator[FeedPoll]:
        """Handle a poll that got no response."""
        settled = self.settled(failure)
        if settled is not None:
            request, outcome = settled
            transfer = transfer_of(request, outcome.reason, self.wired.now())
            received = FeedReceived(**transfer, **archived(request), detail=sentence(failure.value))
            poll = await self._ended(FeedPoll(self._requested(request), received), None)
            if poll is not None:
                yield poll

    async def _ended(self, poll: FeedPoll, response: Response | None) -> FeedPoll | None:
        """The poll as it ends; None if its task moved on to another address, where the feed may be."""
        is_page = poll.received.result in discovery.PAGES
        if is_page and response is not None:
            onward = await discovery.refresh(self.wired.parsers, response)
            if onward is not None and self.follow_refresh(response, onward) is None:
                return None
        search = whereabouts.search_of(poll)
        if search is not None:
            return await self._searched(poll, response, search)
        if not poll.received.failed:
            return poll
        begun = whereabouts.begin(poll)
        if begun is None:
            return await self._unfold(poll, response)
        if begun.at_page and is_page and response is not None:
            named = await discovery.announced(self.wired.parsers, response)
            begun = replace(begun, at_page=False, places=named) if named else begun
        return None if self._moves_on(poll, begun) else replace(poll, found=FeedFound(searched=True))

    async def _searched(self, poll: FeedPoll, response: Response | None, search: Search) -> FeedPoll | None:
        if search.at_page:
            named = await discovery.announced(self.wired.parsers, response) if response is not None else ()
            search = replace(search, at_page=False, places=named)
        elif poll.received.parsed is not None and whereabouts.recognises(
            poll, poll.received.identified, self.wired.entries
        ):
            return replace(poll, found=FeedFound(searched=True, found_at=poll.lease.task.url))
        return None if self._moves_on(poll, search) else whereabouts.ended(poll, search)

    def _moves_on(self, poll: FeedPoll, search: Search) -> bool:
        onward = whereabouts.patch(poll, search)
        if onward is not None:
            self.leases.give_back(poll.lease, reason="searched", patch=onward)
        return onward is not None

    def _request_whole(self, lease: Lease, why: str) -> None:
        """Have the feed requested again, once and without validators."""
        self.stats.inc_value(f"feedcrawl/validators/{why}")
        self.leases.give_back(lease, reason=f"{why}_304", patch={"payload": {**lease.task.payload, "whole": why}})

    async def _read(self, requested: FeedRequested, received: FeedReceived, response: Response) -> FeedReceived:
        """The response with its document, as a child process reads it."""
        feed = requested.feed
        known = None if requested.is_delivery or _reads_all(requested) else feed.polls.digest
        read = await self.read_document(requested, response, self.how(feed, known))
        if not isinstance(read, Done):
            return replace(received, result=read.code, detail=read.detail)
        reading, parsed = read.value, read.value.parsed
        if not requested.is_delivery and reading.digest == feed.polls.digest and not reading.identified:
            return replace(received, result="unchanged", digest=reading.digest, hints=parsed.hints)
        parsed = replace(parsed, notes=(*parsed.notes, *tolerated(response)))
        return replace(
            received, parsed=parsed, hints=parsed.hints, identified=reading.identified, digest=reading.digest
        )

    def _requested(self, request: Request) -> FeedRequested:
        meta = request.meta
        feed: Feed = meta["feed"]
        hub: HubState | None = meta.get("delivery")
        self._skips.pop(feed.id, None)
        return FeedRequested(
            lease=meta["lease"],
            feed=feed,
            poll_id=f"{feed.id}@{feed.polls.next_at or feed.subscription.added_at}",
            sources=self.wired.sources,
            kind=meta["kind"],
            push=meta["push"],
            deliveries=max(hub.waiting, 1) if hub is not None else 0,
        )

    def _received(self, response: Response) -> FeedReceived:
        request = cast("Request", response.request)
        detail = challenge_detail(response)
        if response.status == UNAUTHORIZED:
            scheme, sent = auth_scheme(response), bool(request.meta.get("private"))
            detail = login_hint(scheme=scheme, sent=sent, program=program())
        return FeedReceived(
            **transfer_of(request, result_of(request.meta["outcome"]), self.wired.now(), response),
            **archived(request),
            detail=detail,
            final_url=response.url,
            moved_to=response.url if was_redirected(request) and lasts(request) else None,
        )


def _unusable(requested: FeedRequested, result: str) -> Literal["unasked", "deaf"] | None:
    """The reason why a 304 is unusable: no validator was sent, or only that of a replaced version. None if the response
    is usable, or is no 304.
    """
    if result == "unasked_304":
        return "unasked"
    return "deaf" if result == "not_modified" and requested.kind == "test" else None


def _reads_all(requested: FeedRequested) -> bool:
    """True if a document is parsed even if its digest is known: to find its archives, or to check that it is the
    lost feed.
    """
    return requested.feed.needs_archives or "search" in requested.lease.task.payload
