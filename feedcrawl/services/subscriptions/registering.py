"""Subscribing: the spider's argument, the command and the REST route come through here."""

from __future__ import annotations

import logging
import re
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.errors import InvalidUrl, Refusal
from feedcrawl.domain.frontier.priority import priority
from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.domain.subscriptions.listed import FeedList, ListedFeed, overrides_of, overrides_said
from feedcrawl.domain.subscriptions.lists import FORMS, read_list
from feedcrawl.domain.subscriptions.records import Subscription, dump
from feedcrawl.domain.urls import hostname, resolve
from feedcrawl.services.subscriptions.finding import batches, url_key, with_scheme
from feedcrawl.services.subscriptions.journal import moved_line
from feedcrawl.services.subscriptions.polling import moved_to, new_home

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from feedcrawl.domain.http.url_gate import Gate
    from feedcrawl.domain.subscriptions.records import Feed
    from feedcrawl.items import FeedPoll
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.subscriptions.registry import Command, Registry


logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Wish:
    """A feed that someone wants: its URL as written, the categories it shall have, and what else is said of it.

    `named`: an operator named the URL itself; False for a URL that a list or a page named.
    `said` are fields of a Subscription (a source's name, priority, intervals); they hold for a feed that is there too.
    `request_id` names the request that asks for it, of a new feed.
    """

    url: str
    categories: tuple[str, ...] = ()
    title: str | None = None
    said: Mapping[str, Any] = field(default_factory=dict)
    request_id: str | None = None
    named: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """A wish that cannot be granted, with the reason in a sentence."""

    url: str
    code: str
    detail: str


MAX_LIST_BYTES = 256 << 20
"""Of a list in a file, which is read into memory."""
DEFAULT_PRIORITY = 5
LISTS = frozenset({"opml", "text", "json"})
"""What a document that is no feed may be so that its address can be that of a list (`NotAFeed.code`)."""

