"""An address that serves a list of feeds: subscribed like a feed, it gives way to the feeds of its list when polled.

So a list from the web passes the same guard, pace and limits as any feed, whoever subscribed to it and how.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from feedcrawl.domain.subscriptions.lists import read_list
from feedcrawl.handlers.base import PARSE_WALL_SEC
from feedcrawl.parsing import Done
from feedcrawl.services.subscriptions import registering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.http import Response

    from feedcrawl.items import FeedPoll
    from feedcrawl.services.subscriptions.registering import Refused, Wish
    from feedcrawl.wiring import Wiring

logger = logging.getLogger(__name__)

BATCH = 25
"""Feeds that are written between two turns of the event loop."""


async def unfold(wired: Wiring, poll: FeedPoll, response: Response) -> list[str]:
    """The ids of the feeds that an address lists which has never been a feed; the poll then needs no commit."""
    if poll.result not in registering.LISTS or poll.feed.polls.last_success_at is not None:
        return []
    read = await wired.parsers.run(read_list, response.body, wall_sec=PARSE_WALL_SEC)
    if not isinstance(read, Done):
        return []
    said, found = poll.feed.subscription, read.value
    # A page of plain text, or what a program answers with, is a list only if it has nothing but addresses.
    if poll.result != "opml" and not all("://" in feed.url for feed in found.feeds):
        return []
    wishes = registering.wishes_of(found, said.categories)
    wanted = await subscribe(wired, registering.with_archives(wishes) if said.backfill else wishes)
    ids = [each for each in wanted if each != said.id]  # a list may name itself
    if not ids:
        return []
    registering.unsubscribe(wired.registry, wired.frontier, poll.feed.id)
    wired.leases.done(poll.lease, status="dead", reason="list")  # its task is gone: what is left is ours to forget
    details = {"url": said.url, "host": poll.lease.task.host, "feeds": len(ids), "left_out": found.left_out}
    logger.info("list_subscribed", extra=details)
    return ids


async def subscribe(wired: Wiring, wishes: Sequence[Wish]) -> list[str]:
    """Subscribes to each, in turns with the event loop; the ids of the feeds. What is refused is logged."""
    ids: dict[str, None] = {}
    for first in range(0, len(wishes), BATCH):
        batch = wishes[first : first + BATCH]
        found, refused = registering.subscribe_all(wired.registry, wired.frontier, batch, wired.now())
        ids.update(dict.fromkeys(found))
        tell(refused)
        await asyncio.sleep(0)
    return list(ids)


def tell(refused: Sequence[Refused]) -> None:
    """A line for each."""
    for bad in refused:
        logger.error("feed_refused", extra={"url": bad.url, "reason": bad.code, "detail": bad.detail})
