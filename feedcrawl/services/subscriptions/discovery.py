"""Moves subscriptions: of a page to the page's feed, from address to address until one serves a feed; of a feed to its
new address, which its server, its entries or an operator named.

The progress is stored in the subscription, so that any worker can continue after a kill.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.frontier.outcome import FAILURES, STATUSES, judge
from feedcrawl.domain.subscriptions.records import dump
from feedcrawl.domain.urls import hostname, resolve
from feedcrawl.services.subscriptions.finding import url_key, with_scheme
from feedcrawl.services.subscriptions.journal import moved_line
from feedcrawl.services.subscriptions.polling import moved_to, new_home
from feedcrawl.services.subscriptions.registering import forget, poll_task

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from feedcrawl.domain.subscriptions.published import JournalLineRecord
    from feedcrawl.domain.subscriptions.records import Feed, Subscription
    from feedcrawl.items import FeedPoll, Received
    from feedcrawl.services.frontier.leases import Leases
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.redis.members import Command
    from feedcrawl.store.subscriptions.registry import Registry

logger = logging.getLogger(__name__)

Stage = Literal["none", "page", "guess"]
_MAY_LOG_IN = frozenset({401, 403, 407})
_MAY_DO_BETTER = frozenset({"unreachable", "throttled", "postponed"})


@dataclass(frozen=True, slots=True)
class Moves:
    """Moves subscriptions, by means of the stores and the leases of this worker."""

    registry: Registry
    frontier: Frontier
    leases: Leases

    def move(self, poll: FeedPoll, places: Sequence[str], *, offered: Sequence[str] = ()) -> str:
        """Move a subscription to the first of these addresses and keep the others for later; the id of the feed at that
        address.

        If another feed is already subscribed at the address, that feed gets the categories, and this subscription ends.
        `offered` are the feeds that a page names, for the journal.
        """
        subscription, url = poll.feed.subscription, places[0]
        page = subscription.page or subscription.url
        moved = replace(subscription, url=url, page=page, untried=tuple(places[1:]))
        holder = self.registry.claim(url_key(url), subscription.id)
        if holder != subscription.id:
            self._join(poll, holder, page)
            return holder
        commands = self.registry.moved(dump(moved), subscription.id)
        self.leases.done(
            poll.lease,
            status="pending",
            reason="moved",
            signal=poll.received.signal,
            patch={"url": url, "host": hostname(url), "payload": None},
            commit=[*commands, *self.registry.note(subscription.id, _line(poll, f"next: {url}", offered))],
        )
        self.registry.drop_url(_left(poll.feed, url), subscription.id)
        return subscription.id

    def back(self, poll: FeedPoll) -> Subscription:
        """Return the subscription to its page, since no address is left to try; its poll has failed there."""
        subscription = poll.feed.subscription
        assert subscription.page is not None
        home = replace(subscription, url=subscription.page, untried=())
        self.registry.save(home)
        self.registry.drop_url(_left(poll.feed, subscription.page), subscription.id)
        return home

    def _join(self, poll: FeedPoll, holder: str, page: str) -> None:
        subscription = poll.feed.subscription
        other = self.registry.load([holder])[holder].subscription
        categories = tuple(dict.fromkeys((*other.categories, *subscription.categories)))
        self.registry.save(replace(other, categories=categories, backfill=other.backfill or subscription.backfill))
        forget(self.registry, self.frontier, poll.feed)
        self.registry.point(url_key(page), holder)
        self.leases.done(poll.lease, status="dead", reason="subscribed_already")


def stage(feed: Feed) -> Stage:
    """The place of a feed without a successful poll: `page` (the URL that was named) or `guess` (an address
    derived from it); `none` after a success.
    """
    subscription = feed.subscription
    if feed.polls.last_success_at is not None:
        return "none"
    return "page" if subscription.page in (None, subscription.url) else "guess"


def is_elsewhere(received: Received) -> bool:
    """True if a response shows that the feed is not here; a failing host, or one that asks to wait, shows
    nothing.
    """
    status, reason = received.status, received.result
    result = status if status is not None and reason == f"http_{status}" else reason
    return judge(result, task_kind="page").kind not in _MAY_DO_BETTER


def may_become_a_feed(code: str) -> bool:
    """True if an address that did not serve a feed is still worth polling, since it could not be checked."""
    if code == "robots_blocked":  # robots.txt forbids crawling only: an operator named the subscription
        return True
    result = int(code.removeprefix("http_")) if re.fullmatch(r"http_\d+", code) else code
    known = result in STATUSES or result in FAILURES
    return known and judge(result, task_kind="page").kind in {*_MAY_DO_BETTER, "unstable"}


def is_nowhere(status: int | None, result: str) -> bool:
    """True if no poll of an address can bring a document: nothing is there, nobody may read it whatever the login, or
    its host has no public address.
    """
    if result == "address_refused":
        return True
    if status is None or status in _MAY_LOG_IN:
        return False
    return judge(status, task_kind="page").kind in ("rejected", "gone")


def _left(feed: Feed, to: str) -> str | None:
    """The URL key of the address that a subscription leaves; None if the key stays in use (the page's still leads
    to the feed).
    """
    subscription = feed.subscription
    key = url_key(subscription.url)
    return None if subscription.page in (None, subscription.url) or key == url_key(to) else key


def _line(poll: FeedPoll, detail: str, offered: Sequence[str]) -> JournalLineRecord:
    moment = rfc3339(poll.received.at)
    line: JournalLineRecord = {
        "poll_id": f"{poll.feed.id}@{poll.feed.subscription.url}",
        "at": moment,
        "result": poll.received.result,
        "detail": detail,
        "reason": "initial",
        "interval_after_sec": 0,
        "next_at": moment,
    }
    if poll.received.status is not None:
        line["http_status"] = poll.received.status
    if offered:
        line["offered"] = list(offered[:10])
    return line


def move(registry: Registry, poll: FeedPoll) -> tuple[Subscription, list[Command]]:
    """The subscription at the address to which its feed has moved for good, and the commands that move it; old
    addresses still lead to it. The subscription as it was, and no commands, if the feed stays.

    If another feed is subscribed at the new address, both stay unchanged.
    """
    home, before = new_home(poll), poll.feed.subscription
    if home is None or registry.claim(url_key(home.url), home.id) != home.id:
        return before, []
    found = "entries" if poll.found.found_at else "redirect"
    logger.info("feed_moved", extra={"feed_id": home.id, "url": before.url, "to": home.url, "by": found})
    return home, registry.moved(dump(home), home.id)


def move_to(registry: Registry, frontier: Frontier, feed: Feed, url: str, now: datetime) -> Subscription:
    """Move a feed to an address on an operator's order, and poll it there; raises Refusal if another feed has the
    address.
    """
    address = resolve(with_scheme(url))
    home = moved_to(feed.subscription, address)
    return _rehouse(registry, frontier, feed, replace(home, refused=_without(home.refused, address)), now)


def undo_move(registry: Registry, frontier: Frontier, feed: Feed, now: datetime) -> Subscription:
    """Move a feed back to its former address; the feed does not follow the same move again. Raises Refusal if it
    never moved.
    """
    subscription = feed.subscription
    if not subscription.formerly:
        raise Refusal("never_moved", f"{subscription.url} has not moved since it was subscribed")
    refused = tuple(dict.fromkeys((*_without(subscription.refused, subscription.formerly[-1]), subscription.url)))
    home = replace(subscription, url=subscription.formerly[-1], formerly=subscription.formerly[:-1], refused=refused)
    return _rehouse(registry, frontier, feed, home, now)


def _without(urls: Iterable[str], url: str) -> tuple[str, ...]:
    return tuple(each for each in urls if each != url)


def _rehouse(registry: Registry, frontier: Frontier, feed: Feed, home: Subscription, now: datetime) -> Subscription:
    """Store a subscription at another address; the known entries stay, the state learnt from the old server is
    dropped.
    """
    old = feed.subscription.url
    if registry.claim(url_key(home.url), home.id) != home.id:
        raise Refusal("subscribed_already", f"another feed is subscribed at {home.url}")
    polls = replace(feed.polls, etag=None, last_modified=None, trust=None, moving=None, health=None)
    registry.move(home, polls, moved_line(feed, home.url, now))
    if old not in home.formerly and url_key(old) != url_key(home.url):
        registry.drop_url(url_key(old), home.id)
    frontier.remove(f"feed:{home.id}")
    frontier.enqueue([poll_task(home)])
    logger.info("feed_moved", extra={"feed_id": home.id, "url": old, "to": home.url, "by": "operator"})
    return home
