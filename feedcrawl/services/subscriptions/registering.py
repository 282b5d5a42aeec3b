"""Subscribes, changes and removes feeds, for the spider's argument, the command and the REST route."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.errors import InvalidUrl, Refusal
from feedcrawl.domain.frontier.priority import priority
from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.domain.push.leases import unsubscribe_task
from feedcrawl.domain.subscriptions.access import access_for, without_login
from feedcrawl.domain.subscriptions.listed import FeedList, overrides_from
from feedcrawl.domain.subscriptions.lists import read_list
from feedcrawl.domain.subscriptions.records import DEFAULT_PRIORITY, Subscription
from feedcrawl.domain.subscriptions.specs import Refused, SubscriptionSpec
from feedcrawl.domain.urls import hostname, resolve
from feedcrawl.services.subscriptions.finding import has_scheme, url_key, with_scheme

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from feedcrawl.domain.http.url_gate import Gate
    from feedcrawl.domain.subscriptions.access import Header
    from feedcrawl.domain.subscriptions.records import Feed
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.subscriptions.registry import Registry


MAX_LIST_BYTES = 256 << 20
"""The size limit of a list in a file, which is read into memory."""
LISTS = frozenset({"opml", "text", "json"})
"""Kinds of document (`NotAFeed.code`) whose address may serve a list of feeds."""

_SCHEME = re.compile(r"(?:feeds?|pcast|itpc):|[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_HOST = re.compile(r"(?:localhost|[\w-]+(?:\.[\w-]+)+|\[[0-9a-f:.]+\])(?::\d+)?(?:[/?#].*)?$", re.IGNORECASE)
_FILE = re.compile(r"[~./]|[^/]+\.(?:opml|xml|rss|txt|csv|json|list)$", re.IGNORECASE)


def split_names(text: str) -> list[str]:
    """The URLs and files in a comma-separated argument.

    URLs and file names may contain commas: a piece that cannot begin a name belongs to the name before it.
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
    """True if a name is a URL, with a scheme or beginning with a host as people type it, and not a file."""
    return bool(_SCHEME.match(name) or (_HOST.match(name) and not _FILE.match(name) and not _is_file(name)))


def missing_file(names: Iterable[str]) -> str | None:
    """The first of these names that is neither a URL nor a file; None if there is none."""
    return next((name for name in names if not _is_url(name) and not _is_file(name)), None)


def _is_file(name: str) -> bool:
    try:
        return bool(name.strip()) and Path(name.strip()).expanduser().exists()
    except (OSError, ValueError, RuntimeError):  # too long, a NUL, an unknown ~user
        return False


def read_specs(
    names: Iterable[str], categories: tuple[str, ...], gate: Gate, *, limit: int
) -> tuple[list[SubscriptionSpec], list[Refused]]:
    """The feeds that URLs and files (OPML, text) name, and the unusable names: a bad name stops no other.

    Of a file, the first `limit` feeds are read, without those that `gate` refuses.
    """
    specs: list[SubscriptionSpec] = []
    refused: list[Refused] = []
    for name in names:
        try:
            if _is_url(name):
                specs.append(with_login(SubscriptionSpec(name, categories, named=True)))
                continue
            found = _read_file(name, limit)
        except Refusal as error:
            refused.append(Refused(name, error.code, error.detail))
            continue
        good, bad = passed(gate, map(with_login, specs_of(found, categories, overrides=True)))
        specs += good
        refused += bad
        if found.left_out:
            detail = f"{found.left_out} feeds after the first {limit} are left out (FEEDCRAWL_MAX_FEEDS_PER_LIST)"
            refused.append(Refused(name, "list_too_long", detail))
    return specs, refused


def checked(gate: Gate, spec: SubscriptionSpec) -> SubscriptionSpec:
    """The spec with its URL complete; InvalidUrl if the URL may not be fetched, judged by its text alone."""
    return replace(spec, url=gate.passed(with_scheme(spec.url)), guessed=not has_scheme(spec.url))


def passed(gate: Gate, specs: Iterable[SubscriptionSpec]) -> tuple[list[SubscriptionSpec], list[Refused]]:
    """The specs whose URL may be fetched, and the refused specs."""
    good, refused = [], []
    for spec in specs:
        try:
            good.append(checked(gate, spec))
        except InvalidUrl as error:
            refused.append(Refused(spec.url, error.code, error.detail))
    return good, refused


def with_login(spec: SubscriptionSpec, login: Iterable[Header] = ()) -> SubscriptionSpec:
    """The spec with the user info of its URL, and `login`, as request headers; an unusable URL is left as it is."""
    try:
        url, own = without_login(with_scheme(spec.url))
    except InvalidUrl:  # the error is reported when subscribing
        return spec
    return replace(spec, url=url if own else spec.url, login=(*spec.login, *own, *login))


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


