"""The decisions when to search for a failing feed at another address, and whether a document is that feed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal

from feedcrawl.domain.subscriptions.moves import MIN_POLLS

if TYPE_CHECKING:
    from feedcrawl.domain.frontier.payloads import SearchRecord

Where = Literal["site", "https", "http"]

LOST: Final = frozenset({"html", "soft_404", "http_404", "http_410"})
"""Results of a poll where the feed has moved or was removed."""
REFUSED: Final = frozenset({"refused", "connect_timeout", "http_426"})
"""Results of a poll by http at a server that may serve https only."""
NO_TLS: Final = frozenset({"refused", "connect_timeout", "unreachable", "tls", "connection_lost", "protocol"})
"""Results of a poll by https at a server that may serve http only."""
AGAIN: Final = timedelta(days=1)
MIN_SHARED: Final = 3

_HTTP = re.compile(r"http://[^/?#:]+(?=[/?#]|\Z)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Search:
    """The progress of a search, kept in the feed's task.

    `places`: addresses still to be tried. `at_page`: True if the task is at the page that may name addresses. `because`
    and `status`: result and HTTP status of the poll of the feed's own address.
    """

    because: str
    status: int | None = None
    at_page: bool = False
    places: tuple[str, ...] = ()

    def to_record(self) -> SearchRecord:
        """The search as JSON values."""
        return {"because": self.because, "status": self.status, "at_page": self.at_page, "places": list(self.places)}


def search_from(record: SearchRecord) -> Search:
    """The search from a record that `to_record` wrote."""
    return Search(record["because"], record["status"], record["at_page"], tuple(record["places"]))


@dataclass(frozen=True, slots=True)
class Failing:
    """A feed whose poll has just failed: the result, the number of consecutive failures, the URL.

    `known`: True if an earlier poll succeeded. `guessed`: True if the scheme of its URL was not given by its operator.
    `searched_at`: time of the last search.
    """

    result: str
    errors: int
    url: str
    known: bool
    searched_at: datetime | None = None
    guessed: bool = False


def where_to_look(feed: Failing, now: datetime) -> Where | None:
    """Where to search for a failing feed, at most once a day: on its site, under https, or, if https was only guessed,
    under http; None for no search.
    """
    if feed.searched_at is not None and now - feed.searched_at < AGAIN:
        return None
    if feed.result in LOST and feed.known and feed.errors >= MIN_POLLS:
        return "site"
    if feed.guessed and not feed.known and feed.result in NO_TLS and feed.url.startswith("https:"):
        return "http"
    return "https" if feed.result in REFUSED and feed.errors >= MIN_POLLS - 1 and _HTTP.match(feed.url) else None


def under_scheme(url: str, scheme: str) -> str:
    """The same address under another scheme."""
    return f"{scheme}:{url.partition(':')[2]}"


def is_found(shared: int, entries: int, *, known: bool) -> bool:
    """True if a document is the feed searched for: it shares enough entries, or the feed was never read."""
    return not known or shared >= max(1, min(MIN_SHARED, entries))
