"""When a feed that used to answer is looked for elsewhere, and how it is known again there: by its entries."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Literal

from feedcrawl.domain.subscriptions.moves import MIN_POLLS

if TYPE_CHECKING:
    from collections.abc import Mapping

Where = Literal["site", "https"]

LOST: Final = frozenset({"html", "soft_404", "http_404", "http_410"})
"""What answers where a feed was that has gone elsewhere, or for good."""
REFUSED: Final = frozenset({"refused", "connect_timeout", "http_426"})
"""What a server may answer to http when it has https only."""
AGAIN: Final = timedelta(days=1)
MIN_SHARED: Final = 3

_HTTP = re.compile(r"http://[^/?#:]+(?=[/?#]|\Z)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Search:
    """How far a search has come, as the feed's task carries it.

    `places` are addresses still to be tried; `at_page`: the task is at the page that may name some. `because` and
    `status` are what the feed's own address answered.
    """

    because: str
    status: int | None = None
    at_page: bool = False
    places: tuple[str, ...] = ()

    def to_record(self) -> dict[str, Any]:
        """As JSON values."""
        return {"because": self.because, "status": self.status, "at_page": self.at_page, "places": list(self.places)}


def search_from(record: Mapping[str, Any]) -> Search:
    """The search that `to_record` wrote."""
    return Search(record["because"], record["status"], record["at_page"], tuple(record["places"]))


@dataclass(frozen=True, slots=True)
class Failing:
    """A feed whose poll has just failed: with what result, for the how manieth time in a row, at which address.

    `known`: it has answered before. `searched_at`: when it was last looked for.
    """

    result: str
    errors: int
    url: str
    known: bool
    searched_at: datetime | None = None


def where_to_look(feed: Failing, now: datetime) -> Where | None:
    """Whether a failing feed is looked for, at most once a day: by way of its site, or under https."""
    if feed.searched_at is not None and now - feed.searched_at < AGAIN:
        return None
    if feed.result in LOST and feed.known and feed.errors >= MIN_POLLS:
        return "site"
    return "https" if feed.result in REFUSED and feed.errors >= MIN_POLLS - 1 and _HTTP.match(feed.url) else None


def with_https(url: str) -> str:
    """The same address under https."""
    return f"https{url[4:]}"


def is_found(shared: int, entries: int, *, known: bool) -> bool:
    """Whether a document is the feed that is looked for: by the entries that it shares; any will do for a new feed."""
    return not known or shared >= max(1, min(MIN_SHARED, entries))
