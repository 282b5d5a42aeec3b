"""Metrics of a process in Prometheus' text format: counters from the crawl's stats, and histograms."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Histogram, ProcessCollector, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from feedcrawl import __version__
from feedcrawl.telemetry.names import BUILD, COUNTERS, HISTOGRAMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from feedcrawl.telemetry.names import Metric


class StatsCounters(Collector):
    """The counters of `names.COUNTERS`. A counter without labels starts at 0, because rates need a first value."""

    def __init__(self, stats: Callable[[], Mapping[str, float]]) -> None:
        self._stats = stats

    def collect(self) -> Iterator[CounterMetricFamily]:
        """The counters with their values. Safe in another thread: the stats are copied in one step."""
        stats = dict(self._stats())
        return (_counter(metric, stats) for metric in COUNTERS)


def _counter(metric: Metric, stats: Mapping[str, float]) -> CounterMetricFamily:
    family = CounterMetricFamily(metric.full_name, metric.meaning, labels=metric.labels)
    if not metric.labels:
        family.add_metric([], sum(stats.get(name, 0) for name in metric.stats))
        return family
    values: dict[tuple[str, ...], float] = {(known,): 0.0 for known in metric.known}
    for prefix in metric.stats:
        for name, value in stats.items():
            whole = metric.labels[-1] == "outgoing"
            parts = name.removeprefix(prefix).split("/", len(metric.labels) - 1 if whole else -1)
            if name.startswith(prefix) and len(parts) == len(metric.labels):
                values[tuple(parts)] = value
    for labels, value in values.items():
        family.add_metric(labels, value)
    return family


class Histograms:
    """The histograms of `names.HISTOGRAMS`, in one registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._by_name = {
            metric.name: Histogram(
                metric.full_name, metric.meaning, metric.labels, buckets=metric.buckets, registry=registry
            )
            for metric in HISTOGRAMS
        }
        for metric in HISTOGRAMS:
            for known in metric.known:
                self._by_name[metric.name].labels(known)

    def observe(self, metric: Metric, value: float, *labels: str) -> None:
        """Adds a value to the metric's histogram."""
        histogram = self._by_name[metric.name]
        (histogram.labels(*labels) if labels else histogram).observe(value)


def describe_process(registry: CollectorRegistry) -> None:
    """Adds to a registry which program this is (`names.BUILD`), and its memory, processor time and files
    (`process_*`).
    """
    build = GaugeMetricFamily(BUILD.full_name, BUILD.meaning, labels=BUILD.labels)
    build.add_metric((__version__, platform.python_version()), 1)
    registry.register(_Fixed(build))
    ProcessCollector(registry=registry)


class _Fixed(Collector):
    """A metric that does not change."""

    def __init__(self, family: GaugeMetricFamily) -> None:
        self._family = family

    def collect(self) -> Iterator[GaugeMetricFamily]:
        yield self._family


class Endpoint:
    """Serves `/metrics` on an address, in a thread. Raises OSError if the port is taken."""

    def __init__(self, registry: CollectorRegistry, host: str, port: int) -> None:
        self._server, self._thread = start_http_server(port, host, registry)

    def close(self) -> None:
        """Closes the port."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
