"""Subscribing: the spider's argument, the command and the REST route come through here."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.priority import priority
from feedcrawl.domain.subscription import Subscription
from feedcrawl.domain.tasks import Task
from feedcrawl.domain.urls import canonicalize, hostname, resolve
from feedcrawl.services.polling import rfc3339
from feedcrawl.store.connection import map_redis_errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from feedcrawl.domain.subscription import Feed
    from feedcrawl.store.frontier import Frontier
    from feedcrawl.store.registry import Registry


@dataclass(frozen=True, slots=True)
class Wish:
    """A feed that someone wants: its URL as written, and the categories it shall have."""

    url: str
    categories: tuple[str, ...] = ()
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """A wish that cannot be granted, with the reason in a sentence."""

    url: str
    code: str
    detail: str


def url_key(url: str) -> str:
    """What two spellings of one feed's URL have in common: the canonical URL without its scheme."""
    return canonicalize(url).partition("://")[2]


def subscribe(registry: Registry, frontier: Frontier, wish: Wish, now: datetime) -> tuple[str, bool]:
    """Subscribes once however the URL is spelled; the feed's id, and whether it is new. InvalidUrl for a bad one.

    A new feed is due at once. One that is there gets the categories that it lacks.
    """
    url = resolve(with_scheme(wish.url))
    new = Subscription(str(uuid.uuid4()), url, wish.categories, wish.title, added_at=rfc3339(now))
    with map_redis_errors():
        feed_id = registry.add(new, url_key(url))
        if feed_id == new.id:
            frontier.push([poll_task(new)])
            return feed_id, True
        found = registry.load([feed_id])[feed_id].subscription
        lacking = tuple(category for category in wish.categories if category not in found.categories)
        if lacking:
            registry.save(replace(found, categories=found.categories + lacking))
        frontier.push([poll_task(found)])  # its future, should a kill have come between the two steps
        return feed_id, False


def subscribe_all(
    registry: Registry, frontier: Frontier, wishes: Iterable[Wish], now: datetime
) -> tuple[list[str], list[Refused]]:
    """Subscribes to each; the ids in order, and what was refused: a bad URL stops no other."""
    ids, refused = [], []
    for wish in wishes:
        try:
            ids.append(subscribe(registry, frontier, wish, now)[0])
        except InvalidUrl as error:
            refused.append(Refused(wish.url, error.code, error.detail))
    return list(dict.fromkeys(ids)), refused


def unsubscribe(registry: Registry, frontier: Frontier, feed_id: str) -> bool:
    """Forgets a feed and its future; what it brought stays. False if there is none."""
    with map_redis_errors():
        feed = registry.load([feed_id]).get(feed_id)
        if feed is None:
            return False
        frontier.remove(poll_task(feed.subscription).id)
        return registry.remove(feed_id, url_key(feed.subscription.url))


def find(registry: Registry, name: str) -> Feed | None:
    """A feed by its id or by any spelling of its URL."""
    with map_redis_errors():
        try:
            feed_id = registry.by_url(url_key(with_scheme(name))) or name
        except InvalidUrl:
            feed_id = name
        return registry.load([feed_id]).get(feed_id)


def poll_now(frontier: Frontier, feeds: Sequence[Feed]) -> None:
    """Makes feeds due at once, whatever their schedule says."""
    with map_redis_errors():
        frontier.push([poll_task(feed.subscription) for feed in feeds], again="operator")


def poll_task(said: Subscription) -> Task:
    """The one task that is a feed's future."""
    return Task(
        id=f"feed:{said.id}",
        kind="feed",
        url=said.url,
        host=hostname(said.url),
        priority=priority(said.priority, origin="feed", depth=0),
        source=said.source,
        category=said.categories[0] if said.categories else None,
    )


def with_scheme(url: str) -> str:
    """A URL as people type it: `example.org/feed` and `feed:` forms are http(s) ones."""
    text = url.strip()
    for prefix in ("feed://", "feed:"):
        if text.lower().startswith(prefix):
            text = text[len(prefix) :]
            break
    return text if "://" in text else f"https://{text}"