def specs_of(found: FeedList, categories: tuple[str, ...] = (), *, overrides: bool = False) -> list[SubscriptionSpec]:
    """The feeds of a list as specs, the list's categories after the given ones; `overrides` only for a list of
    the operator's.
    """
    return [
        SubscriptionSpec(
            each.url, (*categories, *each.categories), each.title, each.overrides.given() if overrides else {}
        )
        for each in found.feeds
    ]


def with_archives(specs: Iterable[SubscriptionSpec]) -> list[SubscriptionSpec]:
    """The same specs with archives, set from the start since a worker may take a feed at once."""
    return [replace(spec, fields={**spec.fields, "backfill": True}) for spec in specs]


def with_overrides(specs: Iterable[SubscriptionSpec], pairs: Iterable[str]) -> list[SubscriptionSpec]:
    """The same specs with overrides, given as `NAME=VALUE`."""
    overrides = overrides_from(pairs)
    return [replace(spec, fields={**spec.fields, **overrides}) for spec in specs]


def override(registry: Registry, frontier: Frontier, feed: Feed, pairs: Iterable[str]) -> Subscription:
    """Give a feed overrides, written as `NAME=VALUE`, and poll it at once, so that they apply from now on."""
    overrides = overrides_from(pairs)
    if "priority" in overrides:
        overrides["priority"] = overrides["priority"] or DEFAULT_PRIORITY
    return change(registry, frontier, feed, overrides)


def change(registry: Registry, frontier: Frontier, feed: Feed, changes: Mapping[str, Any]) -> Subscription:
    """Change fields of a feed's Subscription, and poll the feed at once, so that they apply from now on.

    After other rules for its entries, its document is read again even if it is the same. A paused feed is not polled,
    and counts for nothing in the fleet's demand.
    """
    before, decided, polls = feed.subscription, replace(feed.subscription, **changes), feed.polls
    registry.save(decided)
    if (decided.keep_rules, decided.drop_rules) != (before.keep_rules, before.drop_rules):
        polls = replace(polls, etag=None, last_modified=None, body_hash=None, digest=None)
    if decided.paused and polls.demand:  # a paused feed uses nothing of the fleet's budget
        registry.add_demand(feed.id, -polls.demand)
        polls = replace(polls, demand=0.0)
    if polls != feed.polls:
        registry.save_polls(feed.id, polls)
    if before.paused and not decided.paused:
        frontier.enqueue([poll_task(decided)], again="operator")
    elif not decided.paused:
        poll_now(frontier, [replace(feed, subscription=decided)])
    return decided


def log_in(registry: Registry, frontier: Frontier, feed: Feed, login: Iterable[Header]) -> Subscription:
    """Store the request headers of a private feed in place of those it has, and poll it at once; none removes them."""
    access = access_for(feed.subscription.url, login)
    registry.save_access(feed.id, access)
    return change(registry, frontier, feed, {"private": access.names if access else ()})


def subscribe(registry: Registry, frontier: Frontier, spec: SubscriptionSpec, now: datetime) -> tuple[str, bool]:
    """Subscribe to a feed, once for all spellings of its URL; the feed's id, and whether it is new.

    Raises InvalidUrl for a bad URL, Refusal (`too_many_feeds`) if `FEEDCRAWL_MAX_FEEDS` feeds are subscribed.

    A new feed is due at once. An existing feed gets the categories that it lacks.
    """
    subscription, new = _register(registry, frontier, spec, now)
    frontier.enqueue([poll_task(subscription)])
    return subscription.id, new


def subscribe_all(
    registry: Registry, frontier: Frontier, specs: Iterable[SubscriptionSpec], now: datetime
) -> tuple[list[str], list[Refused]]:
    """Subscribe to each feed; returns the ids in order, and the refused feeds: a bad URL stops no other.

    After a kill between registering and enqueueing, the same call enqueues the missing poll tasks.
    """
    found: dict[str, Subscription] = {}
    refused = []
    for spec in specs:
        try:
            subscription, _ = _register(registry, frontier, spec, now)
        except Refusal as error:
            refused.append(Refused(spec.url, error.code, error.detail))
        else:
            found[subscription.id] = subscription
    frontier.enqueue(map(poll_task, found.values()))
    return list(found), refused


