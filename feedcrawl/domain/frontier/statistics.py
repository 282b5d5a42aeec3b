"""Statistics of the frontier: tasks by kind and state, states of their hosts, lateness of tasks when taken."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from feedcrawl.domain.frontier.delays import effective_delay_ms
from feedcrawl.domain.frontier.scopes import SCOPES
from feedcrawl.domain.frontier.scopes import WHY as SCOPE_WHY
from feedcrawl.domain.frontier.tasks import POLL_KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping

Dimension = Literal["status", "kind", "origin", "source"]
DIMENSIONS: tuple[Dimension, ...] = ("status", "kind", "origin", "source")

_POLLS = frozenset(f"pending:{kind}" for kind in POLL_KINDS)
Key = tuple[str, str, str, str]
WHY: Final[dict[str | None, str]] = {
    None: "a request is allowed now",
    "pace": "the host's delay, or a Retry-After",
    "answer_awaited": "a response is being read, or the host's probe is under way",
    "circuit_open": "the whole host failed: it is tried again when the wait is over",
    **{f"{scope.name}_{code}": why.format(words=scope.words) for scope in SCOPES for code, why in SCOPE_WHY.items()},
}
"""The values of `HostStatistics.waits_for` in words."""
K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Lateness:
    """A histogram of how long the tasks of a lane had been due when they were taken.

    `buckets` are pairs of an upper bound in seconds and the number of tasks between the previous bound and this bound
    (inclusive); `total_sec` is the sum of all delays.
    """

    buckets: tuple[tuple[float, int], ...] = ()
    total_sec: float = 0.0

    @property
    def count(self) -> int:
        """Number of tasks taken."""
        return sum(number for _, number in self.buckets)

    def within(self, share: float) -> float | None:
        """The upper bound in seconds of the bucket that contains this quantile (0 to 1); None if no task was taken."""
        left = share * self.count
        for bound, number in self.buckets:
            left -= number
            if left <= 0 < number:
                return bound
        return None


@dataclass(frozen=True, slots=True)
class FrontierStatistics:
    """Statistics of one shard, or of several shards added with `+`.

    `tasks` has numbers by (status, kind, origin, source): of `pending` tasks now, of ended tasks since the beginning.
    `leased` is the number of pending tasks that a worker holds. `places` has, by (lane, place), the number of hosts
    that are `ready`, `waiting` for their turn or `blocked` by a response still being read (all hosts that wait for one
    scope count once), and the number of tasks that are `delayed`.
    """

    tasks: Mapping[Key, int] = field(default_factory=dict)
    leased: int = 0
    places: Mapping[tuple[str, str], int] = field(default_factory=dict)
    lateness: Mapping[str, Lateness] = field(default_factory=dict)

    @property
    def due(self) -> int:
        """Number of polls that are due, leased polls included."""
        polls = sum(number for name, number in self.by("status", "kind").items() if name in _POLLS)
        return max(0, polls - self.places.get(("poll", "delayed"), 0))

    @property
    def waiting(self) -> int:
        """Number of pending tasks that are due now and not leased: work that waits for a worker or for its host."""
        delayed = sum(number for (_, place), number in self.places.items() if place == "delayed")
        return max(0, self.by("status").get("pending", 0) - delayed - self.leased)

    def by(self, *dimensions: Dimension) -> dict[str, int]:
        """Number of tasks grouped by the given dimensions, whose values form colon-separated keys.

        For example, `by("status", "kind")` has the key `pending:feed`.
        """
        chosen = [DIMENSIONS.index(name) for name in dimensions]
        found: Counter[str] = Counter()
        for key, number in self.tasks.items():
            found[":".join(key[each] for each in chosen)] += number
        return dict(found)

    def __add__(self, other: FrontierStatistics) -> FrontierStatistics:
        lanes = {**self.lateness, **other.lateness}
        return FrontierStatistics(
            _sum(self.tasks, other.tasks),
            self.leased + other.leased,
            _sum(self.places, other.places),
            {lane: _added(self.lateness.get(lane), other.lateness.get(lane)) for lane in lanes},
        )


@dataclass(frozen=True, slots=True)
class HostStatistics:
    """The state of a host, or of a wider scope such as its registered domain, in the frontier; times in seconds.

    `delay_sec` is the delay in force, `doublings` how many times 429 doubled the configured delay, `wait_sec` the time
    until the next request is allowed, `opened` how many times in a row the circuit has opened. `tasks` is the number of
    pending tasks (None for a scope, whose hosts have the numbers). `scopes` has the host's scopes by name of
    the kind, the narrowest first.
    """

    name: str
    tasks: int | None
    busy: int
    concurrency: int
    delay_sec: float
    doublings: int
    circuit: str
    failures: int
    wait_sec: float
    opened: int = 0
    scopes: Mapping[str, HostStatistics] = field(default_factory=dict)

    @property
    def waits_for(self) -> str | None:
        """The reason code for which no request is allowed now; None if one is allowed."""
        reasons = {
            "circuit_open": self.circuit == "open" and self.wait_sec > 0,
            "answer_awaited": self.busy >= (self.concurrency if self.circuit == "closed" else 1),
            "pace": self.wait_sec > 0,
        }
        own = next((reason for reason, holds in reasons.items() if holds), None)
        wider = (f"{name}_{its.waits_for}" for name, its in self.scopes.items() if its.waits_for)
        return own or next(wider, None)


def statistics_from(
    counts: Mapping[str, str],
    late: Mapping[str, str] | None = None,
    leased: int = 0,
    places: Mapping[tuple[str, str], int] | None = None,
) -> FrontierStatistics:
    """Statistics from the scripts' hashes, with fields `status:kind:origin:source`, and `lane:bound`, `lane:sum`."""
    tasks: Counter[Key] = Counter()
    for name, number in counts.items():
        status, kind, origin, source = (*name.split(":", 3), "", "")[:4]
        tasks[status, kind, origin, source] += int(number)
    lanes = {name.partition(":")[0] for name in late or {}}
    return FrontierStatistics(
        dict(tasks), leased, dict(places or {}), {lane: _lateness(lane, late or {}) for lane in lanes}
    )


