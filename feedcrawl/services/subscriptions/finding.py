"""Finds feeds of the registry by id or URL. Imports little, for commands that only read."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.discovery.feed_schemes import without_feed_scheme
from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.urls import canonicalize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from feedcrawl.domain.subscriptions.records import Feed
    from feedcrawl.store.subscriptions.registry import Registry

_PAGE: Final = 500


def find(registry: Registry, name: str) -> Feed | None:
    """The feed with this id, or with any spelling of this URL; None if there is none."""
    try:
        feed_id = registry.by_url(url_key(with_scheme(name))) or name
    except InvalidUrl:
        feed_id = name
    return registry.load([feed_id]).get(feed_id)


def each(registry: Registry, ids: Sequence[str] | None = None) -> Iterator[Feed]:
    """The feeds with these ids in their order, or all feeds in no order; read in pages, unknown ids left out."""
    if ids is None:
        yield from registry.all()
        return
    for first in range(0, len(ids), _PAGE):
        yield from registry.load(ids[first : first + _PAGE]).values()


def batches(feeds: Iterable[Feed], size: int) -> Iterator[list[Feed]]:
    """The feeds, `size` at a time."""
    rest = iter(feeds)
    while batch := list(islice(rest, size)):
        yield batch


def url_key(url: str) -> str:
    """The key that all spellings of a feed's URL share: the canonical URL without its scheme."""
    return canonicalize(url).partition("://")[2]


def url_keys(urls: Iterable[str]) -> set[str]:
    """The keys of URLs as people type them, without those of unusable URLs."""
    keys = set()
    for url in urls:
        with suppress(InvalidUrl):
            keys.add(url_key(with_scheme(url)))
    return keys


def with_scheme(url: str) -> str:
    """A URL as people type it, with its scheme added: `example.org/feed` and `feed:` forms become http(s) URLs."""
    text = without_feed_scheme(url.strip())
    return text if "://" in text else f"https://{text.removeprefix('//')}"


def has_scheme(url: str) -> bool:
    """True if a URL as people type it says http or https; otherwise https is tried first, then http."""
    return "://" in without_feed_scheme(url.strip())
