"""Inputs and results of a cadence decision. The package `cadence` exports these names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from feedcrawl.domain.cadence.week import DAY, HOUR, Week
from feedcrawl.domain.publisher_hints import PublisherHints

if TYPE_CHECKING:
    from datetime import datetime

DAY_SEC = DAY
MIN_UPDATE_PERIOD_SEC = 600.0
"""Shorter periods are mistakes of their publishers."""
SCALES_SEC = (60 * DAY, 10 * DAY, 1.5 * DAY, 3 * HOUR)
"""Times after which arrivals count 1/e, the longest first."""
SMALLEST_WINDOW = 10
"""Least number of entries that a document is expected to have room for."""
NOTHING = (0.0,) * len(SCALES_SEC)


@dataclass(frozen=True, slots=True)
class CadencePolicy:
    """Parameters of the policies; `name` is "baseline" or "learned".

    `tempo` multiplies every wait that the policy chooses, including the two limits, which are given for tempo 1.
    `fairness` (0 … 1, for "learned") weighs finding entries soonest (0) against serving all feeds alike (1).
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
    """Observation of one poll.

    `status` is None without a usable response (time-out, not a feed, too large). `published` has the dates of the
    document's entries, newest first; `first_seen` has the arrival times of the entries that are new in this poll.
    `max_age_sec` is the remaining freshness (Cache-Control or Expires, less Age).
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
        """True if the publisher sent the document, or a 304."""
        return self.status is not None and (200 <= self.status < 300 or self.status == 304)


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Estimate of a feed's arrivals up to `at` (Unix seconds).

    `counts` and `exposure` (seconds, weighted by the profile of the week) fade on each of SCALES_SEC, `entries` on the
    longest. `newest` is the time of the newest entry, `recent` the times of the last arrivals, `period` the period of a
    regular publisher in seconds (0: none), `window` the number of entries that the document shows.
    """

    at: float
    counts: tuple[float, ...] = NOTHING
    exposure: tuple[float, ...] = NOTHING
    entries: float = 0.0
    newest: float = 0.0
    recent: tuple[float, ...] = ()
    period: int = 0
    window: int = SMALLEST_WINDOW
    week: Week = field(default_factory=lambda: Week(0.0))


@dataclass(frozen=True, slots=True)
class PollState:
    """State of a feed between polls; `PollState()` starts a new feed. Errors and 304s keep it.

    `interval_sec` is the interval before floors, jitter, tempo and back-off; `ewma_sec` the averaged gap between
    entries; `last_arrival` the time of the newest entry (Unix seconds); `errors` the number of consecutive failed
    polls; `hints` and `max_age_sec` the publisher's last hints.
    """

    interval_sec: float | None = None
    ewma_sec: float | None = None
    last_arrival: float | None = None
    errors: int = 0
    hints: PublisherHints = field(default_factory=PublisherHints)
    max_age_sec: float | None = None
    arrivals: Arrivals | None = None


class Candidate(NamedTuple):
    """A rule of the decision, and the wait in seconds that the rule proposes."""

    rule: str
    wait_sec: float


class Proposal(NamedTuple):
    """A policy's proposal, before the publisher's floors, jitter and skip windows.

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
    """The time of the next poll, and the reasons.

    `state` is the next PollState. `reason` is the event that set the wait (`new-entries`, `no-new-entries`,
    `not-modified`, `error-backoff`, `retry-after`), followed by `+` and the rule that lengthened the wait, if any
    (`ttl`, `update-period`, `max-age`, `skip-window`). `candidates` has every rule with the wait that it proposed, in
    order.
    """

    state: PollState
    interval_sec: float
    next_at: datetime
    reason: str
    candidates: tuple[Candidate, ...]
