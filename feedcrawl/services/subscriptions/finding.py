"""Finds feeds of the registry by id or URL. Imports little, for commands that only read."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.urls import canonicalize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from feedcrawl.domain.subscriptions.records import Feed
    from feedcrawl.store.subscriptions.registry import Registry


def find(registry: Registry, name: str) -> Feed | None:
    """The feed with this id, or with any spelling of this URL; None if there is none."""
    try:
        feed_id = registry.by_url(url_key(with_scheme(name))) or name
    except InvalidUrl:
        feed_id = name
    return registry.load([feed_id]).get(feed_id)


def batches(registry: Registry, ids: Sequence[str], size: int) -> Iterator[list[Feed]]:
    """The feeds with these ids, or all feeds if no id is given, `size` at a time."""
    if ids:
        for first in range(0, len(ids), size):
            yield list(registry.load(ids[first : first + size]).values())
        return
    feeds = registry.all()
    while batch := list(islice(feeds, size)):
        yield batch


def url_key(url: str) -> str:
    """The key that all spellings of a feed's URL share: the canonical URL without its scheme."""
    return canonicalize(url).partition("://")[2]


def with_scheme(url: str) -> str:
    """A URL as people type it, with its scheme added: `example.org/feed` and `feed:` forms become http(s) URLs."""
    text = url.strip()
    for prefix in ("feed://", "feed:"):
        if text.lower().startswith(prefix):
            text = text[len(prefix) :]
            break
    return text if "://" in text else f"https://{text}"