def _register(
    registry: Registry, frontier: Frontier, spec: SubscriptionSpec, now: datetime
) -> tuple[Subscription, bool]:
    """The new or existing subscription of a spec, and whether it is new.

    A given scheme replaces that of a subscription to the same address that has never worked.
    """
    url = resolve(with_scheme(spec.url))
    guessed = spec.guessed or not has_scheme(spec.url)
    categories = tuple(dict.fromkeys(spec.categories))
    access = access_for(url, spec.login)
    private = {"private": access.names} if access is not None else {}
    decided = {**spec.fields, **({"unfolds": True} if spec.named else {}), **private}
    fields = {"added_at": rfc3339(now), "request_id": spec.request_id, "scheme_guessed": guessed, **decided}
    new = Subscription(registry.new_id(url), url, categories, spec.title, **fields)
    feed_id = registry.add(new, url_key(url))
    subscription = new if feed_id == new.id else _joined(registry, frontier, feed_id, spec, new)
    if access is not None:
        registry.save_access(feed_id, access_for(subscription.url, spec.login))
    return subscription, feed_id == new.id


def _joined(
    registry: Registry, frontier: Frontier, feed_id: str, spec: SubscriptionSpec, new: Subscription
) -> Subscription:
    """The existing subscription with the categories and settings of a spec, stored; `new` is the spec as a new one."""
    feed = registry.load([feed_id])[feed_id]
    before = feed.subscription
    found = before if new.scheme_guessed else with_scheme_of(feed, new.url, named=spec.named)
    lacking = tuple(category for category in new.categories if category not in found.categories)
    kept = {"unfolds": found.unfolds or new.unfolds, "private": new.private or found.private}
    subscription = replace(found, categories=found.categories + lacking, **{**spec.fields, **kept})
    if subscription != before:
        registry.save(subscription)
    if subscription.url != before.url:
        frontier.remove(f"feed:{feed_id}")  # its task goes to the former URL
    return subscription


def with_scheme_of(feed: Feed, url: str, *, named: bool) -> Subscription:
    """The subscription at `url`, which differs in the scheme alone, if the feed has never worked at its own URL.

    A feed that was never polled moves only for a URL that an operator names.
    """
    subscription, polls = feed.subscription, feed.polls
    broken = polls.last_success_at is None and (named or not polls.is_good)
    other = subscription.url.partition("://")[0] != url.partition("://")[0]
    moves = broken and other and subscription.page is None
    return replace(subscription, url=url, scheme_guessed=False) if moves else subscription


def unsubscribe(registry: Registry, frontier: Frontier, feed_id: str) -> bool:
    """Remove a feed and its task; its entries and articles stay. False if there is no such feed."""
    feed = registry.load([feed_id]).get(feed_id)
    if feed is None:
        return False
    return forget(registry, frontier, feed)


def forget(registry: Registry, frontier: Frontier, feed: Feed) -> bool:
    """Remove a feed with its tasks (poll, archives, hub) and all URLs that lead to it, and unsubscribe at its hub."""
    subscription = feed.subscription
    left = unsubscribe_task(registry.hub_of(feed.id))
    if left is not None:
        frontier.enqueue([left], again="push")
    registry.add_demand(feed.id, -feed.polls.demand)
    for task_id in (f"feed:{feed.id}", f"archive:{feed.id}", f"websub:{feed.id}"):
        frontier.remove(task_id)
    return registry.remove(
        feed.id, *map(url_key, filter(None, (subscription.url, subscription.page, *subscription.formerly)))
    )


def poll_now(frontier: Frontier, feeds: Sequence[Feed]) -> None:
    """Make feeds due at once, whatever their schedule. Feeds that were never polled are due already, and are
    polled once.
    """
    polled = [poll_task(feed.subscription) for feed in feeds if feed.polls.last_fetch_at is not None]
    frontier.enqueue(polled, again="operator")


def refetch(frontier: Frontier, feed: Feed) -> None:
    """Make a feed due at once for an operator; Refusal (`paused`) for a feed that no worker would poll."""
    if feed.subscription.paused:
        raise Refusal("paused", f"{feed.subscription.url} is paused: it is polled once it is resumed")
    poll_now(frontier, [feed])


def request_archives(registry: Registry, feeds: Sequence[Feed]) -> list[Feed]:
    """Request the archives of feeds; the feeds whose next poll starts the walk."""
    waiting = [feed for feed in feeds if feed.polls.archives is None]
    for feed in waiting:
        if not feed.subscription.backfill:
            registry.save(replace(feed.subscription, backfill=True))
    return waiting


def poll_task(subscription: Subscription) -> Task:
    """The one task that polls a feed."""
    return Task(
        id=f"feed:{subscription.id}",
        kind="feed",
        url=subscription.url,
        host=hostname(subscription.url),
        priority=priority(subscription.priority, origin="feed", depth=0),
        source=subscription.source,
        category=subscription.categories[0] if subscription.categories else None,
    )
