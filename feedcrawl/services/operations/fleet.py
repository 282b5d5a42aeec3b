"""Metrics of the whole fleet, read from Redis: every process returns the same values."""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate, product
from typing import TYPE_CHECKING, Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from feedcrawl.services.operations.consumer import RESULTS
from feedcrawl.store.redis import keys
from feedcrawl.store.redis.errors import StoreUnavailable
from feedcrawl.store.search.interface import IndexUnavailable
from feedcrawl.telemetry import names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

    from prometheus_client.core import Metric as Family

    from feedcrawl.domain.frontier.statistics import FrontierStatistics, Lateness
    from feedcrawl.store.frontier.dead_letters import DeadLetters
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.operations.streams import Events
    from feedcrawl.store.redis.client import Client
    from feedcrawl.store.search.interface import SearchIndex
    from feedcrawl.store.subscriptions.registry import Registry
    from feedcrawl.telemetry.names import Metric

    Values = Iterable[tuple[Sequence[str], float]]


SEARCH: Final = "search"
"""The consumer group of the search index; the embedded index has none, and is listed by this name."""


@dataclass(frozen=True, slots=True)
class FleetStores:
    """The stores that a scrape reads. `index`: None if there is no search index."""

    client: Client
    frontier: Frontier
    registry: Registry
    dead_letters: DeadLetters
    events: Events
    now: Callable[[], datetime]
    queue: str
    waits_sec: Sequence[float]
    index: SearchIndex | None


class Fleet(Collector):
    """Collects metrics at each scrape, in some ten round trips; while the server is away, `store_up` is 0 and the
    only metric.
    """

    def __init__(self, stores: FleetStores) -> None:
        self._stores = stores

    def describe(self) -> Iterable[Family]:
        """Empty: a registry must not call the server to learn the names."""
        return ()

    def collect(self) -> Iterator[Family]:
        """All metrics of `names.FLEET`."""
        try:
            families = list(self._read())
        except StoreUnavailable:
            families = []
        yield _gauge(names.STORE_UP, [((), float(bool(families)))])
        yield from families

    def _read(self) -> Iterator[Family]:
        stores = self._stores
        yield _gauge(names.FEEDS, [((), stores.registry.count())])
        yield _gauge(names.INPUT_QUEUE, [((), stores.client.llen(stores.queue))])
        yield _gauge(names.DEAD_LETTERS, [((), stores.dead_letters.count())])
        yield from _frontier(stores.frontier.statistics())
        yield from _circuits(stores.frontier, stores.waits_sec)
        yield from _events(stores)


def _frontier(statistics: FrontierStatistics) -> Iterator[Family]:
    tasks = [(name.split(":"), number) for name, number in statistics.by("status", "kind", "origin").items()]
    ended = [(name.split(":"), number) for name, number in statistics.by("status", "kind").items()]
    yield _gauge(names.PENDING, [(parts[1:], number) for parts, number in tasks if parts[0] == "pending"])
    yield _counter(names.ENDED, [(parts, number) for parts, number in ended if parts[0] != "pending"])
    yield _gauge(names.LEASED, [((), statistics.leased)])
    yield _gauge(names.PLACES, statistics.places.items())
    yield _gauge(names.FEEDS_DUE, [((), statistics.due)])
    late = HistogramMetricFamily(names.LATENESS.full_name, names.LATENESS.meaning, labels=names.LATENESS.labels)
    for lane, its in statistics.lateness.items():
        late.add_metric([lane], list(_cumulative(its)), its.total_sec)
    yield late


def _cumulative(late: Lateness) -> Iterator[tuple[str, float]]:
    bounds = [bound for bound, _ in late.buckets]
    totals = list(accumulate(number for _, number in late.buckets))
    yield from ((str(bound), total) for bound, total in zip(bounds, totals, strict=True) if bound != float("inf"))
    yield "+Inf", late.count


def _circuits(frontier: Frontier, waits_sec: Sequence[float]) -> Iterator[Family]:
    """`waits_sec`: the waits before each probe of an open circuit."""
    hosts = frontier.circuits()
    states = Counter(host.circuit for host in hosts)
    yield _gauge(names.CIRCUITS, [((state,), states[state]) for state in ("open", "half_open")])
    yield _gauge(names.FAILURES, [((), max((host.failures for host in hosts), default=0))])
    chosen = [waits_sec[min(max(host.opened, 1), len(waits_sec)) - 1] for host in hosts]
    yield _gauge(names.BACKOFF, [((), max(chosen, default=0))])


def _events(stores: FleetStores) -> Iterator[Family]:
    backlogs, now = stores.events.backlogs(), stores.now().timestamp()
    yield _gauge(names.EVENTS, [((), stores.client.xlen(keys.EVENTS))])
    yield _gauge(names.EVENTS_LAG, [((each.group,), each.waiting) for each in backlogs if each.waiting is not None])
    yield _gauge(names.EVENTS_PENDING, [((each.group,), each.unacknowledged) for each in backlogs])
    oldest = {each.group: each.oldest_at for each in backlogs}
    with contextlib.suppress(IndexUnavailable):
        if stores.index is not None:
            yield _gauge(names.DOCUMENTS, [((), stores.index.count())])
            if (cursor := stores.index.cursor()) is not None:
                oldest[SEARCH] = stores.events.behind_since(cursor)
    behind = [((group,), max(0.0, now - at) if at else 0.0) for group, at in oldest.items()]
    yield _gauge(names.EVENTS_BEHIND, behind)
    consumed = dict.fromkeys(product(oldest, RESULTS), 0) | stores.events.counts()
    yield _counter(names.EVENTS_CONSUMED, consumed.items())


def _gauge(metric: Metric, values: Values) -> GaugeMetricFamily:
    family = GaugeMetricFamily(metric.full_name, metric.meaning, labels=metric.labels)
    for labels, value in values:
        family.add_metric(labels, value)
    return family


def _counter(metric: Metric, values: Values) -> CounterMetricFamily:
    family = CounterMetricFamily(metric.full_name, metric.meaning, labels=metric.labels)
    for labels, value in values:
        family.add_metric(labels, value)
    return family
