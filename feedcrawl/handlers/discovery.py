"""Feed discovery during polls: a subscription to a page moves to the feed that the page names.

A page names its feeds by `<link rel="alternate">`; if it names none, the usual addresses are tried, then those of its
links that look like feeds. Pages and guessed addresses are requested only if robots.txt allows it.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from feedcrawl import wiring
from feedcrawl.crawl import robots_gate
from feedcrawl.domain.discovery import choice, feed_like_links, find_feeds
from feedcrawl.domain.http.redirects import header_url
from feedcrawl.domain.http.refresh import find_refresh
from feedcrawl.exceptions import RobotsBlocked, RobotsUnavailable
from feedcrawl.handlers.base import PARSE_WALL_SEC
from feedcrawl.parsing import Done
from feedcrawl.services.subscriptions.discovery import Moves, is_elsewhere, stage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from feedcrawl.domain.models import FeedLink
    from feedcrawl.items import FeedPoll
    from feedcrawl.parsing import ParserPool

logger = logging.getLogger(__name__)

PAGES = frozenset({"html", "soft_404"})
"""Kinds of document (`NotAFeed.code`) that may name feeds: even a page for a missing document has the site's
head.
"""


async def unfold(crawler: Crawler, poll: FeedPoll, response: Response | None) -> FeedPoll | None:
    """The poll as it ends; None if its subscription, which has never been a feed, moved to an address where its feed
    may be.
    """
    wired = wiring.of(crawler)
    moves = Moves(wired.registry, wired.frontier, wired.leases)
    at = stage(poll.feed)
    if at == "guess" and is_elsewhere(poll.received):
        if poll.feed.subscription.untried:
            moves.move(poll, poll.feed.subscription.untried)
            return None
        home = moves.back(poll)
        requested = replace(poll.requested, feed=replace(poll.feed, subscription=home))
        return replace(poll, requested=requested).judged(f"no feed was found at or through {home.url}", "html")
    if at == "page" and poll.received.result in PAGES and response is not None:
        return await _leave_page(crawler, moves, poll, response)
    return poll


async def _leave_page(crawler: Crawler, moves: Moves, poll: FeedPoll, response: Response) -> FeedPoll | None:
    try:
        await robots_gate.of(crawler).check(response.url, "visit")
    except (RobotsBlocked, RobotsUnavailable):
        return poll.judged("a page, not a feed; its robots.txt forbids the search for its feeds")
    parsers, page = wiring.of(crawler).parsers, poll.feed.subscription.url
    named = _others(page, choice.places(await links(parsers, find_feeds, response), response.url))
    places = named
    if not named and poll.feed.polls.last_fetch_at is None:  # guess once, not at each poll of a page
        places = _others(page, await _guesses(parsers, response))
    if not places:
        return poll.judged("a page, not a feed: it announces no feed, and none was found through it")
    feed_id = moves.move(poll, places, offered=named)
    details = {"url": page, "feed_id": feed_id, "feed": places[0], "announced": bool(named)}
    others = {"choice": " ".join(named[1:])} if named[1:] else {}
    logger.info("page_left_for_feed", extra=details | others)
    return None


def _others(page: str, places: Sequence[str]) -> tuple[str, ...]:
    """The places without the page itself: a search that came back to the page would never end."""
    return tuple(place for place in places if place != page)


async def _guesses(parsers: ParserPool, response: Response) -> tuple[str, ...]:
    likely = choice.places(await links(parsers, feed_like_links, response), response.url)
    return tuple(dict.fromkeys((*choice.guesses(response.url), *likely)))[: choice.MAX_PLACES]


async def announced(parsers: ParserPool, response: Response) -> tuple[str, ...]:
    """The addresses of the feeds that a page names, or else of those of its links that look like feeds."""
    for find in (find_feeds, feed_like_links):
        if places := choice.places(await links(parsers, find, response), response.url):
            return places
    return ()


async def refresh(parsers: ParserPool, response: Response) -> str | None:
    """The URL to which a page sends its readers, read in a child process."""
    header = header_url(response.headers.get("Refresh") or b"") or None
    read = await parsers.run(find_refresh, response.body, url=response.url, header=header, wall_sec=PARSE_WALL_SEC)
    return read.value.url if isinstance(read, Done) and read.value is not None else None


async def links(
    parsers: ParserPool, find: Callable[..., tuple[FeedLink, ...]], response: Response
) -> tuple[FeedLink, ...]:
    """The links that `find` returns for a page, read in a child process; none if the page cannot be read.

    `find_feeds` reads the Link headers too.
    """
    headers = [header_url(value) for value in response.headers.getlist("Link")]
    about = {"headers": headers} if find is find_feeds and headers else {}
    read = await parsers.run(find, response.body, url=response.url, wall_sec=PARSE_WALL_SEC, **about)
    return read.value if isinstance(read, Done) else ()
