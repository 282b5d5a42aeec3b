"""Searches for a lost feed: the feed's own task goes from address to address and then back to the feed's URL.

Each request follows its host's turn and rules, and any worker can continue after a kill. A document found elsewhere is
the feed if it shares entries with the known ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from feedcrawl.domain.dates import moment
from feedcrawl.domain.subscriptions.search import Failing, Search, is_found, search_from, under_scheme, where_to_look
from feedcrawl.domain.urls import hostname
from feedcrawl.items import FeedFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from feedcrawl.domain.entries.identity import Identified
    from feedcrawl.domain.frontier.payloads import Patch, Payload
    from feedcrawl.items import FeedPoll
    from feedcrawl.store.subscriptions.entries import Entries


def search_of(poll: FeedPoll) -> Search | None:
    """The search in progress of this poll's task; None if there is none."""
    record = poll.lease.task.payload.get("search")
    return search_from(record) if record else None


def begin(poll: FeedPoll) -> Search | None:
    """The search that a failed poll starts; None if no search is due."""
    subscription, polls = poll.feed.subscription, poll.feed.polls
    if subscription.no_discovery or (subscription.page is not None and polls.last_success_at is None):
        return None
    errors = polls.cadence_state.errors + 1
    known = polls.last_success_at is not None
    failing = Failing(
        poll.received.result, errors, subscription.url, known, moment(polls.searched_at), subscription.scheme_guessed
    )
    where = where_to_look(failing, poll.received.at)
    if where is None:
        return None
    begun = Search(poll.received.result, poll.received.status)
    if where in ("https", "http"):
        return replace(begun, places=(under_scheme(subscription.url, where),))
    return replace(begun, at_page=True, places=(polls.site_url,) if polls.site_url else ())


def patch(poll: FeedPoll, search: Search) -> Patch | None:
    """The patch that sends the task to the next address of a search; None if none is left."""
    if not search.places:
        return None
    url = search.places[0]
    payload: Payload = {**poll.lease.task.payload, "search": replace(search, places=search.places[1:]).to_record()}
    return {"url": url, "host": hostname(url), "payload": payload}


def recognises(poll: FeedPoll, entries: Sequence[Identified], store: Entries) -> bool:
    """True if a document is the feed of this poll."""
    keys = list(dict.fromkeys(key for entry in entries for key in entry.keys))
    aliases, _ = store.load(poll.feed.id, keys)
    shared = sum(any(key in aliases for key in entry.keys) for entry in entries)
    return is_found(shared, len(entries), known=poll.feed.polls.last_success_at is not None)


def ended(poll: FeedPoll, search: Search) -> FeedPoll:
    """The poll with its result at the feed's own URL: the feed was not found elsewhere."""
    received = replace(
        poll.received,
        result=search.because,
        status=search.status,
        detail="its site was searched for the feed, which was not found",
        validators=None,
        parsed=None,
        digest=None,
        identified=(),
    )
    return replace(poll, received=received, found=FeedFound(searched=True))
