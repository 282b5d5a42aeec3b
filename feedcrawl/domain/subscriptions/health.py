"""The health of a feed: its error budget for a day, and whether its publisher has removed it.

Back-off handles consecutive failures. A feed that fails every other time has no long run of failures: its circuit opens
when half of a day's polls have failed (`outage.over_budget`), and closes with the next good response. A feed is retired
after two 410 responses a day apart (RFC 9110 section 15.5.11: "likely to be permanent"), and is then polled rarely.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypedDict

from feedcrawl.domain.cadence.values import DAY_SEC, Candidate
from feedcrawl.domain.frontier.outage import over_budget

if TYPE_CHECKING:
    from collections.abc import Sequence

PART_SEC: Final = 6 * 3_600
PARTS: Final = 4
FIRST_WAIT_SEC: Final = 3_600.0
GONE: Final = 410
REFUSED: Final = frozenset({401, 403, 451})
"""Statuses with which a server refuses to serve a feed: an early retry is useless and impolite."""
REFUSED_WAIT_SEC: Final = 4 * 3_600.0


class HealthRecord(TypedDict, total=False):
    """The health of a feed as JSON values, without the fields that are 0 or false."""

    day: list[list[int]]
    opened: int
    gone_since: float
    retired: bool


@dataclass(frozen=True, slots=True)
class Health:
    """The recent failures of a feed. `day`: (part, polls, failures) for each of the last parts of a day.

    `opened`: consecutive openings of the feed's circuit. `gone_since` (Unix seconds): the first 410 since the last
    response with another status. `retired`: True if another 410 came a day or more later.
    """

    day: tuple[tuple[int, int, int], ...] = ()
    opened: int = 0
    gone_since: float = 0.0
    retired: bool = False

    def to_record(self) -> HealthRecord | None:
        """The health as JSON values; None if the feed has not failed."""
        if not (self.opened or self.gone_since or any(failures for _, _, failures in self.day)):
            return None
        record: HealthRecord = {"day": [list(part) for part in self.day]}
        if self.opened:
            record["opened"] = self.opened
        if self.gone_since:
            record["gone_since"] = self.gone_since
        if self.retired:
            record["retired"] = self.retired
        return record


_WELL: Final = Health()  # of most feeds, at each of their polls


def health_from(record: HealthRecord | None) -> Health:
    """The health from a record that `to_record` of this or another version wrote."""
    if not record:
        return _WELL
    parts: Sequence[Sequence[int]] = record.get("day", ())
    day = tuple((int(part), int(polls), int(failures)) for part, polls, failures in parts)
    return Health(day, record.get("opened", 0), record.get("gone_since", 0.0), record.get("retired", False))


def after(health: Health, *, failed: bool, status: int | None, now: float) -> Health:
    """The health after a poll at `now` (Unix seconds)."""
    day = counted(health.day, failed=failed, now=now)
    if not failed:
        return Health(() if health.opened else day)
    opened = health.opened + 1 if over_budget(sum(part[2] for part in day), sum(part[1] for part in day)) else 0
    if status is None:  # without a response nothing is known about a removal
        return replace(health, day=day, opened=opened)
    since = 0.0 if status != GONE else health.gone_since or now
    retired = status == GONE and (health.retired or now - since >= DAY_SEC)
    return Health(day, opened, since, retired)


def uncounted(health: Health) -> Health:
    """The health without its last poll, a failure that proved to be our own network's."""
    if not health.day or not health.day[-1][2]:
        return health
    part, polls, failures = health.day[-1]
    return replace(health, day=(*health.day[:-1], (part, polls - 1, failures - 1)))


def counted(day: tuple[tuple[int, int, int], ...], *, failed: bool, now: float) -> tuple[tuple[int, int, int], ...]:
    """The parts of the day with one more poll added and expired parts removed."""
    part = int(now // PART_SEC)
    kept = [each for each in day if part - PARTS < each[0] < part]
    polls, failures = next(((polls, failures) for at, polls, failures in day if at == part), (0, 0))
    return (*kept, (part, polls + 1, failures + failed))


def least_waits(health: Health, *, status: int | None, errors: int, probe_sec: float) -> tuple[Candidate, ...]:
    """The least waits after a failed poll; the longest of them applies.

    An open circuit's wait doubles with each opening; the wait after a refusal (401, 403, 451) doubles with each of the
    consecutive `errors`; a retired feed waits `probe_sec`.
    """
    waits = []
    if status in REFUSED:
        waits.append(Candidate("refused", min(REFUSED_WAIT_SEC * 2.0 ** min(max(errors - 1, 0), 10), DAY_SEC)))
    if health.opened:
        waits.append(Candidate("error-budget", min(FIRST_WAIT_SEC * 2.0 ** min(health.opened - 1, 10), DAY_SEC)))
    if health.retired:
        waits.append(Candidate("gone", probe_sec))
    return tuple(waits)
