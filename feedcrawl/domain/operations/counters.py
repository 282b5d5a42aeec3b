"""Statistics of polls and articles by quarter hours: short series for people to read.

A process's own counters start again with the process, and metrics need a server that collects them. These statistics
are in the store for `LIFE_SEC`, for all workers together; a poll adds a few increments, however many entries it
brought.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.operations.settings import DAY_SEC

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SLOT_SEC: Final = 900
PART_SEC: Final = 6 * 3_600
"""Feeds by new entries and hosts by failures are counted per six hours."""
LIFE_SEC: Final = 8 * DAY_SEC
GOOD_POLLS: Final = ("fetched", "unchanged", "not_modified")
"""Results of a poll that did not fail; any other result is the reason code of the failure."""
GOOD_ARTICLES: Final = ("stored", "merged")


@dataclass(frozen=True, slots=True)
class Increments:
    """The counts that one poll or article adds.

    `counts` by name: `poll:<result>`, `article:<result>`, and for polls `new` entries, `saved` bytes (not sent thanks
    to a conditional GET), `late` seconds after the due time, `stale` for a poll later than twice the chosen interval.
    `feed_id` is the feed that brought the new entries, `failed_host` the host of a failure.
    """

    counts: Mapping[str, int]
    feed_id: str | None = None
    failed_host: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A period up to now, divided into bars of `bar_sec`, a multiple of `SLOT_SEC`."""

    length_sec: int
    bar_sec: int

    def bounds(self, now: float) -> tuple[int, int]:
        """The Unix times of the start of the first bar and of the end of the last; the last bar contains `now`."""
        until = (int(now) // self.bar_sec + 1) * self.bar_sec
        return until - self.length_sec, until


SPANS: Final[Mapping[str, Span]] = {
    "6h": Span(6 * 3_600, SLOT_SEC),
    "24h": Span(DAY_SEC, 2 * SLOT_SEC),
    "7d": Span(7 * DAY_SEC, 12 * SLOT_SEC),
}


@dataclass(frozen=True, slots=True)
class Bar:
    """The counts from the Unix time `at` to the start of the next bar."""

    at: int
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def polls(self) -> int:
        """Number of polls."""
        return sum(number for _, number in self.of("poll"))

    @property
    def failed(self) -> int:
        """Number of failed polls."""
        return sum(number for result, number in self.of("poll") if result not in GOOD_POLLS)

    @property
    def mean_late_sec(self) -> float | None:
        """Mean delay of the polls after their due time; None if there were none."""
        return self.counts["late"] / self.polls if self.polls else None

    def of(self, kind: str) -> Iterator[tuple[str, int]]:
        """The results of `poll` or `article`, each with its count."""
        return ((name.partition(":")[2], number) for name, number in self.counts.items() if name.startswith(f"{kind}:"))


def bars(slots: Mapping[int, Mapping[str, int]], span: Span, now: float) -> tuple[Bar, ...]:
    """All bars of a span, empty ones included, from counts by slot (Unix time // `SLOT_SEC`)."""
    since, until = span.bounds(now)
    found = {at: Bar(at) for at in range(since, until, span.bar_sec)}
    for slot, counts in slots.items():
        at = slot * SLOT_SEC // span.bar_sec * span.bar_sec
        if at in found:
            found[at].counts.update(counts)
    return tuple(found.values())


def total(each: Iterable[Bar]) -> Bar:
    """The sum of all bars, with time 0."""
    counts: Counter[str] = Counter()
    for bar in each:
        counts.update(bar.counts)
    return Bar(0, counts)


def errors(bar: Bar) -> list[tuple[str, int, int]]:
    """Each reason code of a failure, with its number of polls and of articles, the most frequent first."""
    polls = {code: number for code, number in bar.of("poll") if code not in GOOD_POLLS}
    articles = {code: number for code, number in bar.of("article") if code not in GOOD_ARTICLES}
    found = [(code, polls.get(code, 0), articles.get(code, 0)) for code in {**polls, **articles}]
    return sorted(found, key=lambda row: (-row[1] - row[2], row[0]))