_SCHEME = re.compile(r"feed:|[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_HOST = re.compile(r"(?:localhost|[\w-]+(?:\.[\w-]+)+|\[[0-9a-f:.]+\])(?::\d+)?(?:[/?#].*)?$", re.IGNORECASE)
_FILE = re.compile(r"[~./]|[^/]+\.(?:opml|xml|rss|txt|csv|json|list)$", re.IGNORECASE)


def split_names(text: str) -> list[str]:
    """The URLs and files that a comma-separated argument names.

    URLs and file names may have commas of their own: a piece that could not begin a name belongs to the one before it.
    """
    names: list[str] = []
    if _is_file(text):
        return [text]
    for piece in re.split(r",|\n", text):
        if names and _SCHEME.match(names[-1]) and not _begins_name(piece):
            names[-1] += f",{piece}"
        else:
            names.append(piece.strip())
    return list(filter(None, names))


def _begins_name(piece: str) -> bool:
    return piece[:1].isspace() or _is_url(piece) or _FILE.match(piece) is not None or _is_file(piece)


def _is_url(name: str) -> bool:
    """Whether a name is an address, with a scheme or beginning with a host as people type it, and no file."""
    return bool(_SCHEME.match(name) or (_HOST.match(name) and not _FILE.match(name) and not _is_file(name)))


def _is_file(name: str) -> bool:
    try:
        return bool(name.strip()) and Path(name.strip()).expanduser().exists()
    except (OSError, ValueError, RuntimeError):  # too long, a NUL, an unknown ~user
        return False


def read_wishes(
    names: Iterable[str], categories: tuple[str, ...], gate: Gate, *, limit: int
) -> tuple[list[Wish], list[Refused]]:
    """The feeds that URLs and files (OPML, text) name, and what was of no use: one bad name stops no other.

    A file brings its first `limit` feeds, without those that `gate` refuses.
    """
    wishes: list[Wish] = []
    refused: list[Refused] = []
    for name in names:
        if _is_url(name):
            wishes.append(Wish(name, categories, named=True))
            continue
        try:
            found = _read_file(name, limit)
        except Refusal as error:
            refused.append(Refused(name, error.code, error.detail))
            continue
        good, bad = passed(gate, wishes_of(found, categories, overrides=True))
        wishes += good
        refused += bad
        if found.left_out:
            detail = f"{found.left_out} feeds after the first {limit} are left out (FEEDCRAWL_MAX_FEEDS_PER_LIST)"
            refused.append(Refused(name, "list_too_long", detail))
    return wishes, refused


def passed(gate: Gate, wishes: Iterable[Wish]) -> tuple[list[Wish], list[Refused]]:
    """The wishes whose URL may be fetched as far as its text tells, and the others."""
    good, refused = [], []
    for wish in wishes:
        try:
            good.append(replace(wish, url=gate.passed(with_scheme(wish.url))))
        except InvalidUrl as error:
            refused.append(Refused(wish.url, error.code, error.detail))
    return good, refused


def _read_file(name: str, limit: int) -> FeedList:
    path = Path(name).expanduser()
    try:
        if path.stat().st_size > MAX_LIST_BYTES:
            raise Refusal("file_too_large", f"the file has more than {MAX_LIST_BYTES} bytes")
        return read_list(path.read_bytes(), limit=limit)
    except FileNotFoundError:
        detail = f"no such file here ({Path.cwd()}); an address begins with http:// or https://"
        raise Refusal("file_not_found", detail) from None
    except OSError as error:
        raise Refusal("file_unreadable", f"the file cannot be read: {error.strerror}") from error


def wishes_of(found: FeedList, categories: tuple[str, ...] = (), *, overrides: bool = False) -> list[Wish]:
    """What a list asks for, its own categories after those given; `overrides` only of a list that is its operator's."""
    return [
        Wish(each.url, (*categories, *each.categories), each.title, each.overrides.said() if overrides else {})
        for each in found.feeds
    ]


def with_archives(wishes: Iterable[Wish]) -> list[Wish]:
    """The same wishes, archives included; said from the start, since a worker may take a feed at once."""
    return [replace(wish, said={**wish.said, "backfill": True}) for wish in wishes]


def with_overrides(wishes: Iterable[Wish], pairs: Iterable[str]) -> list[Wish]:
    """The same wishes with overrides, said as `NAME=VALUE`."""
    said = overrides_said(pairs)
    return [replace(wish, said={**wish.said, **said}) for wish in wishes]


def override(registry: Registry, frontier: Frontier, feed: Feed, pairs: Iterable[str]) -> Subscription:
    """Gives a feed overrides, said as `NAME=VALUE`, and polls it at once, so that they hold from now on."""
    said = overrides_said(pairs)
    return change(registry, frontier, feed, said | ({"priority": said["priority"] or 5} if "priority" in said else {}))


def change(registry: Registry, frontier: Frontier, feed: Feed, said: Mapping[str, Any]) -> Subscription:
    """Says something else of a feed, by fields of a Subscription, and polls it at once, so that it holds now."""
    decided = replace(feed.subscription, **said)
    registry.save(decided)
    poll_now(frontier, [replace(feed, subscription=decided)])
    return decided


def listed(feed: Feed) -> ListedFeed:
    """A feed as a list names it."""
    said, polls = feed.subscription, feed.polls
    decided = overrides_of(asdict(said) | {"priority": said.priority if said.priority != DEFAULT_PRIORITY else None})
    url = said.page if said.page and feed.is_guess else said.url
    return ListedFeed(url, said.categories, said.title or polls.title, polls.site_url, decided)


def exported(registry: Registry, form: str) -> bytes:
    """All subscriptions as a list, by URL; `form` is one of `lists.FORMS`."""
    feeds = (feed for batch in batches(registry, [], 500) for feed in batch)
    return FORMS[form](sorted(map(listed, feeds), key=lambda feed: feed.url))


def subscribe(registry: Registry, frontier: Frontier, wish: Wish, now: datetime) -> tuple[str, bool]:
    """Subscribes once however the URL is spelled; the feed's id, and whether it is new.

    InvalidUrl for a bad one, Refusal (`too_many_feeds`) where `FEEDCRAWL_MAX_FEEDS` are subscribed.

    A new feed is due at once. One that is there gets the categories that it lacks.
    """
    said, new = _register(registry, wish, now)
    frontier.push([poll_task(said)])
    return said.id, new


def subscribe_all(
    registry: Registry, frontier: Frontier, wishes: Iterable[Wish], now: datetime
) -> tuple[list[str], list[Refused]]:
    """Subscribes to each; the ids in order, and what was refused: a bad URL stops no other.

    After a kill between registering and pushing the same call gives every feed its future.
    """
    found: dict[str, Subscription] = {}
    refused = []
    for wish in wishes:
        try:
            said, _ = _register(registry, wish, now)
        except Refusal as error:
            refused.append(Refused(wish.url, error.code, error.detail))
        else:
            found[said.id] = said
    frontier.push(map(poll_task, found.values()))
    return list(found), refused


def _register(registry: Registry, wish: Wish, now: datetime) -> tuple[Subscription, bool]:
    """The subscription that a wish comes to, and whether it is new."""
    url = resolve(with_scheme(wish.url))
    categories = tuple(dict.fromkeys(wish.categories))
    decided = {**wish.said, **({"unfolds": True} if wish.named else {})}
    said = {"added_at": rfc3339(now), "request_id": wish.request_id, **decided}
    new = Subscription(registry.new_id(url), url, categories, wish.title, **said)
    feed_id = registry.add(new, url_key(url))
    if feed_id == new.id:
        return new, True
    found = registry.load([feed_id])[feed_id].subscription
    lacking = tuple(category for category in categories if category not in found.categories)
    wanted = replace(found, categories=found.categories + lacking, **decided)
    if wanted != found:
        registry.save(wanted)
    return wanted, False


def unsubscribe(registry: Registry, frontier: Frontier, feed_id: str) -> bool:
    """Forgets a feed and its future; what it brought stays. False if there is none."""
    feed = registry.load([feed_id]).get(feed_id)
    if feed is None:
        return False
    return forget(registry, frontier, feed)


def move(registry: Registry, poll: FeedPoll) -> list[Command]:
    """The commands by which a feed lives where it has moved for good, if it has; its old addresses still lead to it.

    Where another feed is subscribed at the new address both stay as they are.
    """
    home = new_home(poll)
    if home is None:
        return []
    if registry.claim(url_key(home.url), home.id) != home.id:
        return []
    poll.moved_from = poll.feed.subscription.url
    found = "entries" if poll.found_at else "redirect"
    logger.info("feed_moved", extra={"feed_id": home.id, "url": poll.moved_from, "to": home.url, "by": found})
    poll.feed = replace(poll.feed, subscription=home)
    return registry.moved(dump(home), home.id)


def move_to(registry: Registry, frontier: Frontier, feed: Feed, url: str, now: datetime) -> Subscription:
    """Moves a feed to an address because an operator says so, and polls it there; Refusal if another feed has it."""
    address = resolve(with_scheme(url))
    home = moved_to(feed.subscription, address)
    return _rehouse(registry, frontier, feed, replace(home, refused=_without(home.refused, address)), now)


def undo_move(registry: Registry, frontier: Frontier, feed: Feed, now: datetime) -> Subscription:
    """Moves a feed back to where it was before; by itself it does not go there again. Refusal if it never moved."""
    said = feed.subscription
    if not said.formerly:
        raise Refusal("never_moved", f"{said.url} has not moved since it was subscribed")
    refused = tuple(dict.fromkeys((*_without(said.refused, said.formerly[-1]), said.url)))
    home = replace(said, url=said.formerly[-1], formerly=said.formerly[:-1], refused=refused)
    return _rehouse(registry, frontier, feed, home, now)


def _without(urls: Iterable[str], url: str) -> tuple[str, ...]:
    return tuple(each for each in urls if each != url)


def _rehouse(registry: Registry, frontier: Frontier, feed: Feed, home: Subscription, now: datetime) -> Subscription:
    """Writes a subscription at another address; what is known of its entries stays, what its server said does not."""
    old = feed.subscription.url
    if registry.claim(url_key(home.url), home.id) != home.id:
        raise Refusal("subscribed_already", f"another feed is subscribed at {home.url}")
    polls = replace(feed.polls, etag=None, last_modified=None, trust=None, moving=None, health=None)
    registry.move(home, polls, moved_line(feed, home.url, now))
    if old not in home.formerly and url_key(old) != url_key(home.url):
        registry.drop_url(url_key(old), home.id)
    frontier.remove(f"feed:{home.id}")
    frontier.push([poll_task(home)])
    logger.info("feed_moved", extra={"feed_id": home.id, "url": old, "to": home.url, "by": "operator"})
    return home


def forget(registry: Registry, frontier: Frontier, feed: Feed) -> bool:
    """Removes a feed, with its polls, its archives and every URL that leads to it."""
    said = feed.subscription
    registry.add_demand(feed.id, -feed.polls.demand)
    for task_id in (f"feed:{feed.id}", f"archive:{feed.id}", f"websub:{feed.id}"):
        frontier.remove(task_id)
    return registry.remove(feed.id, *map(url_key, filter(None, (said.url, said.page, *said.formerly))))


def poll_now(frontier: Frontier, feeds: Sequence[Feed]) -> None:
    """Makes feeds due at once, whatever their schedule says. Those never polled are so already, and asked once."""
    polled = [poll_task(feed.subscription) for feed in feeds if feed.polls.last_fetch_at is not None]
    frontier.push(polled, again="operator")


def want_archives(registry: Registry, feeds: Sequence[Feed]) -> list[Feed]:
    """Has the archives of feeds read; answers the feeds whose next poll begins that."""
    waiting = [feed for feed in feeds if feed.polls.archives is None]
    for feed in waiting:
        if not feed.subscription.backfill:
            registry.save(replace(feed.subscription, backfill=True))
    return waiting


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
