"""The work of `scrapy why --diff FEED`: the differences between two versions of a feed in the archive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from feedcrawl.domain.entries.rewrites import rewrites
from feedcrawl.services.archive.versions import last_versions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from feedcrawl.domain.subscriptions.records import Feed
    from feedcrawl.wiring.stores import Stores

SHOWN: Final = 200
"""Characters of a text that a difference shows."""


def differences(wired: Stores, feed: Feed) -> Iterator[str]:
    """The differences between the two newest versions of a feed in the archive, entry by entry."""
    found = last_versions(wired.config.data_dir, feed, limit=wired.config.max_feed_bytes)
    if len(found) < 2:
        yield "The archive on this machine holds no two versions of this feed (FEEDCRAWL_RAW)."
        return
    newer, older = found
    yield f"{feed.subscription.url}: {newer.at:%Y-%m-%d %H:%M:%S}Z against {older.at:%Y-%m-%d %H:%M:%S}Z"
    differ = False
    for each in rewrites(older.parsed, newer.parsed):
        differ = True
        yield f"{each.kind}{' (silently)' if each.is_silent else ''}: {each.name}"
        for name, before, after in each.fields:
            yield f"  {name}"
            yield f"    - {before[:SHOWN]}"
            yield f"    + {after[:SHOWN]}"
    if not differ:
        yield "Nothing that a reader sees differs."
