"""How a feed fares: its error budget of a day, and whether its publisher has taken it away.

Back-off answers failures in a row. A feed that fails every other time never has many in a row; its circuit opens when
half of a day's polls have failed (`outage.over_budget`), and closes with the next good answer. A feed is retired by
410 twice, a day apart (RFC 9110, 15.5.11: "likely to be permanent"), and is then looked for rarely.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from feedcrawl.domain.cadence.values import DAY_SEC, Candidate
from feedcrawl.domain.frontier.outage import over_budget

if TYPE_CHECKING:
    from collections.abc import Mapping

PART_SEC: Final = 6 * 3_600
PARTS: Final = 4
FIRST_WAIT_SEC: Final = 3_600.0
GONE: Final = 410
REFUSED: Final = frozenset({401, 403, 451})
"""Statuses by which a server says that it will not serve a feed: asking soon again is of no use, and rude."""
REFUSED_WAIT_SEC: Final = 4 * 3_600.0


@dataclass(frozen=True, slots=True)
class Health:
    """`day`: polls and failures of the last parts of a day, as (part, polls, failures).

    `opened`: how often in a row the feed's circuit opened. `gone_since` (Unix seconds): the first 410 of those since
    the last answer of another kind; `retired`: there was another, a day later.
    """

    day: tuple[tuple[int, int, int], ...] = ()
    opened: int = 0
    gone_since: float = 0.0
    retired: bool = False

    def to_record(self) -> dict[str, Any] | None:
        """As JSON values; None for a feed that has not failed."""
        if not (self.opened or self.gone_since or any(failures for _, _, failures in self.day)):
            return None
        said = {"opened": self.opened, "gone_since": self.gone_since, "retired": self.retired}
        return {"day": [list(part) for part in self.day]} | {name: value for name, value in said.items() if value}


def health_from(record: Mapping[str, Any] | None) -> Health:
    """The health that `to_record` wrote, of this or another version."""
    found = record or {}
    day = tuple((int(part), int(polls), int(failures)) for part, polls, failures in found.get("day", ()))
    return Health(day, found.get("opened", 0), found.get("gone_since", 0.0), found.get("retired", False))


def after(health: Health, *, failed: bool, status: int | None, now: float) -> Health:
    """The health after a poll at `now` (Unix seconds)."""
    day = counted(health.day, failed=failed, now=now)
    if not failed:
        return Health(() if health.opened else day)
    opened = health.opened + 1 if over_budget(sum(part[2] for part in day), sum(part[1] for part in day)) else 0
    if status is None:  # no answer says nothing of what the publisher has done
        return replace(health, day=day, opened=opened)
    since = 0.0 if status != GONE else health.gone_since or now
    retired = status == GONE and (health.retired or now - since >= DAY_SEC)
    return Health(day, opened, since, retired)


def counted(day: tuple[tuple[int, int, int], ...], *, failed: bool, now: float) -> tuple[tuple[int, int, int], ...]:
    """The parts of the day with one more poll, those that have passed left out."""
    part = int(now // PART_SEC)
    kept = [each for each in day if part - PARTS < each[0] < part]
    polls, failures = next(((polls, failures) for at, polls, failures in day if at == part), (0, 0))
    return (*kept, (part, polls + 1, failures + failed))


def asks(health: Health, *, failed: bool, status: int | None, errors: int, probe_sec: float) -> tuple[Candidate, ...]:
    """The waits that a failed feed shall have at least: an open circuit's, doubled each time, a retired feed's, and
    that of a feed whose server says that we may not have it, doubled with each of the `errors` in a row.
    """
    if not failed:
        return ()
    waits = []
    if status in REFUSED:
        waits.append(Candidate("refused", min(REFUSED_WAIT_SEC * 2.0 ** min(max(errors - 1, 0), 10), DAY_SEC)))
    if health.opened:
        waits.append(Candidate("error-budget", min(FIRST_WAIT_SEC * 2.0 ** min(health.opened - 1, 10), DAY_SEC)))
    if health.retired:
        waits.append(Candidate("gone", probe_sec))
    return tuple(waits)
