"""What a cadence decision is made from and what it answers with. `cadence` offers these names to callers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from feedcrawl.domain.models import PublisherHints

if TYPE_CHECKING:
    from datetime import datetime

    from feedcrawl.domain.cadence.arrivals import Arrivals

DAY_SEC = 86_400.0
MIN_UPDATE_PERIOD_SEC = 600.0


@dataclass(frozen=True, slots=True)
class CadencePolicy:
    """How to poll: `name` is "baseline" or "learned"; the rest are the figures of both.

    `tempo` makes every wait that is of our own choosing that many times longer, the two limits included: they bound
    waits at tempo 1. `fairness` (0 … 1, for "learned") spends polls so that entries are found soonest (0) or so that
    feeds are served alike (1).
    """

    name: str = "learned"
    min_interval_sec: float = 300.0
    max_interval_sec: float = DAY_SEC
    initial_interval_sec: float = 900.0
    up_factor: float = 1.25
    down_factor: float = 0.75
    ewma_alpha: float = 0.3
    blend_lambda: float = 0.5
    jitter_ratio: float = 0.15
    backoff_base: float = 2.0
    backoff_cap_sec: float = 3_600.0
    tempo: float = 1.0
    fairness: float = 0.35


@dataclass(frozen=True, slots=True)
class Observation:
    """What one poll showed.

    `status` is None when there was no usable answer (time-out, not a feed, too large). `published` holds the dates of
    the entries in the document, newest first; `first_seen` when those new in this poll arrived. `max_age_sec` is the
    freshness that is left (Cache-Control or Expires, less Age).
    """

    status: int | None
    new_entries: int
    known_entries: int
    published: tuple[datetime, ...] = ()
    first_seen: tuple[datetime, ...] = ()
    retry_after_sec: float | None = None
    max_age_sec: float | None = None
    hints: PublisherHints = field(default_factory=PublisherHints)

    @property
    def succeeded(self) -> bool:
        """Whether the publisher answered with its document, or said that it has not changed."""
        return self.status is not None and (200 <= self.status < 300 or self.status == 304)


@dataclass(frozen=True, slots=True)
class PollState:
    """What is remembered of a feed between polls; a new feed starts as `PollState()`. It outlives errors and 304s.

    `interval_sec` is the interval before floors, jitter, tempo and back-off; `ewma_sec` the averaged gap between
    entries; `last_arrival` the newest entry's time (Unix seconds); `errors` how many polls in a row have failed;
    `hints` and `max_age_sec` what the publisher last said.
    """

    interval_sec: float | None = None
    ewma_sec: float | None = None
    last_arrival: float | None = None
    errors: int = 0
    hints: PublisherHints = field(default_factory=PublisherHints)
    max_age_sec: float | None = None
    arrivals: Arrivals | None = None


class Candidate(NamedTuple):
    """One rule that spoke, and the wait in seconds that it asked for."""

    rule: str
    wait_sec: float


class Proposal(NamedTuple):
    """A policy's own wish, before the publisher's floors, jitter and skip windows.

    Jitter may move the wait by `spread_sec` either way (only to longer waits if `late_only`), and never out of
    [`earliest_sec`, `latest_sec`].
    """

    state: PollState
    reason: str
    wait_sec: float
    candidates: tuple[Candidate, ...]
    earliest_sec: float
    latest_sec: float
    spread_sec: float
    late_only: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """When to come again, and why.

    `state` is the next PollState. `reason` is the event that set the wait (`new-entries`, `no-new-entries`,
    `not-modified`, `error-backoff`, `retry-after`), followed by `+` and the rule that lengthened it, if one did (`ttl`,
    `update-period`, `max-age`, `skip-window`). `candidates` are all rules that spoke, in order, each with its wait.
    """

    state: PollState
    interval_sec: float
    next_at: datetime
    reason: str
    candidates: tuple[Candidate, ...]