def host_statistics(
    name: str, record: Mapping[str, str | float], now_ms: int, *, delay_sec: float, concurrency: int
) -> HostStatistics:
    """The state of a host or a scope from its record, at `now_ms` of the frontier's clock.

    `delay_sec` and `concurrency` are the policy's values, used where the record has none.
    """
    delay_ms, doublings = round(float(record.get("delay", 1000 * delay_sec))), int(record.get("doublings", 0))
    return HostStatistics(
        name=name,
        tasks=int(record.get("tasks", 0)),
        busy=int(record.get("busy", 0)),
        concurrency=int(record.get("concurrency", concurrency)),
        delay_sec=effective_delay_ms(delay_ms, doublings) / 1000,
        doublings=doublings,
        circuit=str(record.get("state", "closed")),
        failures=int(record.get("failures", 0)),
        opened=int(record.get("opened", 0)),
        wait_sec=max(0.0, float(record.get("next_at", 0)) - now_ms) / 1000,
    )


def _lateness(lane: str, late: Mapping[str, str]) -> Lateness:
    found = {name.partition(":")[2]: int(number) for name, number in late.items() if name.startswith(f"{lane}:")}
    total = found.pop("sum", 0)
    return Lateness(tuple(sorted((float(bound), number) for bound, number in found.items())), total / 1000)


def _sum(left: Mapping[K, int], right: Mapping[K, int]) -> dict[K, int]:
    return {key: left.get(key, 0) + right.get(key, 0) for key in {**left, **right}}


def _added(left: Lateness | None, right: Lateness | None) -> Lateness:
    sides = [each for each in (left, right) if each is not None]
    buckets: Counter[float] = Counter()
    for each in sides:
        buckets.update(dict(each.buckets))
    return Lateness(tuple(sorted(buckets.items())), sum(each.total_sec for each in sides))
