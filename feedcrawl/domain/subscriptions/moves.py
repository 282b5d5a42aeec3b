"""The decision whether a feed has moved: a permanent redirect must hold for several polls and for a day.

RFC 9110 sections 15.4.2 and 15.4.9 allow a client to follow 301 and 308 for good at once, but captive portals and
expired domains send them too. A redirect from http to https of the same address is safe and takes effect at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, TypedDict

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.urls import canonicalize

MIN_POLLS: Final = 3
MIN_TIME: Final = timedelta(days=1)


class MoveRecord(TypedDict):
    """A move as JSON values; `since` in ISO 8601."""

    url: str
    since: str
    polls: int


@dataclass(frozen=True, slots=True)
class Move:
    """The target of a feed's permanent redirect, the time of the first such poll, and their number in a row."""

    url: str
    since: datetime
    polls: int = 1

    def to_record(self) -> MoveRecord:
        """The move as JSON values."""
        return {"url": self.url, "since": self.since.isoformat(), "polls": self.polls}


def move_from(record: MoveRecord | None) -> Move | None:
    """The move from a record that `to_record` wrote; None for None."""
    return Move(record["url"], datetime.fromisoformat(record["since"]), record["polls"]) if record else None


def after_poll(before: Move | None, target: str | None, *, now: datetime) -> Move | None:
    """The move after a good poll that was permanently redirected to `target`; None if there was no such redirect."""
    if target is None or before is None or before.url != target:
        return Move(target, now) if target is not None else None
    return replace(before, polls=before.polls + 1)


def is_strange(before: Move | None, target: str | None, *, url: str, shared: int, entries: int) -> bool:
    """True if a permanent redirect leads a feed that was read before, at `url`, to a document of other entries.

    `shared`: number of the document's entries that the feed had before. Not strange: http and https of one address, and
    a target behind which the feed's entries were found before.
    """
    if target is None or not entries or shared or _bare(target) == _bare(url):
        return False
    return before is None or before.url != target


def is_settled(move: Move, url: str, *, now: datetime) -> bool:
    """True if the feed at `url` is polled at the move's target from now on."""
    if url.startswith("http:") and _bare(move.url) == _bare(url):
        return move.url.startswith("https:")
    return move.polls >= MIN_POLLS and now - move.since >= MIN_TIME


def _bare(url: str) -> str:
    try:
        return canonicalize(url, keep_trailing_slash=True).partition("://")[2]
    except InvalidUrl:
        return url
