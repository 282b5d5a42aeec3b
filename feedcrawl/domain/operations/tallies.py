"""What polls and articles came to, in counts by quarter hours: short series for people to look at.

Counters of a process begin anew with it, and metrics need a server that collects them. These live in the store for
`LIFE_SEC`, for all workers together; what a poll adds is a few increments, whatever it brought.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SLOT_SEC: Final = 900
DAY_SEC: Final = 86_400
PART_SEC: Final = 6 * 3_600
"""Feeds by what they bring and hosts by their failures are counted by quarter days."""
LIFE_SEC: Final = 8 * DAY_SEC
GOOD_POLLS: Final = ("fetched", "unchanged", "not_modified")
"""What a poll that did not fail comes to; any other result is the reason code of its failure."""
GOOD_ARTICLES: Final = ("stored", "merged")


@dataclass(frozen=True, slots=True)
class Tally:
    """What one poll or article adds.

    `counts` by name: `poll:<result>`, `article:<result>`, and of polls `new` entries, `saved` bytes that a conditional
    GET spared, `late` seconds after they were due, `stale` for one later than twice the interval that was chosen.
    `feed_id` is the feed that brought the new entries, `failed_host` the host of a failure.
    """

    counts: Mapping[str, int]
    feed_id: str | None = None
    failed_host: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time up to now, in bars of `bar_sec` each, a multiple of `SLOT_SEC`."""

    length_sec: int
    bar_sec: int

    def bounds(self, now: float) -> tuple[int, int]:
        """The Unix times at which the first bar begins and the last one ends; the last one holds `now`."""
        until = (int(now) // self.bar_sec + 1) * self.bar_sec
        return until - self.length_sec, until


SPANS: Final[Mapping[str, Span]] = {
    "6h": Span(6 * 3_600, SLOT_SEC),
    "24h": Span(DAY_SEC, 2 * SLOT_SEC),
    "7d": Span(7 * DAY_SEC, 12 * SLOT_SEC),
}


@dataclass(frozen=True, slots=True)
class Bar:
    """What was counted from the Unix time `at` on, until the next bar begins."""

    at: int
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def polls(self) -> int:
        """How many polls there were."""
        return sum(number for _, number in self.of("poll"))

    @property
    def failed(self) -> int:
        """How many of them failed."""
        return sum(number for result, number in self.of("poll") if result not in GOOD_POLLS)

    @property
    def mean_late_sec(self) -> float | None:
        """How long after they were due polls began, in the mean; None if there were none."""
        return self.counts["late"] / self.polls if self.polls else None

    def of(self, kind: str) -> Iterator[tuple[str, int]]:
        """Results of `poll` or `article`, and how many had each."""
        return ((name.partition(":")[2], number) for name, number in self.counts.items() if name.startswith(f"{kind}:"))


def bars(slots: Mapping[int, Mapping[str, int]], span: Span, now: float) -> tuple[Bar, ...]:
    """The bars of a span from counts by slot (Unix time // `SLOT_SEC`); those in which nothing happened too."""
    since, until = span.bounds(now)
    found = {at: Bar(at) for at in range(since, until, span.bar_sec)}
    for slot, counts in slots.items():
        at = slot * SLOT_SEC // span.bar_sec * span.bar_sec
        if at in found:
            found[at].counts.update(counts)
    return tuple(found.values())


def total(each: Iterable[Bar]) -> Bar:
    """All bars as one, at the time of none."""
    counts: Counter[str] = Counter()
    for bar in each:
        counts.update(bar.counts)
    return Bar(0, counts)


def errors(bar: Bar) -> list[tuple[str, int, int]]:
    """Each reason code of a failure with the polls and the articles that ended so, the most frequent first."""
    polls = {code: number for code, number in bar.of("poll") if code not in GOOD_POLLS}
    articles = {code: number for code, number in bar.of("article") if code not in GOOD_ARTICLES}
    found = [(code, polls.get(code, 0), articles.get(code, 0)) for code in {**polls, **articles}]
    return sorted(found, key=lambda row: (-row[1] - row[2], row[0]))
