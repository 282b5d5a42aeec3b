"""Lists subscribed feeds or watched sitemaps: a page at a time, or all feeds as a list for other programs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.subscriptions.list_writing import FORMS
from feedcrawl.domain.subscriptions.listed import ListedFeed, overrides_of
from feedcrawl.domain.subscriptions.records import DEFAULT_PRIORITY
from feedcrawl.domain.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from feedcrawl.domain.subscriptions.records import Feed
    from feedcrawl.store.subscriptions.registry import Registry

Place = tuple[float, str]
"""The end of a page: the shard, and within it `<cursor>:<id of the last feed>`."""
_LOOKED_AT: Final = 2_000
"""The most items that one page reads if few match: the page then ends early."""


@dataclass(frozen=True, slots=True)
class FeedFilter:
    """A filter for feeds: every given condition must hold. `failing`: True for feeds whose last poll failed,
    False for the others.
    """

    category: str | None = None
    source: str | None = None
    host: str | None = None
    failing: bool | None = None

    def matches(self, feed: Feed) -> bool:
        """True if a feed matches the filter."""
        subscription = feed.subscription
        return (
            (self.category is None or self.category in subscription.categories)
            and (self.source is None or subscription.source == self.source)
            and (self.host is None or host_of(subscription.url) == self.host.lower())
            and (self.failing is None or self.failing is not feed.polls.is_good)
        )


def one(registry: Registry, feed_id: str) -> Feed:
    """The feed with this id; raises Refusal (`not_subscribed`) if there is none."""
    found = registry.load([feed_id]).get(feed_id)
    if found is None:
        raise Refusal("not_subscribed", "there is no feed with this id: it may have been unsubscribed")
    return found


class Item(Protocol):
    """A feed or a sitemap."""

    @property
    def id(self) -> str:
        """Its UUID."""


T = TypeVar("T", bound=Item)
C_contra = TypeVar("C_contra", bound=Item, contravariant=True)


class Filter(Protocol[C_contra]):
    """A filter for items."""

    def matches(self, item: C_contra, /) -> bool:
        """True if an item matches the filter."""


class Listed(Protocol[T]):
    """A store whose items are listed."""

    @property
    def shards(self) -> int:
        """The number of shards."""

    def batch(self, shard: int, cursor: int, size: int) -> tuple[int, list[str]]:
        """About `size` ids of a shard, in no order, and the next cursor (0 at the end)."""

    def load(self, ids: Sequence[str], /) -> dict[str, T]:
        """The items with these ids; unknown ids are left out."""


def page(store: Listed[T], conditions: Filter[T], after: Place | None, limit: int) -> tuple[list[T], Place | None]:
    """At most the given number of matching items, in no order, and the place of the next page (None: there are no
    more).

    Items that exist the whole time are returned at least once. Raises Refusal (`bad_cursor`) for an invalid place.
    """
    shard, cursor, last = _read(after, store.shards)
    found: list[T] = []
    looked_at = 0
    while looked_at < _LOOKED_AT:
        following, ids = store.batch(shard, cursor, limit)
        ids = [each for each in sorted(ids) if each > last]
        looked_at += len(ids)
        for item in _in_order(store, ids):
            if len(found) == limit:
                return found, (float(shard), f"{cursor}:{last}")
            last = item.id
            if conditions.matches(item):
                found.append(item)
        shard, cursor, last = (shard, following, "") if following else (shard + 1, 0, "")
        if shard == store.shards:
            return found, None
    return found, (float(shard), f"{cursor}:{last}")


def _in_order(store: Listed[T], ids: Sequence[str]) -> list[T]:
    loaded = store.load(ids) if ids else {}
    return [loaded[each] for each in ids if each in loaded]


def _read(place: Place | None, shards: int) -> tuple[int, int, str]:
    if place is None:
        return 0, 0, ""
    cursor, _, last = place[1].partition(":")
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 20 and 0 <= place[0] < shards):
        raise Refusal("bad_cursor", "cursor must be the `next` of a page, unchanged")
    return int(place[0]), int(cursor), last


def listed(feed: Feed) -> ListedFeed:
    """A feed in the form of a list entry."""
    subscription, polls = feed.subscription, feed.polls
    decided = overrides_of(
        asdict(subscription)
        | {"priority": subscription.priority if subscription.priority != DEFAULT_PRIORITY else None}
    )
    url = subscription.page if subscription.page and feed.is_guess else subscription.url
    return ListedFeed(url, subscription.categories, subscription.title or polls.title, polls.site_url, decided)


def exported(registry: Registry, form: str) -> bytes:
    """All subscriptions as a list, by URL; `form` is one of `list_writing.FORMS`."""
    return FORMS[form](sorted(map(listed, registry.all()), key=lambda feed: feed.url))
