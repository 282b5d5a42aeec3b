"""Orders of a list of feeds, for the dashboard and the command."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from feedcrawl.domain.subscriptions.records import Feed

Column = Literal["feed", "category", "result", "polled", "next", "interval", "failures"]
COLUMNS: Final[dict[Column, str]] = {
    "feed": "Feed",
    "category": "Category",
    "result": "Last result",
    "polled": "Polled",
    "next": "Next poll",
    "interval": "Interval",
    "failures": "Failed in a row",
}
"""The columns by which a list of feeds can be sorted, with their titles."""
SHOWN: Final = ("title", "url", "category", "result", "fetched", "next", "interval", "errors", "id")
"""The columns that a table of feeds on a terminal may have."""


def _address(feed: Feed) -> str:
    return feed.subscription.url.partition("://")[2]


_KEYS: Final[dict[Column, Callable[[Feed], str | float | None]]] = {
    "feed": _address,
    "category": lambda feed: next(iter(feed.subscription.categories), None),
    "result": lambda feed: feed.polls.last_result,
    "polled": lambda feed: feed.polls.last_fetch_at,
    "next": lambda feed: feed.polls.next_at,
    "interval": lambda feed: feed.polls.interval_sec,
    "failures": lambda feed: feed.polls.cadence_state.errors,
}


def ordered(feeds: Iterable[Feed], column: Column, *, down: bool = False) -> list[Feed]:
    """The feeds by a column, equal ones by URL; feeds without a value come last in both directions."""
    by_url = sorted(feeds, key=_address)
    values = list(map(_KEYS[column], by_url))
    valued = [(value, feed) for value, feed in zip(values, by_url, strict=True) if value is not None]
    valued.sort(key=itemgetter(0), reverse=down)
    return [feed for _, feed in valued] + [feed for value, feed in zip(values, by_url, strict=True) if value is None]
